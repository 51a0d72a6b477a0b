import { ProtocolError } from '../../http/errors.ts'
import { displayUrl, join } from '../../http/url.ts'
import { type CallOptions, type ControlPlane, call, callJson, segment } from './api.ts'
import { Deployment, ListedDeployment, PushToken, page, UploadUrl } from './wire.ts'

const LIMIT = 100

/** No workspace has this many pages; a service that repeats itself would never end. */
const MAX_PAGES = 1000

/** The service's filters. The caller still compares: `name_contains` is a substring, and a service may know none. */
export interface ListFilter {
  readonly name_contains?: string | undefined
  /** Agent mode, as the official client asks (langgraph-cli 0.4.40); not in the published description. */
  readonly agent_id?: string | undefined
  readonly agent_environment?: string | undefined
}

/**
 * `GET /v2/deployments`, all pages of `limit` 100.
 * @throws ProtocolError when a page repeats
 */
export async function listDeployments(
  api: ControlPlane,
  filter: ListFilter,
  options: CallOptions = {},
): Promise<ListedDeployment[]> {
  const found: ListedDeployment[] = []
  const seen = new Set<string>()
  for (let offset = 0, pages = 0; ; pages++) {
    const query = { limit: LIMIT, offset, ...filter }
    const answer = await callJson(
      api,
      { method: 'GET', path: '/v2/deployments', query },
      page(ListedDeployment),
      options,
    )
    const fresh = answer.resources.filter((deployment) => !seen.has(deployment.id))
    if ((fresh.length === 0 && answer.resources.length > 0) || pages >= MAX_PAGES) {
      const url = displayUrl(join(api.baseUrl, '/v2/deployments'))
      throw new ProtocolError(
        { method: 'GET', url },
        `GET ${url} repeats a page: the list of deployments has no end`,
        {
          hint: 'Give `deployment-id` in place of `name`, so that no list is needed.',
        },
      )
    }
    for (const deployment of fresh) seen.add(deployment.id)
    found.push(...fresh)
    if (answer.resources.length < LIMIT) return found
    offset += answer.resources.length
  }
}

/** `GET /v2/deployments/{id}`. The answer carries secret values: never print it. */
export function getDeployment(api: ControlPlane, id: string, options: CallOptions = {}): Promise<Deployment> {
  return callJson(api, { method: 'GET', path: `/v2/deployments/${segment(id)}` }, Deployment, options)
}

/** `POST /v2/deployments` → 201. Sent again only when the service provably did not take it. */
export function createDeployment(
  api: ControlPlane,
  body: unknown,
  options: CallOptions = {},
): Promise<Deployment> {
  return callJson(api, { method: 'POST', path: '/v2/deployments', json: body }, Deployment, options)
}

/** `PATCH /v2/deployments/{id}` → 200 and the deployment, with the new `latest_revision_id`. */
export function patchDeployment(
  api: ControlPlane,
  id: string,
  body: unknown,
  options: CallOptions = {},
): Promise<Deployment> {
  return callJson(
    api,
    { method: 'PATCH', path: `/v2/deployments/${segment(id)}`, json: body },
    Deployment,
    options,
  )
}

/** `DELETE /v2/deployments/{id}` → 204. A 404 is thrown as HttpError: the caller knows whether that is well. */
export async function deleteDeployment(
  api: ControlPlane,
  id: string,
  deleteTracingProject: boolean,
  options: CallOptions = {},
): Promise<void> {
  const query = deleteTracingProject ? { delete_tracing_project: 'true' } : {}
  await call(api, { method: 'DELETE', path: `/v2/deployments/${segment(id)}`, query }, options)
}

/** `POST /v2/deployments/{id}/upload-url`: where to put the archive of `internal_source`. A POST that makes nothing. */
export async function requestUploadUrl(api: ControlPlane, id: string, options: CallOptions = {}) {
  const path = `/v2/deployments/${segment(id)}/upload-url`
  const answer = await callJson(
    api,
    { method: 'POST', path, json: { supports_upload_headers: true } },
    UploadUrl,
    options,
  )
  return {
    uploadUrl: answer.upload_url,
    objectPath: answer.object_path,
    uploadHeaders: answer.upload_headers ?? undefined,
  }
}

/** `POST /v2/deployments/{id}/push-token`: a short-lived token for the service's own registry. */
export async function requestPushToken(api: ControlPlane, id: string, options: CallOptions = {}) {
  const path = `/v2/deployments/${segment(id)}/push-token`
  const json = { supports_registry_username: true }
  const answer = await callJson(api, { method: 'POST', path, json }, PushToken, options)
  return {
    token: answer.token,
    registryUrl: answer.registry_url,
    username: answer.username ?? undefined,
    repositoryUrl: answer.repository_url ?? undefined,
  }
}
