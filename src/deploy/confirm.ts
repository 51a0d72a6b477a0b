import type { CallOptions, ControlPlane } from '../clients/control-plane/api.ts'
import { getDeployment } from '../clients/control-plane/deployments.ts'
import { getRevision } from '../clients/control-plane/revisions.ts'
import type { Deployment, Revision } from '../clients/control-plane/wire.ts'
import { HttpError } from '../http/errors.ts'
import { DeployError } from './errors.ts'
import { isBeingDeleted } from './statuses.ts'

/** Our revision, and what was there before our write: without that nobody can tell older from newer. */
export interface Ours {
  readonly api: ControlPlane
  readonly deploymentId: string
  readonly revisionId: string
  /** The revision that served before ours, where the service told: still active, it is an older one. */
  readonly previousActive: string | undefined
  /** The newest revision before ours. */
  readonly latestBefore: string | undefined
  /** The service has named an active revision before, so that naming none means that none serves. */
  readonly tellsActive: boolean
}

export type Confirmation =
  | { readonly verdict: 'live'; readonly deployment: Deployment }
  /** An older revision still serves, or (undefined) none; ours may take over in a moment. */
  | { readonly verdict: 'not yet'; readonly activeRevisionId: string | undefined }

/**
 * Proves by `active_revision_id`, where the service gives it, that the revision which says `DEPLOYED` is the
 * one that serves. Where it does not, a newer revision that is `DEPLOYED` too serves in its place.
 * @throws DeployError `superseded` when a newer one serves, `error` when the deployment is being deleted; what
 *   the requests throw
 */
export async function confirm(ours: Ours, revision: Revision, call: CallOptions): Promise<Confirmation> {
  const { api, deploymentId, revisionId, previousActive } = ours
  const deployment = await getDeployment(api, deploymentId, call)
  if (isBeingDeleted(deployment)) {
    throw new DeployError(
      'error',
      `Revision ${revisionId} is DEPLOYED, but its deployment is being deleted`,
      {
        hint: 'Somebody, or a teardown job, deleted the deployment while this job waited. Put both jobs into one `concurrency` group.',
      },
    )
  }
  const active = deployment.active_revision_id
  if (active === revisionId) return { verdict: 'live', deployment }
  if (active == null) {
    if (active === null && ours.tellsActive) return { verdict: 'not yet', activeRevisionId: undefined }
    const newer = newestOfOthers(ours, deployment)
    if (newer !== undefined && (await read(ours, newer, call))?.status === 'DEPLOYED')
      throw superseded(revisionId, newer)
    return { verdict: 'live', deployment }
  }
  if (active !== previousActive && (await isNewer(ours, deployment, active, revision, call)))
    throw superseded(revisionId, active)
  return { verdict: 'not yet', activeRevisionId: active }
}

function superseded(revisionId: string, newer: string): DeployError {
  return new DeployError(
    'superseded',
    `Revision ${revisionId} is DEPLOYED, but the newer revision ${newer} serves`,
    {
      hint: 'Another run, a push or a person deployed after this run did. Put a `concurrency` group on the job, and look at build_on_push.',
    },
  )
}

/** The newest revision, where somebody made it after our write. */
function newestOfOthers({ revisionId, latestBefore }: Ours, deployment: Deployment): string | undefined {
  const latest = deployment.latest_revision_id ?? undefined
  return latest === revisionId || latest === latestBefore ? undefined : latest
}

/** Newer by time of creation, or because it is the newest of all and was not there before our write. */
async function isNewer(
  ours: Ours,
  deployment: Deployment,
  active: string,
  revision: Revision,
  call: CallOptions,
): Promise<boolean> {
  const newest = newestOfOthers(ours, deployment)
  if (active === newest) return true
  const theirTime = Date.parse((await read(ours, active, call))?.created_at ?? '')
  const ourTime = Date.parse(revision.created_at ?? '')
  // Without times: ours is the newest there is, so another active one is older; else it came after us.
  if (Number.isNaN(theirTime) || Number.isNaN(ourTime)) return newest !== undefined
  return theirTime > ourTime
}

/** A revision that answers 404 says nothing about ours. */
async function read(
  { api, deploymentId }: Ours,
  revisionId: string,
  call: CallOptions,
): Promise<Revision | undefined> {
  try {
    return await getRevision(api, deploymentId, revisionId, call)
  } catch (error) {
    if (error instanceof HttpError && error.status === 404) return undefined
    throw error
  }
}
