import * as z from 'zod/mini'
import { type CallOptions, type ControlPlane, callJson, segment } from './api.ts'
import { OAuthProvider } from './wire.ts'

const PATH = '/v2/auth/providers'

/** `GET /v2/auth/providers`: all of the organisation, not of one deployment. */
export function listOAuthProviders(api: ControlPlane, options: CallOptions = {}): Promise<OAuthProvider[]> {
  return callJson(api, { method: 'GET', path: PATH }, z.array(OAuthProvider), options)
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
