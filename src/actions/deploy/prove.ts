import { messageOf } from '../../base/errors.ts'
import { interruptRevision } from '../../clients/control-plane/revisions.ts'
import type { Revision } from '../../clients/control-plane/wire.ts'
import { confirm } from '../../deploy/confirm.ts'
import { DeployError } from '../../deploy/errors.ts'
import { deploymentUrl } from '../../deploy/links.ts'
import { BuildLogStream, readLogTail } from '../../deploy/logs.ts'
import { madeFromOther } from '../../deploy/made-from.ts'
import { providersError, registerProviders } from '../../deploy/oauth.ts'
import { statusWord } from '../../deploy/statuses.ts'
import type { Timeline } from '../../deploy/timeline.ts'
import { type Live, waitForRevision } from '../../deploy/wait.ts'
import type { Report } from '../../verify/types.ts'
import type { Accepted, DeployRun } from './run.ts'

/** At least this long is given to a server that is deployed and not yet reachable (design, section 4). */
const REACHABLE_MS = 180_000

/** For reading once more, after the checks, which revision serves. */
const CONFIRM_MS = 20_000

/**
 * Waits until our revision is the one that serves.
 * @param timeline where the statuses go: the record's, or one of its own for a rollback
 * @param deadline milliseconds since 1970
 */
export async function waitUntilLive(
  run: DeployRun,
  accepted: Accepted,
  timeline: Timeline,
  deadline: number,
): Promise<Live> {
  const { api, inputs, record, runner } = run
  const ours = timeline === record.timeline
  const build =
    accepted.ourBuild || runner.env['RUNNER_DEBUG'] === '1'
      ? new BuildLogStream(api, accepted.deploymentId, runner.log)
      : undefined
  return runner.log.group(`Wait for revision ${accepted.revisionId}`, () =>
    waitForRevision({
      api,
      deploymentId: accepted.deploymentId,
      revisionId: accepted.revisionId,
      previousActive: accepted.previousActive,
      latestBefore: accepted.latestBefore,
      tellsActive: accepted.tellsActive,
      deadline,
      minMs: inputs.pollMinMs,
      maxMs: Math.max(inputs.pollMinMs, inputs.pollMaxMs),
      log: runner.log,
      timeline,
      onPoll: async (revision: Revision) => {
        if (ours) record.poll(revision, statusWord(revision.status))
        await build?.follow(revision)
      },
    }),
  )
}

/** After a wait that did not end live: the log that tells why, and the interruption where it was asked for. */
export async function explainFailure(run: DeployRun, accepted: Accepted, error: unknown): Promise<void> {
  const { api, inputs, record, runner } = run
  if (!(error instanceof DeployError)) return
  if (error.outcome !== 'failed' && error.outcome !== 'timed-out') return
  const { deploymentId, revisionId } = accepted
  record.logTail = await readLogTail(api, deploymentId, revisionId, record.timeline.last, runner.log)
  if (record.logTail !== undefined) runner.log.remote(record.logTail.title, record.logTail.text)
  if (error.outcome !== 'timed-out' || !inputs.interruptOnCancel) return
  try {
    await interruptRevision(api, deploymentId, revisionId, { deadline: runner.clock.now() + 20_000 })
    runner.log.info(`Revision ${revisionId} was interrupted`)
  } catch (failure) {
    if (runner.signal.aborted) throw failure
    runner.log.warning(`Revision ${revisionId} could not be interrupted: ${messageOf(failure)}`)
  }
}

/**
 * The commit that was built is the event's: the service builds the branch's head, whatever it is by then.
 * @throws DeployError `superseded` where `repo-ref` was not given
 */
export function checkCommit(run: DeployRun, accepted: Accepted, revision: Revision): void {
  const built = revision.source_revision_config?.repo_commit_sha
  const { expectedCommit } = accepted
  if (expectedCommit === undefined || typeof built !== 'string' || built === '') return
  // A service may show it short.
  const short = /^[0-9a-f]{7,40}$/i.test(built) ? built.toLowerCase() : undefined
  if (short !== undefined && expectedCommit.sha.toLowerCase().startsWith(short)) return
  const shown = /^[0-9a-f]{7,64}$/i.test(built) ? built : 'another one'
  const what = `The service built commit ${shown}, not ${expectedCommit.sha} of this run`
  if (!expectedCommit.strict) {
    run.runner.log.warning(`${what}; that is what \`repo-ref\` points to.`)
    return
  }
  throw new DeployError('superseded', what, {
    hint: 'The branch moved on while this run waited, so the newer commit is live, and its own run will say so. Put a `concurrency` group on the job.',
  })
}

/**
 * The revision was made from what this run sent. When two runs change a deployment at the same moment, the
 * answer of one can name the revision of the other.
 * @throws DeployError `superseded`
 */
export function checkMade({ from, revisionId }: Accepted, revision: Revision): void {
  const difference =
    from === undefined ? undefined : madeFromOther(from, revision.source_revision_config ?? {})
  if (difference === undefined) return
  throw new DeployError(
    'superseded',
    `Revision ${revisionId} serves, but it was made from another ${difference} than this run sent`,
    {
      hint: 'Another run changed the deployment at the same moment, and its revision is live. Put a `concurrency` group on the job, and run it again.',
    },
  )
}

