import type { Context } from 'hono'
import type { Engine } from '../engine.ts'
import { canonicalUuid } from '../ids.ts'
import type { Profile } from '../profile.ts'
import { empty, json } from '../profile.ts'
import type { Router } from '../router.ts'
import type { OpenStreams } from '../sse.ts'
import type { Assistant } from '../store/assistants.ts'
import type { AgentServerOptions } from '../types.ts'
import { agentCard, HISTORY_SCOPE_HEADER } from './card.ts'
import { INVALID_PARAMS, RpcError } from './errors.ts'
import { cancelTask, getTask, listTasks } from './manage.ts'
import { requireMessage } from './message.ts'
import type { RpcCall } from './rpc.ts'
import { isPascal, isStreaming, readCall, rpcError, rpcResult } from './rpc.ts'
import type { A2aServer } from './send.ts'
import { sendMessage } from './send.ts'
import { Shapes } from './shapes.ts'
import { streamMessage } from './stream.ts'
import { historyScope, Tasks } from './tasks.ts'

type Json = Record<string, unknown>

export interface A2aDeps {
  engine: Engine
  options: AgentServerOptions
  profile: Profile
  open: OpenStreams
}

const NOT_A_UUID = 'Invalid assistant ID: must be a UUID'
const FIRST_VERSION = [0, 4, 21] as const

/** Whether this server speaks A2A: the Python server does from 0.4.21 on, unless `http.disable_a2a` is set. */
export function offersA2a({ profile, disableA2a, agentVersion }: AgentServerOptions): boolean {
  if (profile !== 'python' || disableA2a) return false
  const version = agentVersion.split('.').map((part) => Number.parseInt(part, 10) || 0)
  for (const [index, needed] of FIRST_VERSION.entries()) {
    const have = version[index] ?? 0
    if (have !== needed) return have > needed
  }
  return true
}

/**
 * The A2A routes of one agent server: JSON-RPC at `/a2a/{assistant_id}` and the agent card. Adds nothing where A2A is
 * not offered, so that all its paths are 404. Auth has been done before.
 */
export function a2aRoutes(router: Router, deps: A2aDeps): void {
  if (!offersA2a(deps.options)) return
  const modern = deps.options.a2a === '1.0'
  const server = { ...deps, tasks: new Tasks(deps.engine, deps.options.a2a) }
  const call = (context: Context): Promise<Response> => answer(server, context)
  const card = (context: Context): Response => cardResponse(server, context.req.param('assistant_id'))

  router.add('POST', '/a2a/:assistant_id', call)
  router.add('GET', '/a2a/:assistant_id', modern ? card : () => empty(405))
  router.add('DELETE', '/a2a/:assistant_id', () => empty(405))
  router.add('GET', '/.well-known/agent-card.json', (context) =>
    cardResponse(server, context.req.query('assistant_id')),
  )
  const wrongMethod = (): Response =>
    json(405, { detail: 'Method Not Allowed' }, { allow: 'POST, GET, DELETE, HEAD' })
  router.app.on(['PUT', 'PATCH', 'OPTIONS'], '/a2a/:assistant_id', wrongMethod)
  if (!modern) return
  router.app.post('/a2a/:assistant_id/', call)
  router.add('GET', '/a2a/:assistant_id/.well-known/agent-card.json', card)
  router.add('GET', '/a2a/:assistant_id/.well-known/agent.json', card)
}

type Server = A2aServer & A2aDeps

function cardResponse(server: Server, reference: string | undefined): Response {
  try {
    if (reference === undefined || reference === '') {
      throw new RpcError(INVALID_PARAMS, 'Missing required query parameter: assistant_id')
    }
    const assistant = requireAssistant(server, reference, true)
    return json(200, agentCard(server.engine, server.options, assistant, reference))
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    return json(400, { error: { code: error.code, message: error.message } })
  }
}

/** `named`: the text of an id that is no UUID tells which one, as the card and 0.3 do. */
function requireAssistant({ engine, options }: Server, reference: string, named: boolean): Assistant {
  const id = canonicalUuid(reference)
  if (id === undefined) {
    const reason = options.a2a === '0.3' ? '422 Unprocessable Entity' : NOT_A_UUID
    const failed = `Failed to get assistant '${reference}': ${reason}`
    throw new RpcError(INVALID_PARAMS, named || options.a2a === '0.3' ? failed : NOT_A_UUID)
  }
  const assistant = engine.assistants.get(id)
  if (assistant === undefined) throw new RpcError(INVALID_PARAMS, `Assistant '${reference}' not found`)
  return assistant
}

async function answer(server: Server, context: Context): Promise<Response> {
  const headers = context.req.raw.headers
  const version = server.options.a2a
  const call = readCall(version, await context.req.text(), headers.get('accept'))
  if (call instanceof Response) return call
  const shapes = new Shapes(version, isPascal(call.method), () => server.engine.ids.v4())
  const reference = context.req.param('assistant_id') ?? ''
  try {
    if (version === '1.0' && canonicalUuid(reference) === undefined) {
      throw new RpcError(INVALID_PARAMS, NOT_A_UUID)
    }
    if (isStreaming(version, call.method)) return stream(server, call, reference, shapes)
    const scope = version === '1.0' ? historyScope(headers.get(HISTORY_SCOPE_HEADER)) : 'context'
    return json(200, rpcResult(call.id, await dispatch(server, call, reference, shapes, scope)))
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    return json(200, rpcError(call.id, error))
  }
}

async function dispatch(
  server: Server,
  { method, params }: RpcCall,
  reference: string,
  shapes: Shapes,
  scope: 'context' | 'task',
): Promise<Json> {
  const id = canonicalUuid(reference) ?? reference
  switch (method) {
    case 'message/send':
    case 'SendMessage': {
      requireMessage(server.options.a2a, params)
      const assistant = requireAssistant(server, reference, false)
      const task = await sendMessage(server, assistant, params, shapes, scope)
      return method === 'SendMessage' ? { task } : task
    }
    case 'tasks/get':
    case 'GetTask':
      return getTask(server, id, params, shapes, scope)
    case 'tasks/cancel':
    case 'CancelTask':
      return cancelTask(server, id, params, shapes)
    case 'ListTasks':
      return listTasks(server, id, params, shapes, scope)
    default:
      return agentCard(server.engine, server.options, requireAssistant(server, reference, true), reference)
  }
}

/** 1.0 answers a call without a message as JSON; everything else is an event of the stream. */
function stream(server: Server, call: RpcCall, reference: string, shapes: Shapes): Response {
  const version = server.options.a2a
  const pascal = isPascal(call.method)
  const message = version === '1.0' ? requireMessage(version, call.params) : call.params['message']
  return streamMessage(
    server,
    {
      id: call.id,
      pascal,
      message: () => asMessage(server, message),
      assistant: () => requireAssistant(server, reference, false),
    },
    shapes,
  )
}

function asMessage({ options }: Server, message: unknown): Json {
  return requireMessage(options.a2a, { message })
}
