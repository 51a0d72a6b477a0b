/** What each word of a revision's status means for the wait (control-plane-openapi.json, Revision.status). */
export type StatusKind = 'waiting' | 'deployed' | 'failed' | 'superseded' | 'interrupted' | 'unknown'

const KINDS: Readonly<Record<string, StatusKind>> = {
  CREATING: 'waiting',
  QUEUED: 'waiting',
  AWAITING_BUILD: 'waiting',
  BUILDING: 'waiting',
  AWAITING_DEPLOY: 'waiting',
  DEPLOYING: 'waiting',
  DEPLOYED: 'deployed',
  CREATE_FAILED: 'failed',
  BUILD_FAILED: 'failed',
  DEPLOY_FAILED: 'failed',
  SKIPPED: 'superseded',
  INTERRUPTED: 'interrupted',
}

/** Statuses after which the end is near, so that polls are short there; elsewhere the wait is long. */
const NEAR_THE_END = new Set(['AWAITING_DEPLOY', 'DEPLOYING', 'DEPLOYED', 'INTERRUPTED'])

/** `unknown` is `UNKNOWN` itself and every word that nobody has heard of: both poll on. */
export function kindOf(status: string): StatusKind {
  return Object.hasOwn(KINDS, status) ? (KINDS[status] ?? 'unknown') : 'unknown'
}

export function isNearTheEnd(status: string): boolean {
  return NEAR_THE_END.has(status)
}

/** Statuses of a deployment that somebody deletes at this moment; it answers until it is gone. */
const GOING = new Set(['AWAITING_DELETE', 'AWAITING_FINAL_DELETE'])

export function isBeingDeleted(deployment: { readonly status?: string | null | undefined }): boolean {
  return GOING.has(deployment.status ?? '')
}

/** A status for outputs: the service's word where it looks like one, else `UNKNOWN` (remote text stays out). */
export function statusWord(status: string): string {
  return /^[A-Za-z][A-Za-z0-9_-]{0,39}$/.test(status) ? status : 'UNKNOWN'
}
