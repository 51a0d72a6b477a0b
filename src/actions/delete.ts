import { type ControlPlane, controlPlaneBase } from '../clients/control-plane/api.ts'
import { deleteOnce, findDoomed, waitUntilGone } from '../deploy/remove.ts'
import type { Target } from '../deploy/settings.ts'
import type { InputReader } from '../runner/inputs.ts'
import { code } from '../runner/markdown.ts'
import type { Story } from '../runner/run-action.ts'
import type { Runner } from '../runner/runner.ts'
import { checkInputs, readCredentials } from './api-key.ts'

/** Finding and deleting together have so long, in milliseconds (design, section 4, "Apply"). */
const APPLY_MS = 2 * 60_000

interface DeleteInputs {
  readonly api: ControlPlane
  readonly target: Target
  readonly withTracingProject: boolean
  readonly wait: boolean
  readonly timeoutMs: number
  readonly environment: string | undefined
  readonly comment: boolean
  readonly githubToken: string
}

/** `delete/`: deletes a deployment and waits until it is gone. None there is no error: it can be run again. */
export function deleteStory(): Story {
  return { main, failed }
}

async function main(runner: Runner): Promise<void> {
  const inputs = await readInputs(runner)
  const { api, target, timeoutMs } = inputs
  const { clock, log, outputs, signal } = runner
  const deadline = clock.now() + timeoutMs
  const applyBy = clock.now() + Math.min(APPLY_MS, timeoutMs)
  const found = await findDoomed(api, target, applyBy)
  if (found === undefined) {
    outputs.set('deleted', false)
    log.info(`There is no deployment ${describe(target)}: nothing to delete`)
  } else {
    outputs.set('deployment-id', found.id)
    if (found.going) log.info(`Deployment ${found.id} is being deleted already`)
    else await deleteOnce(api, found.id, inputs.withTracingProject, applyBy)
    outputs.set('deleted', true)
    if (inputs.wait) await waitUntilGone(api, found.id, { deadline, timeoutMs }, { clock, log, signal })
    log.info(
      `Deployment ${found.id} ${inputs.wait ? 'is gone' : 'is being deleted; its end was not waited for'}`,
    )
  }
  const name = found?.name ?? target.name ?? target.agent?.agentId ?? target.deploymentId ?? ''
  runner.summary.append(summaryOf(found?.id, name, inputs.wait))
  await tellGithub(runner, inputs, name)
}

async function failed(runner: Runner): Promise<void> {
  const id = runner.outputs.get('deployment-id')
  const what = id === undefined || id === '' ? 'The deployment' : `The deployment ${code(id)}`
  const taken = runner.outputs.get('deleted') === 'true'
  runner.summary.append(
    `### ❌ ${what} ${taken ? 'is being deleted, and was not seen to be gone' : 'was not deleted'}\n`,
  )
}

async function readInputs(runner: Runner): Promise<DeleteInputs> {
  const { inputs, secrets } = runner
  const { apiKey, workspaceId } = readCredentials(runner)
  const githubToken = inputs.text('github-token') ?? ''
  if (githubToken !== '') secrets.mask(githubToken, 'github-token')
  const allowHttp = inputs.boolean('allow-http', false)
  const url = inputs.url('control-plane-url', 'https://api.host.langchain.com', allowHttp)
  const read = {
    target: readTarget(inputs),
    withTracingProject: inputs.boolean('delete-tracing-project', false),
    wait: inputs.boolean('wait', true),
    timeoutMs: inputs.minutes('timeout-minutes', 10),
    environment: inputs.text('environment'),
    comment: inputs.boolean('comment', false),
    githubToken,
  }
  await checkInputs(runner)
  const baseUrl = controlPlaneBase(url as URL)
  return { ...read, api: { transport: runner.transport, baseUrl, apiKey, workspaceId } }
}

/** Which deployment: `name`, `deployment-id` (a name beside it must agree), or agent and environment. */
function readTarget(inputs: InputReader): Target {
  const name = inputs.text('name')
  const deploymentId = inputs.text('deployment-id')
  const agentId = inputs.text('agent-id')
  const environment = inputs.oneOf('agent-environment', ['development', 'staging', 'production'])
  if (deploymentId !== undefined && !/^[A-Za-z0-9][A-Za-z0-9._:-]*$/.test(deploymentId)) {
    inputs.fault(
      'deployment-id',
      `is ${JSON.stringify(deploymentId)}, expected an id such as 3f2b8c1e-6d1f-4a53-9c0e-0f5f1c3f8a11`,
    )
  }
  if (agentId !== undefined && inputs.text('agent-environment') === undefined) {
    inputs.fault('agent-environment', 'is required with agent-id: development, staging or production')
  }
  if (agentId === undefined && environment !== undefined) {
    inputs.fault('agent-id', 'is required with agent-environment')
  }
  if (agentId !== undefined && (name !== undefined || deploymentId !== undefined)) {
    const other = name !== undefined ? 'name' : 'deployment-id'
    inputs.fault(other, 'cannot stand beside agent-id: expected one way to say which deployment')
  }
  if (
    name === undefined &&
    deploymentId === undefined &&
    agentId === undefined &&
    environment === undefined
  ) {
    inputs.fault('name', 'is required: it says which deployment to delete (or give deployment-id)')
  }
  const agent = agentId === undefined || environment === undefined ? undefined : { agentId, environment }
  return { name, deploymentId, agent }
}

/** GitHub Deployments become `inactive`, the comment says that the preview is gone. Best effort. */
async function tellGithub(runner: Runner, inputs: DeleteInputs, name: string): Promise<void> {
  const { environment, githubToken: token } = inputs
  if (environment !== undefined) {
    const { deactivateDeployments } = await import('../runner/github/retire.ts')
    const changed = await deactivateDeployments(runner, { token, environment, name })
    runner.log.info(`GitHub Deployments made inactive: ${changed}`)
  }
  if (!inputs.comment) return
  const [{ retireComment }, { renderRetiredComment }, { runUrl }] = await Promise.all([
    import('../runner/github/comments.ts'),
    import('../runner/summary/comment.ts'),
    runner.context(),
  ])
  const markdown = renderRetiredComment(name, { runUrl, nowMs: runner.clock.now() })
  await retireComment(runner, { token, name, markdown })
}

function describe({ agent, deploymentId, name }: Target): string {
  if (deploymentId !== undefined) return deploymentId
  return agent === undefined ? `"${name}"` : `of agent "${agent.agentId}" in ${agent.environment}`
}

function summaryOf(id: string | undefined, name: string, waited: boolean): string {
  if (id === undefined) return `### ✅ Nothing to delete\n\nThere is no deployment ${code(name)}.\n`
  const end = waited ? 'It is gone: the service answers 404.' : 'Its end was not waited for.'
  return `### ✅ Deleted ${code(name)}\n\nDeployment ${code(id)}. ${end}\n`
}
