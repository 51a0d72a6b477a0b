import { HttpError, ProtocolError } from '../../http/errors.ts'
import { displayUrl, join } from '../../http/url.ts'
import { type CallOptions, type ControlPlane, call, callJson, segment } from './api.ts'
import { Logs, RedeployAnswer, type Revision, RevisionAnswer } from './wire.ts'

function revisionPath(deploymentId: string, revisionId: string): string {
  return `/v2/deployments/${segment(deploymentId)}/revisions/${segment(revisionId)}`
}

/**
 * `GET /v2/deployments/{id}/revisions/{rid}`. The interface document promises `status` alone.
 * @throws ProtocolError when the answer is about another revision
 */
export async function getRevision(
  api: ControlPlane,
  deploymentId: string,
  revisionId: string,
  options: CallOptions = {},
): Promise<Revision> {
  const path = revisionPath(deploymentId, revisionId)
  const revision = await callJson(api, { method: 'GET', path }, RevisionAnswer, options)
  if (revision.id != null && revision.id !== revisionId) {
    const url = displayUrl(join(api.baseUrl, path))
    throw new ProtocolError({ method: 'GET', url }, `GET ${url} answered about another revision`, {
      hint: 'A cache or a proxy in between seems to mix answers up.',
    })
  }
  return { ...revision, id: revisionId }
}

/**
 * `POST …/revisions/{rid}/redeploy` → 200. The interface description answers with the deployment, older notes
 * with a revision; whether the revision gets a new id is not known, so both are read.
 * @returns the newest revision as the answer tells it: the one that was made, or one that was there before;
 *   undefined when it does not tell
 */
export async function redeployRevision(
  api: ControlPlane,
  deploymentId: string,
  revisionId: string,
  options: CallOptions = {},
): Promise<string | undefined> {
  const path = `${revisionPath(deploymentId, revisionId)}/redeploy`
  const answer = await callJson(api, { method: 'POST', path }, RedeployAnswer, options)
  if (answer.latest_revision_id != null) return answer.latest_revision_id
  return answer.id === deploymentId ? undefined : (answer.id ?? undefined)
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
  logs: readonly {
    id?: string | null | undefined
    message?: string | null | undefined
    timestamp?: unknown
  }[]
}): LogLine[] {
  const lines = answer.logs.map((line) => ({ id: line.id ?? undefined, message: line.message ?? '' }))
  const [first, last] = [timeOf(answer.logs[0]), timeOf(answer.logs.at(-1))]
  // Newest first was asked for; a service that does not know `order` answers oldest first.
  return first !== undefined && last !== undefined && first < last ? lines : lines.reverse()
}

/** Milliseconds since 1970; the service writes numbers or texts (peers.md, 3.8). */
function timeOf(line: { timestamp?: unknown } | undefined): number | undefined {
  const written = line?.timestamp
  const time =
    typeof written === 'string' && !/^\d+$/.test(written)
      ? Date.parse(written)
      : Number(written ?? Number.NaN)
  return Number.isFinite(time) ? time : undefined
}
