import { AgentDeployError } from '../../base/errors.ts'
import type { CallOptions } from '../../clients/control-plane/api.ts'
import { getRevision } from '../../clients/control-plane/revisions.ts'
import type { Deployment } from '../../clients/control-plane/wire.ts'
import { APPLY_MS, type ApplyTools, applyOptions, create, firstRevision, patch } from '../../deploy/apply.ts'
import { discover } from '../../deploy/discovery.ts'
import { findDeployment } from '../../deploy/find.ts'
import { forkFaults } from '../../deploy/forks.ts'
import { dashboardUrl, deploymentUrl } from '../../deploy/links.ts'
import { planProviders } from '../../deploy/oauth.ts'
import { describePlan, makePlan, type Plan } from '../../deploy/plan/index.ts'
import { refuse, resolveSource } from '../../deploy/plan/source.ts'
import { redeploy } from '../../deploy/rollback.ts'
import { mergeSecrets } from '../../deploy/secrets/index.ts'
import { isMapping, type Mapping, type SecretEntry } from '../../deploy/settings.ts'
import { HttpError } from '../../http/errors.ts'
import { type Artifact, prepareArtifact } from './artifact.ts'
import { forkFacts } from './git-facts.ts'
import { type Accepted, type DeployRun, NO_GIT } from './run.ts'

/** Events that have this repository's secrets though the code can be a stranger's. */
const PRIVILEGED = ['pull_request_target', 'workflow_run', 'issue_comment']

/**
 * Looks the deployment up, plans, and sends: nothing changes before the plan stands.
 * @returns what to wait for; undefined after a dry run
 */
export async function send(run: DeployRun): Promise<Accepted | undefined> {
  const { api, inputs, record, runner } = run
  const { settings } = inputs
  const tools: ApplyTools = { api, log: runner.log, deadline: runner.clock.now() + APPLY_MS }
  const options = applyOptions(tools)
  const found = await findDeployment(api, settings.target, options)
  if (found !== undefined) remember(run, found)
  if (settings.revisionId !== undefined) return sendRedeploy(run, found, settings.revisionId, options)

  await refuseForks(run, found)
  const plan = await planFor(run, found, options)
  const secrets = found === undefined ? givenSecrets(run) : mergedSecrets(run, found)
  record.planned(describePlan(plan, secrets))
  for (const warning of plan.warnings) runner.log.warning(warning)
  if (inputs.dryRun) {
    await prepareArtifact(run, plan, { check: true })
    return dryRun(run, describePlan(plan, secrets))
  }

  const artifact = await prepareArtifact(run, plan)
  try {
    return plan.action === 'create'
      ? await sendCreate(run, plan, artifact, tools)
      : await sendUpdate(run, plan, secrets, artifact, tools)
  } finally {
    await artifact.remove()
  }
}

/** What is known of the deployment before our write: outputs, and its secret values for redaction. */
function remember({ api, inputs, record, runner }: DeployRun, deployment: Deployment): void {
  for (const { value } of deployment.secrets ?? []) if (typeof value === 'string') runner.secrets.hide(value)
  record.deployment(deployment, dashboardUrl(api, deployment))
  record.url(deploymentUrl(deployment, inputs.allowHttp))
  record.previous(previousOf(deployment))
  record.created(false)
}

function revisionConfigOf(body: Mapping): Mapping {
  const config = body['source_revision_config']
  return isMapping(config) ? config : {}
}

/** Titles of the groups in which an artifact goes to the service; other requests are a line each. */
const DELIVERIES = { archive: 'Upload the source', image: 'Push the image' } as const

const NOTHING_BEFORE = {
  tellsActive: false,
  previousActive: undefined,
  latestBefore: undefined,
  previousRevision: undefined,
}

