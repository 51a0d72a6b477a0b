import type { Clock } from '../base/clock.ts'
import { AgentDeployError, InputError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { ControlPlane } from '../clients/control-plane/api.ts'
import { deleteDeployment, getDeployment } from '../clients/control-plane/deployments.ts'
import { HttpError, RedirectError, RequestError } from '../http/errors.ts'
import { findListed } from './find.ts'
import type { Target } from './settings.ts'
import { isBeingDeleted } from './statuses.ts'

const MIN_POLL_MS = 500
const MAX_POLL_MS = 10_000
/** Failed polls in a row that are borne: about two minutes of outage. */
const ERROR_BUDGET = 12

/** As much of a deployment as deleting it needs. */
export interface Doomed {
  readonly id: string
  readonly name: string | undefined
  /** Somebody deletes it at this moment. */
  readonly going: boolean
}

interface Tools {
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
}

/**
 * The deployment to delete: by id, by its exact name over all pages, or by agent and environment. One that is
 * being deleted already counts only where no other has the name.
 * @returns undefined when there is none
 * @throws InputError when id and name disagree, DeployError when several match
 */
export async function findDoomed(
  api: ControlPlane,
  target: Target,
  deadline: number,
): Promise<Doomed | undefined> {
  if (target.deploymentId !== undefined) return findById(api, target.deploymentId, target.name, deadline)
  const match = await findListed(api, target, { deadline })
  return match === undefined ? undefined : doomed(match)
}

async function findById(
  api: ControlPlane,
  id: string,
  name: string | undefined,
  deadline: number,
): Promise<Doomed | undefined> {
  try {
    const found = doomed(await getDeployment(api, id, { deadline }))
    if (name === undefined || found.name === undefined || found.name === name) return found
    const message = `is "${name}", and the deployment ${id} has the name "${found.name}", so nothing was deleted. Correct one of the two, or leave \`name\` out.`
    throw new InputError([{ input: 'name', message }])
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

function doomed(one: {
  id: string
  name?: string | null | undefined
  status?: string | null | undefined
}): Doomed {
  return { id: one.id, name: one.name ?? undefined, going: isBeingDeleted(one) }
}

/**
 * `DELETE`, sent again after a lost answer: a 404 then says that the first one was taken.
 * @throws what the client throws, but for 404
 */
export async function deleteOnce(
  api: ControlPlane,
  id: string,
  withTracingProject: boolean,
  deadline: number,
): Promise<void> {
  try {
    await deleteDeployment(api, id, withTracingProject, { deadline })
  } catch (error) {
    if (!isGone(error)) throw error
  }
}

/**
 * Waits until the service answers 404. Failed polls say nothing, up to a budget; a refused key and a redirect
 * end the wait, since the next poll would be answered alike.
 * @param timeoutMs what the deadline was made of, for the message
 * @throws AgentDeployError at the deadline, what the client throws, the signal's reason
 */
export async function waitUntilGone(
  api: ControlPlane,
  id: string,
  wait: { readonly deadline: number; readonly timeoutMs: number },
  tools: Tools,
): Promise<void> {
  const { clock, log, signal } = tools
  let pauseMs = MIN_POLL_MS
  let failures = 0
  let status = ''
  for (;;) {
    const leftMs = wait.deadline - clock.now()
    if (leftMs <= 0) break
    try {
      const found = await getDeployment(api, id, { once: true, timeoutMs: Math.min(30_000, leftMs) })
      failures = 0
      if (found.status != null && found.status !== status) log.info(`Deployment ${id} is ${found.status}`)
      status = found.status ?? ''
    } catch (error) {
      if (isGone(error)) return
      if (signal.aborted || isFinal(error) || ++failures >= ERROR_BUDGET) throw error
    }
    await clock.sleep(Math.min(pauseMs, Math.max(0, wait.deadline - clock.now())), signal)
    pauseMs = Math.min(pauseMs * 1.5, MAX_POLL_MS)
  }
  throw new AgentDeployError(
    `Deployment ${id} was not gone within ${wait.timeoutMs / 60_000} minutes; its deletion goes on`,
    {
      hint: 'Raise `timeout-minutes`, set `wait: false`, or run the job again: deleting what is being deleted is no error.',
    },
  )
}

function isGone(error: unknown): boolean {
  return error instanceof HttpError && (error.status === 404 || error.status === 410)
}

function isFinal(error: unknown): boolean {
  if (error instanceof HttpError) return error.status === 401 || error.status === 403
  return error instanceof RedirectError || !(error instanceof RequestError)
}
