/** `/v2/auth/providers` (interface document, endpoint 1). Answers never show `client_secret`. */
import { newId } from '../ids.ts'
import type { EmulatorState, Provider } from '../state.ts'
import { Problem } from '../wire/problem.ts'
import { readBody } from '../wire/request.ts'
import { bool, literal, nullable, object, optional, required, text } from '../wire/schema.ts'
import type { Call, Route } from './router.ts'
import { isoTime } from './view.ts'

const createBody = object({
  provider_id: required(text({ min: 1 })),
  name: required(text()),
  client_id: required(text()),
  client_secret: optional(nullable(text())),
  auth_url: required(text()),
  token_url: required(text()),
  uses_pkce: optional(bool),
  code_challenge_method: optional(text()),
  provider_type: optional(nullable(literal('microsoft', 'salesforce', 'slack'))),
  token_endpoint_auth_method: optional(literal('none', 'client_secret_basic', 'client_secret_post')),
})

/** Neither `provider_type` nor `token_endpoint_auth_method`: these stay. */
const updateBody = object({
  name: optional(nullable(text())),
  client_id: optional(nullable(text())),
  client_secret: optional(nullable(text())),
  auth_url: optional(nullable(text())),
  token_url: optional(nullable(text())),
  uses_pkce: optional(nullable(bool)),
  code_challenge_method: optional(nullable(text())),
})

function view({ client_secret: _secret, ...shown }: Provider): object {
  return shown
}

function find(state: EmulatorState, id: string | undefined): Provider {
  const provider = state.providers.find(({ provider_id: providerId }) => providerId === id)
  if (!provider) throw new Problem(404, `OAuth provider '${id}' not found`)
  return provider
}

async function create({ state, request }: Call): Promise<Response> {
  const body = await readBody(request, createBody)
  if (state.providers.some(({ provider_id: id }) => id === body.provider_id)) {
    throw new Problem(409, `OAuth provider with provider_id '${body.provider_id}' already exists`)
  }
  const now = isoTime(state.clock.now())
  const provider: Provider = {
    id: newId(),
    organization_id: state.organizationId,
    provider_id: body.provider_id,
    name: body.name,
    client_id: body.client_id,
    client_secret: body.client_secret ?? null,
    auth_url: body.auth_url,
    token_url: body.token_url,
    uses_pkce: body.uses_pkce ?? false,
    code_challenge_method: body.code_challenge_method ?? 'S256',
    provider_type: body.provider_type ?? null,
    mcp_server_url: null,
    token_endpoint_auth_method: body.token_endpoint_auth_method ?? 'client_secret_post',
    is_dynamic_client: false,
    created_at: now,
    updated_at: now,
  }
  state.providers.push(provider)
  return Response.json(view(provider))
}

async function update({ state, request, params }: Call): Promise<Response> {
  const provider = find(state, params.provider_id)
  const body = await readBody(request, updateBody)
  for (const [name, value] of Object.entries(body)) {
    if (value !== null && value !== undefined) Object.assign(provider, { [name]: value })
  }
  provider.updated_at = isoTime(state.clock.now())
  return Response.json(view(provider))
}

function remove({ state, params }: Call): Response {
  state.providers.splice(state.providers.indexOf(find(state, params.provider_id)), 1)
  return Response.json({})
}

export const providerRoutes: readonly Route[] = [
  ['GET', '/v2/auth/providers', ({ state }) => Response.json(state.providers.map(view))],
  ['POST', '/v2/auth/providers', create],
  [
    'GET',
    '/v2/auth/providers/{provider_id}',
    ({ state, params }) => Response.json(view(find(state, params.provider_id))),
  ],
  ['PATCH', '/v2/auth/providers/{provider_id}', update],
  ['DELETE', '/v2/auth/providers/{provider_id}', remove],
]
