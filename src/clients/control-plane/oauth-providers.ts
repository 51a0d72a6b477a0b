import * as z from 'zod/mini'
import { HttpError } from '../../http/errors.ts'
import { type CallOptions, type ControlPlane, callJson, segment } from './api.ts'
import { OAuthProvider } from './wire.ts'

const PATH = '/v2/auth/providers'

/**
 * `GET /v2/auth/providers`: all of the organisation, not of one deployment. The interface document has the POST
 * alone: a service that answers 404 or 405 here has no list, and an empty one is returned.
 */
export async function listOAuthProviders(
  api: ControlPlane,
  options: CallOptions = {},
): Promise<OAuthProvider[]> {
  try {
    return await callJson(api, { method: 'GET', path: PATH }, z.array(OAuthProvider), options)
  } catch (error) {
    if (error instanceof HttpError && (error.status === 404 || error.status === 405)) return []
    throw error
  }
}

/** `POST /v2/auth/providers` → 200 (not 201). `client_secret` is never in an answer. */
export function createOAuthProvider(
  api: ControlPlane,
  body: unknown,
  options: CallOptions = {},
): Promise<OAuthProvider> {
  return callJson(api, { method: 'POST', path: PATH, json: body }, OAuthProvider, options)
}

/** `PATCH /v2/auth/providers/{provider_id}`: takes name, client, URLs and PKCE, not the type nor the auth method. */
export function patchOAuthProvider(
  api: ControlPlane,
  providerId: string,
  body: unknown,
  options: CallOptions = {},
): Promise<OAuthProvider> {
  return callJson(
    api,
    { method: 'PATCH', path: `${PATH}/${segment(providerId)}`, json: body },
    OAuthProvider,
    options,
  )
}