/** What was there before our write. */
function factsBefore(
  deployment: Deployment,
): Pick<Accepted, 'tellsActive' | 'previousActive' | 'latestBefore' | 'previousRevision'> {
  return {
    tellsActive: deployment.active_revision_id != null,
    previousActive: deployment.active_revision_id ?? undefined,
    latestBefore: deployment.latest_revision_id ?? undefined,
    previousRevision: previousOf(deployment),
  }
}

function previousOf(deployment: Deployment): string | undefined {
  return deployment.active_revision_id ?? deployment.latest_revision_id ?? undefined
}

async function refuseForks(run: DeployRun, found: Deployment | undefined): Promise<void> {
  const { runner, inputs } = run
  if (!PRIVILEGED.includes(runner.env['GITHUB_EVENT_NAME'] ?? '')) return
  const source = resolveSource(inputs.settings, found)
  const choice = { source, repoRefGiven: inputs.settings.repoRef !== undefined, allowFork: inputs.allowFork }
  refuse(forkFaults(forkFacts(await runner.context()), choice))
}

async function planFor(run: DeployRun, found: Deployment | undefined, options: CallOptions): Promise<Plan> {
  const { api, inputs } = run
  const { settings } = inputs
  const git = resolveSource(settings, found) === 'github' ? await run.git() : NO_GIT
  const discovered = found === undefined ? await discover(api, settings, git.repositoryUrl, options) : {}
  return makePlan({ settings, git, discovered, deployment: found })
}

function givenSecrets({ inputs: { settings } }: DeployRun): readonly SecretEntry[] | undefined {
  if (settings.secrets === undefined && settings.envVars === undefined) return undefined
  return [...(settings.secrets ?? []), ...(settings.envVars ?? [])]
}

/** The whole set that an update sends, because the service replaces the set by it; undefined: left alone. */
function mergedSecrets(run: DeployRun, found: Deployment): readonly SecretEntry[] | undefined {
  const given = givenSecrets(run)
  if (given === undefined) return undefined
  const { secretsMode } = run.inputs.settings
  if (secretsMode === 'merge' && found.secrets == null) {
    throw new AgentDeployError(
      'The service does not show which secrets the deployment has, so a merge could wipe them',
      {
        hint: 'Give the whole set with `secrets-mode: replace`.',
      },
    )
  }
  return mergeSecrets(found.secrets ?? [], given, secretsMode).entries
}

async function dryRun(run: DeployRun, plan: Record<string, unknown>): Promise<undefined> {
  const { api, inputs, record, runner } = run
  const providers = await planProviders(api, inputs.providers)
  record.planned(providers.length === 0 ? plan : { ...plan, oauth_providers: providers })
  runner.log.info('Dry run: nothing was changed. This would be sent:')
  runner.log.info(JSON.stringify(record.plan, null, 2))
  return undefined
}

async function sendCreate(
  run: DeployRun,
  plan: Extract<Plan, { action: 'create' }>,
  artifact: Artifact,
  tools: ApplyTools,
): Promise<Accepted> {
  const { api, inputs, record, runner } = run
  runner.log.info(`Creating the deployment from ${plan.source}`)
  const { deployment, created } = await create(plan.body, inputs.settings.target, tools)
  if (!created) return sendInstead(run, deployment, artifact, tools)
  record.deployment(deployment, dashboardUrl(api, deployment))
  record.created(true)
  runner.log.info(`Deployment ${deployment.id} was created`)
  const { revisionId, from } =
    plan.artifact === 'none'
      ? { revisionId: await firstRevision(deployment, tools, updateAfter(plan)), from: plan.revisionConfig }
      : await runner.log.group(DELIVERIES[plan.artifact], () =>
          artifact.deliver(deployment, {
            created: true,
            revisionConfig: plan.revisionConfig,
            body: { revision_source: plan.source },
          }),
        )
  record.revision(revisionId)
  return {
    deploymentId: deployment.id,
    revisionId,
    ...NOTHING_BEFORE,
    from,
    expectedCommit: plan.expectedCommit,
    ourBuild: plan.artifact === 'archive',
  }
}

