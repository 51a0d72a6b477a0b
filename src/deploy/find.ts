import { InputError } from '../base/errors.ts'
import type { CallOptions, ControlPlane } from '../clients/control-plane/api.ts'
import { getDeployment, listDeployments } from '../clients/control-plane/deployments.ts'
import type { Deployment, ListedDeployment } from '../clients/control-plane/wire.ts'
import { HttpError } from '../http/errors.ts'
import { DeployError } from './errors.ts'
import type { Target } from './settings.ts'
import { isBeingDeleted } from './statuses.ts'

/**
 * The deployment that the inputs mean, read in full.
 * @returns undefined when there is none yet (only by name or agent)
 * @throws InputError when `deployment-id` names none, or one of another name; DeployError when two match or
 *   the match is being deleted
 */
export async function findDeployment(
  api: ControlPlane,
  target: Target,
  options: CallOptions,
): Promise<Deployment | undefined> {
  const found =
    target.deploymentId === undefined
      ? await findInList(api, target, options)
      : await findById(api, target.deploymentId, target, options)
  if (found !== undefined && isBeingDeleted(found)) {
    throw new DeployError('error', `The deployment ${found.id} is being deleted`, {
      hint: 'Run the job again when it is gone (a few minutes), or choose another `name`.',
    })
  }
  return found
}

async function findById(
  api: ControlPlane,
  id: string,
  { name, agent }: Target,
  options: CallOptions,
): Promise<Deployment> {
  let deployment: Deployment
  try {
    deployment = await getDeployment(api, id, options)
  } catch (error) {
    if (!(error instanceof HttpError) || error.status !== 404) throw error
    const message = `no deployment has the id "${id}" in this workspace. Look at the id, at workspace-id and at the region of control-plane-url.`
    throw new InputError([{ input: 'deployment-id', message }])
  }
  if (name !== undefined && typeof deployment.name === 'string' && deployment.name !== name) {
    const message = `the deployment ${id} has the name "${deployment.name}", and "${name}" was given. Correct one of the two, or leave \`name\` out.`
    throw new InputError([{ input: 'name', message }])
  }
  const is = deployment.agent
  if (
    agent !== undefined &&
    is != null &&
    (is.agent_id !== agent.agentId || is.environment !== agent.environment)
  ) {
    const message = `the deployment ${id} is of the agent "${is.agent_id ?? ''}" in "${is.environment ?? ''}", and "${agent.agentId}" in "${agent.environment}" was given. Correct one of the two, or leave \`agent-id\` and \`agent-environment\` out.`
    throw new InputError([{ input: 'agent-id', message }])
  }
  return deployment
}

async function findInList(
  api: ControlPlane,
  target: Target,
  options: CallOptions,
): Promise<Deployment | undefined> {
  const match = await findListed(api, target, options)
  return match === undefined ? undefined : readMatch(api, match.id, options)
}

/**
 * The entry of the list that has exactly this name, or is of this agent and environment, over all pages. One
 * that is being deleted makes way for its successor, and counts only where there is none.
 * @throws DeployError when several match
 */
export async function findListed(
  api: ControlPlane,
  { agent, name }: Target,
  options: CallOptions,
): Promise<ListedDeployment | undefined> {
  const filter =
    agent === undefined
      ? { name_contains: name }
      : { agent_id: agent.agentId, agent_environment: agent.environment }
  const exact = (await listDeployments(api, filter, options)).filter((deployment) =>
    agent === undefined
      ? deployment.name === name
      : deployment.is_preview !== true &&
        deployment.agent?.agent_id === agent.agentId &&
        deployment.agent.environment === agent.environment,
  )
  const staying = exact.filter((deployment) => !isBeingDeleted(deployment))
  if (staying.length > 1) {
    throw new DeployError(
      'error',
      `${staying.length} deployments match (${staying.map(({ id }) => id).join(', ')}), expected one at most`,
      { hint: 'Give `deployment-id` to say which one is meant. Nothing was changed.' },
    )
  }
  return staying[0] ?? exact[0]
}

/** The list may show less than the deployment itself, and a merge needs all of it. */
async function readMatch(
  api: ControlPlane,
  id: string,
  options: CallOptions,
): Promise<Deployment | undefined> {
  try {
    return await getDeployment(api, id, options)
  } catch (error) {
    // Gone between the list and this.
    if (error instanceof HttpError && error.status === 404) return undefined
    throw error
  }
}
