import { HttpError } from '../../http/errors.ts'
import { type CallOptions, type ControlPlane, call, callJson, segment } from './api.ts'
import { Deployment, Logs, page, RedeployAnswer, Revision } from './wire.ts'

function revisionPath(deploymentId: string, revisionId: string): string {
  return `/v2/deployments/${segment(deploymentId)}/revisions/${segment(revisionId)}`
}

/** `GET /v2/deployments/{id}/revisions/{rid}`. */
export function getRevision(
  api: ControlPlane,
  deploymentId: string,
  revisionId: string,
  options: CallOptions = {},
): Promise<Revision> {
  return callJson(api, { method: 'GET', path: revisionPath(deploymentId, revisionId) }, Revision, options)
}

/** `GET /v2/deployments/{id}/revisions`, the newest 100. */
export async function listRevisions(
  api: ControlPlane,
  deploymentId: string,
  options: CallOptions = {},
): Promise<Revision[]> {
  const path = `/v2/deployments/${segment(deploymentId)}/revisions`
  return (await callJson(api, { method: 'GET', path, query: { limit: 100 } }, page(Revision), options))
    .resources
}

/**
 * `POST …/revisions/{rid}/redeploy` → 200. The interface description answers with the deployment, older notes
 * with a revision; whether the revision gets a new id is not known, so both are read.
 * @returns the id of the revision that is being deployed now, undefined when the answer does not tell
 */
export async function redeployRevision(
  api: ControlPlane,
  deploymentId: string,
  revisionId: string,
  latestBefore: string | undefined,
  options: CallOptions = {},
): Promise<string | undefined> {
  const path = `${revisionPath(deploymentId, revisionId)}/redeploy`
  const answer = await callJson(api, { method: 'POST', path }, RedeployAnswer, options)
  const deployment = Deployment.safeParse(answer)
  if (deployment.success && (deployment.data.id === deploymentId || 'latest_revision_id' in answer)) {
    const latest = deployment.data.latest_revision_id ?? undefined
    return latest === latestBefore ? revisionId : latest
  }
  return answer.id ?? undefined
}

/** `POST …/revisions/{rid}/interruption`: stops a revision that still walks; 200, 202 and 204 were reported. */
export async function interruptRevision(
  api: ControlPlane,
  deploymentId: string,
  revisionId: string,
  options: CallOptions = {},
): Promise<void> {
  await call(api, { method: 'POST', path: `${revisionPath(deploymentId, revisionId)}/interruption` }, options)
}

export interface LogLine {
  readonly id: string | undefined
  readonly message: string
}

/**
 * The last lines of a revision's build or deploy log. The public endpoint first
 * (`GET …/logs?type=`), then the older one (`POST /v1/projects/{id}/revisions/{rid}/{build|deploy}_logs`)
 * where the first is not there.
 * @param limit how many lines at most
 * @returns oldest line first
 */
export async function readLog(
  api: ControlPlane,
  deploymentId: string,
  revisionId: string,
  kind: 'build' | 'deploy',
  limit: number,
  options: CallOptions = {},
): Promise<LogLine[]> {
  const query = { type: kind, limit, order: 'desc' }
  try {
    const path = `${revisionPath(deploymentId, revisionId)}/logs`
    return toLines(await callJson(api, { method: 'GET', path, query }, Logs, options))
  } catch (error) {
    if (!(error instanceof HttpError) || ![404, 405, 422].includes(error.status)) throw error
  }
  const path = `/v1/projects/${segment(deploymentId)}/revisions/${segment(revisionId)}/${kind}_logs`
  return toLines(await callJson(api, { method: 'POST', path, json: { order: 'desc', limit } }, Logs, options))
}

function toLines(answer: {
  logs: readonly { id?: string | null | undefined; message?: string | null | undefined }[]
}): LogLine[] {
  return answer.logs.map((line) => ({ id: line.id ?? undefined, message: line.message ?? '' })).reverse()
}
