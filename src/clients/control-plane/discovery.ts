import * as z from 'zod/mini'
import { HttpError } from '../../http/errors.ts'
import { type CallOptions, type ControlPlane, callJson, segment } from './api.ts'
import { GithubIntegration, GithubRepository, Listener, page } from './wire.ts'

/** `GET /v2/listeners`; a service without listeners answers 404, which is an empty list here. */
export async function listListeners(api: ControlPlane, options: CallOptions = {}): Promise<Listener[]> {
  try {
    const query = { limit: 100 }
    return (await callJson(api, { method: 'GET', path: '/v2/listeners', query }, page(Listener), options))
      .resources
  } catch (error) {
    if (error instanceof HttpError && error.status === 404) return []
    throw error
  }
}

/** `GET /v1/integrations/github/install`: the GitHub installations of the workspace. */
export function listGithubIntegrations(
  api: ControlPlane,
  options: CallOptions = {},
): Promise<GithubIntegration[]> {
  return callJson(
    api,
    { method: 'GET', path: '/v1/integrations/github/install' },
    z.array(GithubIntegration),
    options,
  )
}

/** `GET /v1/integrations/github/{id}/repos`: what one installation sees. */
export function listGithubRepositories(
  api: ControlPlane,
  integrationId: string,
  options: CallOptions = {},
): Promise<GithubRepository[]> {
  const path = `/v1/integrations/github/${segment(integrationId)}/repos`
  return callJson(api, { method: 'GET', path }, z.array(GithubRepository), options)
}
