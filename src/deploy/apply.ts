import { firstLineOf } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { CallOptions, ControlPlane } from '../clients/control-plane/api.ts'
import { createDeployment, getDeployment, patchDeployment } from '../clients/control-plane/deployments.ts'
import type { Deployment } from '../clients/control-plane/wire.ts'
import { HttpError } from '../http/errors.ts'
import { isAmbiguous } from '../http/retry.ts'
import { DeployError } from './errors.ts'
import { findDeployment } from './find.ts'
import type { Mapping, Target } from './settings.ts'

/** Until the request is accepted, all calls together have this long (design, section 4, "Apply"). */
export const APPLY_MS = 120_000

/** How long an ambiguous POST or PATCH may take to show, before it is sent again. */
const SETTLE_MS = 2_000

/** A service that took the request may show what it made of it a moment later: pauses between reads, in ms. */
const PATIENCE_MS = [500, 1_000, 1_500, 2_000, 5_000, 5_000, 10_000]

export interface ApplyTools {
  readonly api: ControlPlane
  readonly log: Log
  /** Milliseconds since 1970: the end of the two minutes. */
  readonly deadline: number
}

export interface Created {
  readonly deployment: Deployment
  /** False: somebody else's deployment of this name was there first, and the caller goes on with an update. */
  readonly created: boolean
}

/** How every request until the accepted one is sent: tried again inside the deadline, and told. */
export function applyOptions(tools: ApplyTools): CallOptions {
  return {
    deadline: tools.deadline,
    retries: 20,
    onRetry: (error, waitMs) =>
      tools.log.info(`${firstLineOf(error)}; trying again in ${Math.round(waitMs / 100) / 10} s`),
  }
}

/**
 * `POST /v2/deployments`, so that there is one deployment afterwards and never two. An ambiguous answer (lost,
 * late, 5xx, not JSON, without an id) is followed by a look-up by name before one more POST.
 * @throws what the last request threw; DeployError when a name is taken and no deployment has it
 */
export async function create(body: Mapping, target: Target, tools: ApplyTools): Promise<Created> {
  let ambiguous = false
  for (let attempt = 1; ; attempt++) {
    try {
      return { deployment: await createDeployment(tools.api, body, applyOptions(tools)), created: true }
    } catch (error) {
      const conflict = error instanceof HttpError && error.status === 409
      if (!conflict && !isAmbiguous(error)) throw error
      tools.log.info(
        conflict
          ? 'The service says that the name is taken; looking it up'
          : `${firstLineOf(error)}: it may have been taken all the same; looking the deployment up`,
      )
      // Our own POST of before may still be at work: then its name is taken, and it shows when it is done.
      const pauses = conflict ? (ambiguous ? PATIENCE_MS : []) : [SETTLE_MS]
      const found = await lookUp(target, pauses, tools)
      // After an ambiguous POST of ours a deployment of this name is ours: there was none before it.
      if (found !== undefined) return { deployment: found, created: ambiguous || !conflict }
      if (conflict) throw leftOver(error)
      if (attempt === 2) throw error
      ambiguous = true
    }
  }
}

/** Looks up until it is found, with these pauses in between. */
async function lookUp(
  target: Target,
  pauses: readonly number[],
  tools: ApplyTools,
): Promise<Deployment | undefined> {
  let found = await findDeployment(tools.api, target, applyOptions(tools))
  for (const pause of pauses) {
    if (found !== undefined || !(await waited(pause, tools))) break
    found = await findDeployment(tools.api, target, applyOptions(tools))
  }
  return found
}

/** @returns false when the pause does not fit into the two minutes any more */
async function waited(ms: number, { api: { transport }, deadline }: ApplyTools): Promise<boolean> {
  if (transport.clock.now() + ms >= deadline) return false
  await transport.clock.sleep(ms, transport.signal)
  return true
}

