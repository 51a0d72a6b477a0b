/** What a deployment may be built from or run on: GitHub installations and listeners. */
import { Problem } from '../wire/problem.ts'
import { pathUuid, Query } from '../wire/request.ts'
import { page } from './deployments.ts'
import type { Call, Route } from './router.ts'

function installations({ state }: Call): Response {
  return Response.json(
    state.integrations.map(({ id, installation_id: installationId, name }) => ({
      id,
      installation_id: installationId,
      name,
    })),
  )
}

function repositories({ state, params }: Call): Response {
  const id = pathUuid(params.integration_id, 'integration_id')
  const integration = state.integrations.find((candidate) => candidate.id === id)
  if (!integration) throw new Problem(404, `GitHub integration ${id} not found`)
  return Response.json(
    integration.repositories.map((repository) => ({ host_integration_id: integration.id, ...repository })),
  )
}

function listeners({ state, request }: Call): Response {
  return page(state.listeners, new Query(request.url), (listener) => listener)
}

function listener({ state, params }: Call): Response {
  const id = pathUuid(params.listener_id, 'listener_id')
  const found = state.listeners.find((candidate) => candidate.id === id)
  if (!found) throw new Problem(404, `Listener ID ${id} not found.`)
  return Response.json(found)
}

export const placeRoutes: readonly Route[] = [
  ['GET', '/v1/integrations/github/install', installations],
  ['GET', '/v1/integrations/github/{integration_id}/repos', repositories],
  ['GET', '/v2/listeners', listeners],
  ['GET', '/v2/listeners/{listener_id}', listener],
]