/**
 * The official clients create `internal_docker` without an image and patch it in (peers-recorded.md), so a service
 * may make no revision of an image that comes with the create.
 */
function updateAfter({ source, revisionConfig }: Extract<Plan, { action: 'create' }>): Mapping | undefined {
  return source === 'internal_docker'
    ? { revision_source: source, source_revision_config: revisionConfig }
    : undefined
}

/** 409: somebody made a deployment of this name since the look-up. It is updated, as the next run would do. */
async function sendInstead(
  run: DeployRun,
  found: Deployment,
  artifact: Artifact,
  tools: ApplyTools,
): Promise<Accepted> {
  const { record, runner } = run
  runner.log.info(`The deployment ${found.id} was made by somebody else meanwhile; updating it`)
  remember(run, found)
  const plan = await planFor(run, found, applyOptions(tools))
  if (plan.action !== 'update') throw new Error('a plan for a deployment that is there is an update')
  const secrets = mergedSecrets(run, found)
  record.planned(describePlan(plan, secrets))
  return sendUpdate(run, plan, secrets, artifact, tools)
}

async function sendUpdate(
  run: DeployRun,
  plan: Extract<Plan, { action: 'update' }>,
  secrets: readonly SecretEntry[] | undefined,
  artifact: Artifact,
  tools: ApplyTools,
): Promise<Accepted> {
  const { record, runner } = run
  const { deployment } = plan
  const body = secrets === undefined ? plan.body : { ...plan.body, secrets }
  runner.log.info(`Updating deployment ${deployment.id} from ${plan.source}`)
  const { revisionId, from } =
    plan.artifact === 'none'
      ? { revisionId: (await patch(deployment, body, tools)).revisionId, from: revisionConfigOf(body) }
      : await runner.log.group(DELIVERIES[plan.artifact], () =>
          artifact.deliver(deployment, { created: false, revisionConfig: {}, body }),
        )
  record.revision(revisionId)
  return {
    deploymentId: deployment.id,
    revisionId,
    ...factsBefore(deployment),
    from,
    expectedCommit: plan.expectedCommit,
    ourBuild: plan.artifact === 'archive',
  }
}

/** `revision-id`: the revision as it is, deployed again. */
async function sendRedeploy(
  run: DeployRun,
  found: Deployment | undefined,
  wanted: string,
  options: CallOptions,
): Promise<Accepted | undefined> {
  const { api, inputs, record, runner } = run
  if (found === undefined) {
    refuse([
      { input: 'revision-id', message: 'needs a deployment that is there, and no deployment has this name' },
    ])
    return undefined
  }
  await refuseUnknownRevision(run, found, wanted, options)
  const plan = {
    action: 'redeploy',
    method: 'POST',
    path: `/v2/deployments/${found.id}/revisions/${wanted}/redeploy`,
  }
  record.planned(plan)
  if (inputs.dryRun) return dryRun(run, plan)
  runner.log.info(`Redeploying revision ${wanted}`)
  const revisionId = await redeploy(api, found, wanted, options)
  record.revision(revisionId)
  return {
    deploymentId: found.id,
    revisionId,
    ...factsBefore(found),
    from: undefined,
    expectedCommit: undefined,
    ourBuild: false,
  }
}

async function refuseUnknownRevision(
  { api }: DeployRun,
  deployment: Deployment,
  wanted: string,
  options: CallOptions,
): Promise<void> {
  try {
    await getRevision(api, deployment.id, wanted, options)
  } catch (error) {
    if (!(error instanceof HttpError) || (error.status !== 404 && error.status !== 422)) throw error
    const message = `is ${JSON.stringify(wanted)}, and the deployment ${deployment.id} has no such revision. Take an id from the output previous-revision-id of an earlier run, or from the deployment's page in LangSmith.`
    refuse([{ input: 'revision-id', message }])
  }
}
