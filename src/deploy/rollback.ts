import type { Log } from '../base/log.ts'
import type { CallOptions, ControlPlane } from '../clients/control-plane/api.ts'
import { getDeployment } from '../clients/control-plane/deployments.ts'
import { getRevision, redeployRevision } from '../clients/control-plane/revisions.ts'
import type { Deployment } from '../clients/control-plane/wire.ts'
import { isAmbiguous } from '../http/retry.ts'
import { APPLY_MS } from './apply.ts'
import { DeployError, type Outcome } from './errors.ts'

/** Ends after which a rollback makes sense; after the others nothing of ours serves, or somebody newer does. */
const ROLLS_BACK: ReadonlySet<Outcome> = new Set([
  'failed',
  'timed-out',
  'interrupted',
  'verification-failed',
])

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
  const latestBefore = before.latest_revision_id ?? undefined
  try {
    return (await redeployRevision(api, before.id, revisionId, latestBefore, options)) ?? revisionId
  } catch (error) {
    if (!isAmbiguous(error)) throw error
    const now = await getDeployment(api, before.id, options)
    const latest = now.latest_revision_id ?? undefined
    if (latest !== undefined && latest !== latestBefore) return latest
    return (await redeployRevision(api, before.id, revisionId, latestBefore, options)) ?? revisionId
  }
}

export interface RollbackFacts {
  readonly api: ControlPlane
  readonly deploymentId: string
  readonly ourRevisionId: string
  /** `active_revision_id` before our write, else the latest then; undefined: nothing was there. */
  readonly previousRevisionId: string | undefined
  /** True when `previousRevisionId` is known to have served. */
  readonly previousServed: boolean
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
  const deployment = await getDeployment(api, deploymentId, options)
  const active = deployment.active_revision_id
  if (active != null && active !== ourRevisionId && active !== previousRevisionId) {
    throw nowhere(`the newer revision ${active} of somebody else serves now, and is left alone`)
  }
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
  return redeploy(api, deployment, previousRevisionId, options)
}

function nowhere(why: string): DeployError {
  return new DeployError('error', `No rollback: ${why}`)
}
