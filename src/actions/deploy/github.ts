import type { GithubDeployment } from '../../runner/github/deployments.ts'
import type { DeployRun } from './run.ts'

const open = new WeakMap<DeployRun, GithubDeployment>()

/** The name that GitHub Deployments and comments are kept apart by. */
function nameOf({ inputs, record }: DeployRun): string {
  const { name, agent, deploymentId } = inputs.settings.target
  return name ?? record.name ?? agent?.agentId ?? deploymentId ?? 'agent'
}

/** `environment`: a GitHub Deployment, `in_progress`. A dry run writes nothing. */
export async function openGithub(run: DeployRun): Promise<void> {
  const { environment, githubToken, dryRun } = run.inputs
  if (environment === undefined || dryRun) return
  const { openDeployment } = await import('../../runner/github/deployments.ts')
  const deployment = await openDeployment(run.runner, { token: githubToken, environment, name: nameOf(run) })
  if (deployment !== undefined) open.set(run, deployment)
}

/** The last status and the comment, after the outcome is known. Best effort: never throws. */
export async function closeGithub(run: DeployRun): Promise<void> {
  if (run.inputs.dryRun) return
  await Promise.all([closeDeployment(run), writeComment(run)])
}

async function closeDeployment(run: DeployRun): Promise<void> {
  const deployment = open.get(run)
  if (deployment === undefined) return
  const { stateOf } = await import('../../runner/github/deployments.ts')
  const outcome = run.record.outcome ?? 'error'
  const state = stateOf(outcome)
  if (state === 'in_progress') return deployment.leaveOpen()
  await deployment.setStatus(state, {
    description: DESCRIPTIONS[outcome] ?? `The deploy ended ${outcome}`,
    ...(run.record.deploymentUrl === undefined ? {} : { environmentUrl: run.record.deploymentUrl.href }),
  })
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  deployed: 'The revision of this run is live',
  'rolled-back': 'The deploy failed, and the revision before serves again',
}

async function writeComment(run: DeployRun): Promise<void> {
  const { inputs, record, runner } = run
  if (!inputs.comment) return
  const [{ upsertComment }, { renderDeployComment }, { runUrl }] = await Promise.all([
    import('../../runner/github/comments.ts'),
    import('../../runner/summary/comment.ts'),
    runner.context(),
  ])
  const markdown = renderDeployComment(record.summary(), { runUrl, nowMs: runner.clock.now() })
  await upsertComment(runner, { token: inputs.githubToken, name: nameOf(run), markdown })
}