function leftOver(error: HttpError): DeployError {
  return new DeployError(
    'error',
    'The service answered 409: the name is taken, but no deployment has it. A tracing project of this name is left over, probably from a deleted deployment',
    {
      cause: error,
      hint: 'Choose another `name`, or delete that tracing project in LangSmith. Deployments deleted with `delete-tracing-project: true` leave none behind.',
    },
  )
}

/**
 * `PATCH /v2/deployments/{id}`; the revision that it made.
 * @param before the deployment as it was read before, whose `latest_revision_id` is compared
 * @throws DeployError when no revision was made
 */
export async function patch(
  before: Deployment,
  body: Mapping,
  tools: ApplyTools,
): Promise<{ deployment: Deployment; revisionId: string }> {
  for (let attempt = 1; ; attempt++) {
    try {
      const deployment = await patchDeployment(tools.api, before.id, body, applyOptions(tools))
      return { deployment, revisionId: newRevision(before, await withRevision(deployment, tools, before)) }
    } catch (error) {
      if (!isAmbiguous(error)) throw error
      tools.log.info(`${firstLineOf(error)}: it may have been taken all the same; reading the deployment`)
      const now = await readSettled(before, tools)
      if (now.latest_revision_id != null && now.latest_revision_id !== before.latest_revision_id) {
        return { deployment: now, revisionId: now.latest_revision_id }
      }
      if (attempt === 2) throw error
    }
  }
}

/**
 * The first revision of a deployment that this run created.
 * @param update body of a PATCH, for a source of which it is not known whether its create makes a revision: sent
 *   when none shows
 */
export async function firstRevision(
  deployment: Deployment,
  tools: ApplyTools,
  update?: Mapping,
): Promise<string> {
  const pauses = update === undefined ? PATIENCE_MS : PATIENCE_MS.slice(0, 2)
  const read = await withRevision(deployment, tools, undefined, pauses)
  if (typeof read.latest_revision_id === 'string') return read.latest_revision_id
  if (update !== undefined) return (await patch(read, update, tools)).revisionId
  throw new DeployError(
    'error',
    `The deployment ${deployment.id} was created, but the service shows no revision of it`,
    {
      hint: 'Run the job again: it will update this deployment. If it stays so, look at the deployment in LangSmith.',
    },
  )
}

function newRevision(before: Deployment, after: Deployment): string {
  const revisionId = after.latest_revision_id
  if (typeof revisionId === 'string' && revisionId !== before.latest_revision_id) return revisionId
  throw new DeployError(
    'error',
    `The service took the update of deployment ${before.id}, but made no revision`,
    {
      hint: 'Nothing was deployed. Look at `request`: it may have removed source_revision_config; else run the job again.',
    },
  )
}

/**
 * Reads on while the answer does not tell a revision at all: an answer may be shorter than the deployment, and
 * a read may be older than the write.
 */
async function withRevision(
  answer: Deployment,
  tools: ApplyTools,
  before?: Deployment,
  pauses: readonly number[] = PATIENCE_MS,
): Promise<Deployment> {
  if (answer.latest_revision_id != null) return answer
  const read = (): Promise<Deployment> => getDeployment(tools.api, answer.id, applyOptions(tools))
  const isOld = ({ latest_revision_id: latest }: Deployment): boolean =>
    latest == null || latest === before?.latest_revision_id
  let current = await read()
  for (const pause of pauses) {
    if (!isOld(current) || !(await waited(pause, tools))) break
    current = await read()
  }
  return current
}

/** Reads twice, a moment apart, when nothing has changed: a lost request can still be under way. */
async function readSettled(before: Deployment, tools: ApplyTools): Promise<Deployment> {
  const now = await getDeployment(tools.api, before.id, applyOptions(tools))
  if (now.latest_revision_id !== before.latest_revision_id) return now
  await tools.api.transport.clock.sleep(SETTLE_MS, tools.api.transport.signal)
  return getDeployment(tools.api, before.id, applyOptions(tools))
}
