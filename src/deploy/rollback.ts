import { messageOf } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { CallOptions, ControlPlane } from '../clients/control-plane/api.ts'
import { getDeployment } from '../clients/control-plane/deployments.ts'
import { getRevision, interruptRevision, redeployRevision } from '../clients/control-plane/revisions.ts'
import type { Deployment } from '../clients/control-plane/wire.ts'
import { isAmbiguous } from '../http/retry.ts'
import { APPLY_MS } from './apply.ts'
import { DeployError, type Outcome } from './errors.ts'
import { kindOf, statusWord } from './statuses.ts'

/** Ends after which a rollback makes sense; after the others nothing of ours serves, or somebody newer does. */
const ROLLS_BACK: ReadonlySet<Outcome> = new Set([
  'failed',
  'timed-out',
  'interrupted',
  'verification-failed',
])

/** Pauses between reads of what a redeploy made, in milliseconds. */
const SETTLE_MS = [500, 1_500]

const INTERRUPT_MS = 20_000

export function mayRollBack(outcome: Outcome): boolean {
  return ROLLS_BACK.has(outcome)
}

/**
 * Deploys a revision of the deployment again, as it is: no new source, no new secrets.
 * @param before the deployment as it is now
 * @returns the id of the revision to wait for: a new one, or the same where the service keeps it
 * @throws what the requests throw
 */
export async function redeploy(
  api: ControlPlane,
  before: Deployment,
  revisionId: string,
  options: CallOptions,
): Promise<string> {
  let answered: string | undefined
  try {
    answered = await redeployRevision(api, before.id, revisionId, options)
  } catch (error) {
    if (!isAmbiguous(error)) throw error
    const made = await newRevision(api, before, options)
    if (made !== undefined) return made
    answered = await redeployRevision(api, before.id, revisionId, options)
  }
  const isOld = answered === undefined || answered === revisionId || answered === before.latest_revision_id
  // An answer that names no new revision proves nothing: watching the old one, which is DEPLOYED already,
  // would be green at once.
  return isOld ? ((await newRevision(api, before, options)) ?? revisionId) : (answered ?? revisionId)
}

/** The revision that was made since; undefined when there is none, a moment later either. */
async function newRevision(
  api: ControlPlane,
  before: Deployment,
  options: CallOptions,
): Promise<string | undefined> {
  const { clock, signal } = api.transport
  for (const pause of [0, ...SETTLE_MS]) {
    await clock.sleep(pause, signal)
    const { latest_revision_id: latest } = await getDeployment(api, before.id, options)
    if (latest != null && latest !== before.latest_revision_id) return latest
  }
  return undefined
}

export interface RollbackFacts {
  readonly api: ControlPlane
  readonly deploymentId: string
  readonly ourRevisionId: string
  /** The newest revision before ours. */
  readonly latestBefore: string | undefined
  /** `active_revision_id` before our write, else the latest then; undefined: nothing was there. */
  readonly previousRevisionId: string | undefined
  /** True when `previousRevisionId` is known to have served. */
  readonly previousServed: boolean
  /** Our revision has not ended: it is interrupted first, or it would hold the queue up, or get live afterwards. */
  readonly stillWalks: boolean
  readonly log: Log
}

/**
 * Starts the way back: redeploys the revision that served before, if it still is ours to change.
 * @returns the revision to wait for
 * @throws DeployError (`error`) that says why there is no way back
 */
export async function startRollback(facts: RollbackFacts): Promise<string> {
  const { api, deploymentId, ourRevisionId, previousRevisionId, log } = facts
  const options = { deadline: api.transport.clock.now() + APPLY_MS }
  if (previousRevisionId === undefined) throw nowhere('no revision served before this one')
  if (previousRevisionId === ourRevisionId)
    throw nowhere('the revision that served before is the one that was deployed')
  const deployment = await getDeployment(api, deploymentId, options)
  const active = deployment.active_revision_id
  if (active != null && active !== ourRevisionId && active !== previousRevisionId) {
    throw nowhere(`the newer revision ${active} of somebody else serves now, and is left alone`)
  }
  await refuseNewer(facts, deployment, options)
  const previous = await getRevision(api, deploymentId, previousRevisionId, options)
  if (!facts.previousServed && previous.status !== 'DEPLOYED') {
    throw nowhere(`the revision before (${previousRevisionId}) never served`)
  }
  const image = previous.source_revision_config?.image_uri
  if (typeof image === 'string' && image !== '' && !image.includes('@sha256:')) {
    log.warning(
      `The image of revision ${previousRevisionId} is not pinned by digest: its tag may mean another image by now.`,
    )
  }
  log.info(
    'A rollback redeploys the older revision. It does not undo: the resource spec, secrets, environment variables, OAuth providers.',
  )
  if (facts.stillWalks) await interruptOurs(facts)
  return redeploy(api, deployment, previousRevisionId, options)
}

/** Best effort: a revision that has ended meanwhile cannot be interrupted. */
async function interruptOurs({ api, deploymentId, ourRevisionId, log }: RollbackFacts): Promise<void> {
  try {
    await interruptRevision(api, deploymentId, ourRevisionId, { once: true, timeoutMs: INTERRUPT_MS })
    log.info(`Revision ${ourRevisionId} was interrupted, so that it does not hold the rollback up`)
  } catch (error) {
    if (api.transport.signal.aborted) throw error
    log.debug(messageOf(error))
  }
}

/** A newer revision of somebody else that is still under way would be overtaken by ours. */
async function refuseNewer(
  { api, deploymentId, ourRevisionId, latestBefore }: RollbackFacts,
  deployment: Deployment,
  options: CallOptions,
): Promise<void> {
  const latest = deployment.latest_revision_id
  if (latest == null || latest === ourRevisionId || latest === latestBefore) return
  const { status } = await getRevision(api, deploymentId, latest, options)
  if (['failed', 'superseded', 'interrupted'].includes(kindOf(status))) return
  throw nowhere(`the newer revision ${latest} of somebody else is ${statusWord(status)}, and is left alone`)
}

/** There is no way back, or none that is ours to take: nothing was sent. */
export class NoRollbackError extends DeployError {}

function nowhere(why: string): NoRollbackError {
  return new NoRollbackError('error', `No rollback: ${why}`)
}
