/** Where an archive goes, and the token to push an image with. */
import { newToken } from '../ids.ts'
import { LENGTH_RANGE } from '../storage/index.ts'
import { Problem } from '../wire/problem.ts'
import { readBody } from '../wire/request.ts'
import { bool, nullable, object, optional } from '../wire/schema.ts'
import { findLive } from './deployments.ts'
import type { Call, Route } from './router.ts'

/** Never resolved (RFC 6761), so that no test can push anywhere by mistake. */
const REGISTRY = 'registry.emulator.invalid'

const uploadBody = object({ supports_upload_headers: optional(nullable(bool)) })
const pushBody = object({ supports_registry_username: optional(nullable(bool)) })

async function uploadUrl({ state, request, params }: Call): Promise<Response> {
  const deployment = findLive(state, params.deployment_id)
  const body = await readBody(request, uploadBody, true)
  if (deployment.source !== 'internal_source') {
    throw new Problem(400, 'Upload URLs are only available for internal_source deployments')
  }
  const { uploadUrl: url, objectPath } = state.uploads.open(deployment.id, state.baseUrl)
  return Response.json({
    upload_url: url,
    object_path: objectPath,
    ...(body.supports_upload_headers === true
      ? { upload_headers: { 'X-Goog-Content-Length-Range': LENGTH_RANGE } }
      : {}),
  })
}

async function pushToken({ state, request, params }: Call): Promise<Response> {
  const deployment = findLive(state, params.deployment_id)
  const body = await readBody(request, pushBody, true)
  if (deployment.source !== 'internal_docker') {
    throw new Problem(400, 'Push tokens are only available for internal_docker deployments')
  }
  const registryUrl = `${REGISTRY}/${state.settings.workspaceId}`
  return Response.json({
    token: `ya29.${newToken(32)}`,
    registry_url: registryUrl,
    ...(body.supports_registry_username === true
      ? { username: 'oauth2accesstoken', repository_url: `${registryUrl}/${deployment.name}` }
      : {}),
  })
}

export const uploadRoutes: readonly Route[] = [
  ['POST', '/v2/deployments/{deployment_id}/upload-url', uploadUrl],
  ['POST', '/v2/deployments/{deployment_id}/push-token', pushToken],
]
