import type { CallOptions, ControlPlane } from '../clients/control-plane/api.ts'
import { getDeployment } from '../clients/control-plane/deployments.ts'
import { getRevision } from '../clients/control-plane/revisions.ts'
import type { Deployment, Revision } from '../clients/control-plane/wire.ts'
import { HttpError } from '../http/errors.ts'
import { DeployError } from './errors.ts'
import type { WaitOptions } from './wait.ts'

export type Confirmation =
  | { readonly verdict: 'live'; readonly deployment: Deployment }
  /** An older revision still serves; ours may take over in a moment. */
  | { readonly verdict: 'older'; readonly activeRevisionId: string }

/**
 * Proves by `active_revision_id`, where the service gives it, that the revision which says `DEPLOYED` is the
 * one that serves.
 * @throws DeployError `superseded` when a newer one is active; what the requests throw
 */
export async function confirm(
  options: WaitOptions,
  revision: Revision,
  call: CallOptions,
): Promise<Confirmation> {
  const { api, deploymentId, revisionId, previousActive } = options
  const deployment = await getDeployment(api, deploymentId, call)
  const active = deployment.active_revision_id
  if (active == null || active === revisionId) return { verdict: 'live', deployment }
  if (active !== previousActive && (await isNewer(options, deployment, active, revision, call))) {
    throw new DeployError(
      'superseded',
      `Revision ${revisionId} is DEPLOYED, but the newer revision ${active} serves`,
      {
        hint: 'Another run or a push deployed after this one. Put a `concurrency` group on the job, and look at build_on_push.',
      },
    )
  }
  return { verdict: 'older', activeRevisionId: active }
}

/** Newer by time of creation, or because it is the newest of all and not ours. */
async function isNewer(
  { api, deploymentId, revisionId }: WaitOptions,
  deployment: Deployment,
  active: string,
  ours: Revision,
  call: CallOptions,
): Promise<boolean> {
  const latest = deployment.latest_revision_id
  if (active === latest && latest !== revisionId) return true
  const theirTime = Date.parse((await createdAt(api, deploymentId, active, call)) ?? '')
  const ourTime = Date.parse(ours.created_at ?? '')
  // Without times: ours is the newest there is, so another active one is older; else it came after us.
  if (Number.isNaN(theirTime) || Number.isNaN(ourTime)) return latest !== revisionId
  return theirTime > ourTime
}

/** An active revision that answers 404 has no time; that says nothing about ours. */
async function createdAt(
  api: ControlPlane,
  deploymentId: string,
  revisionId: string,
  call: CallOptions,
): Promise<string | undefined> {
  try {
    return (await getRevision(api, deploymentId, revisionId, call)).created_at ?? undefined
  } catch (error) {
    if (error instanceof HttpError && error.status === 404) return undefined
    throw error
  }
}