/** After `DEPLOYED`: providers first, then the checks; both are tried, and the worse one is thrown. */
export async function followUp(
  run: DeployRun,
  accepted: Accepted,
  live: Live,
  deadline: number,
): Promise<void> {
  const { record } = run
  const url = deploymentUrl(live.deployment, run.inputs.allowHttp)
  record.url(url)
  checkMade(accepted, live.revision)
  checkCommit(run, accepted, live.revision)
  const providers = await register(run)
  const verification = await verifyLive(run, url, accepted.revisionId, deadline)
  if (verification !== undefined) throw verification
  if (providers !== undefined) throw providers
  if (run.inputs.verify !== undefined || run.inputs.providers.length > 0)
    await confirmAgain(run, accepted, live)
}

/**
 * Checks take minutes, in which somebody else's revision can take over: then it was that one that was checked.
 * @throws DeployError `superseded`
 */
async function confirmAgain(run: DeployRun, accepted: Accepted, live: Live): Promise<void> {
  const { api, runner } = run
  const { revisionId } = accepted
  try {
    const options = { deadline: runner.clock.now() + CONFIRM_MS, retries: 3 }
    const now = await confirm({ api, ...accepted }, live.revision, options)
    if (now.verdict === 'live') return
    const instead =
      now.activeRevisionId === undefined ? 'none serves now' : `revision ${now.activeRevisionId} serves now`
    throw new DeployError('superseded', `Revision ${revisionId} was live and was checked, but ${instead}`, {
      hint: 'Somebody changed the deployment during the checks. Put a `concurrency` group on the job.',
    })
  } catch (error) {
    if (error instanceof DeployError || runner.signal.aborted) throw error
    // It was confirmed before the checks: an outage after them says nothing about the revision.
    runner.log.warning(
      `Whether revision ${revisionId} still serves after the checks could not be read: ${messageOf(error)}`,
    )
  }
}

async function register(run: DeployRun): Promise<DeployError | undefined> {
  const { api, inputs, record, runner } = run
  if (inputs.providers.length === 0) return undefined
  const result = await runner.log.group('Register OAuth providers', () =>
    registerProviders(api, inputs.providers, runner.log),
  )
  record.registered(result.ids)
  return providersError(result)
}

async function verifyLive(
  run: DeployRun,
  url: URL | undefined,
  revisionId: string,
  deadline: number,
): Promise<DeployError | undefined> {
  const { inputs, record, runner } = run
  if (inputs.verify === undefined) {
    if (url === undefined)
      runner.log.warning('The service gives no URL for this deployment, so deployment-url is empty.')
    return undefined
  }
  if (url === undefined) {
    return new DeployError('verification-failed', 'The deployment has no URL, so nothing could be verified', {
      hint: 'Look at the deployment in LangSmith; set `verify: off` where the service gives no URL.',
    })
  }
  const { report, json } = await runChecks(run, url, revisionId, deadline)
  record.verification(report, json)
  if (report.failed === 0) return undefined
  const failed = report.checks.filter((check) => check.verdict === 'failed')
  const first = failed[0]
  return new DeployError(
    'verification-failed',
    `The revision is live, but ${report.failed} of ${report.passed + report.failed} checks failed: ${failed.map((check) => `${check.name} (${check.reason})`).join('; ')}`,
    {
      hint:
        first?.hint ??
        'The agent answers otherwise than the checks expect: look at what it said, in the log.',
    },
  )
}

/** Runs the checks of `verify` against a live server and tells each in the log. */
export async function runChecks(
  run: DeployRun,
  url: URL,
  revisionId: string,
  deadline: number,
): Promise<{ report: Report; json: string }> {
  const { api, inputs, runner } = run
  const plan = inputs.verify ?? { checks: [], ready: true as const }
  // Loaded now: a deploy without checks does not need the clients of the agent server.
  const [{ reportJson, verify }, { logFindings }] = await Promise.all([
    import('../../verify/verify.ts'),
    import('../findings-log.ts'),
  ])
  const keys = {
    'x-api-key': inputs.apiKey,
    ...(inputs.workspaceId === undefined ? {} : { 'x-tenant-id': inputs.workspaceId }),
  }
  const report = await runner.log.group('Verify the live agent', async () => {
    const found = await verify(
      {
        url,
        headers: { ...keys, ...inputs.agentHeaders },
        sandbox: { url: inputs.sandboxUrl, headers: keys },
        allowHttp: inputs.allowHttp,
        expectedRevisionId: revisionId,
      },
      plan,
      {
        timeoutMs: plan.timeoutMs ?? 60_000,
        reachableMs: Math.max(REACHABLE_MS, deadline - runner.clock.now()),
        concurrency: plan.concurrency ?? 4,
      },
      {
        transport: api.transport,
        clock: runner.clock,
        log: runner.log,
        signal: runner.signal,
        newId: () => crypto.randomUUID(),
        mask: (secret) => runner.secrets.mask(secret),
      },
    )
    logFindings(runner.log, found)
    return found
  })
  return { report, json: reportJson(report) }
}
