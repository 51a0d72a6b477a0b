import * as z from 'zod/mini'
import { HttpError } from '../../http/errors.ts'
import { type CallOptions, type ControlPlane, callJson, segment } from './api.ts'
import { GithubIntegration, GithubRepository, Listener, page } from './wire.ts'

/** `GET /v2/listeners`; a service without listeners answers 404 or 405, which is an empty list here. */
export async function listListeners(api: ControlPlane, options: CallOptions = {}): Promise<Listener[]> {
  const query = { limit: 100 }
  const answer = callJson(api, { method: 'GET', path: '/v2/listeners', query }, page(Listener), options)
  return orElse(
    answer.then(({ resources }) => resources),
    [404, 405],
    [],
  )
}

/** `GET /v1/integrations/github/install`: the GitHub installations of the workspace; 404 is an empty list. */
export function listGithubIntegrations(
  api: ControlPlane,
  options: CallOptions = {},
): Promise<GithubIntegration[]> {
  const path = '/v1/integrations/github/install'
  return orElse(callJson(api, { method: 'GET', path }, z.array(GithubIntegration), options), [404, 405], [])
}

/**
 * `GET /v1/integrations/github/{id}/repos`: what one installation sees. One that was taken back or suspended is
 * refused, and sees nothing.
 */
export function listGithubRepositories(
  api: ControlPlane,
  integrationId: string,
  options: CallOptions = {},
): Promise<GithubRepository[]> {
  const path = `/v1/integrations/github/${segment(integrationId)}/repos`
  const answer = callJson(api, { method: 'GET', path }, z.array(GithubRepository), options)
  return orElse(answer, [400, 403, 404], [])
}

async function orElse<T>(answer: Promise<T>, statuses: readonly number[], fallback: T): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof HttpError && statuses.includes(error.status)) return fallback
    throw error
  }
}
