import { empty, json } from '../profile.ts'
import { INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, RpcError } from './errors.ts'

type Json = Record<string, unknown>

/** `0.3` is the server up to 0.7.19 (recorded: 0.5.23), `1.0` the one from 0.14 (recorded: 0.16.7). */
export type A2aVersion = '0.3' | '1.0'

/** A JSON-RPC request that may be answered. */
export interface RpcCall {
  /** As it came, with its type; a number beyond 2^53 keeps its digits where the runtime can write them. */
  id: unknown
  method: string
  params: Json
}

/** The methods of each version; PascalCase names came with 1.0. */
const SLASH_METHODS = ['message/send', 'message/stream', 'tasks/get', 'tasks/cancel']
const PASCAL_METHODS = [
  'SendMessage',
  'SendStreamingMessage',
  'GetTask',
  'CancelTask',
  'ListTasks',
  'GetExtendedAgentCard',
]

/** A PascalCase method is answered in the words of A2A 1.0 (`TASK_STATE_COMPLETED`, `ROLE_AGENT`). */
export function isPascal(method: string): boolean {
  return PASCAL_METHODS.includes(method)
}

export function isStreaming(version: A2aVersion, method: string): boolean {
  return method === 'message/stream' || (version === '1.0' && method === 'SendStreamingMessage')
}

export function rpcResult(id: unknown, result: unknown): Json {
  return { jsonrpc: '2.0', id, result }
}

export function rpcError(id: unknown, error: RpcError): Json {
  return { jsonrpc: '2.0', id, error: { code: error.code, message: error.message } }
}

/**
 * Reads the body of a POST. Gives the call, or the answer to what is none.
 * The order of the checks is the recorded one: JSON, envelope, method, id, then `Accept`.
 */
export function readCall(version: A2aVersion, text: string, accept: string | null): RpcCall | Response {
  return version === '0.3' ? readCall03(text, accept) : readCall10(text, accept)
}

function readCall10(text: string, accept: string | null): RpcCall | Response {
  const refuse = (id: unknown, code: number, message: string): Response =>
    json(200, rpcError(id, new RpcError(code, message)))
  const body = parse(text)
  if (body === undefined) return refuse(null, PARSE_ERROR, 'Invalid JSON payload')
  if (!isObject(body)) return refuse(null, INVALID_REQUEST, 'Invalid message format: expected object')
  const id = exactId(body['id'], text)
  const answerable = id === undefined || isObject(id) || Array.isArray(id) ? null : id
  const { method } = body
  if (body['jsonrpc'] !== '2.0') {
    const message = 'Invalid JSON-RPC message: missing or invalid jsonrpc version'
    return refuse(answerable, INVALID_REQUEST, message)
  }
  if (method === undefined && ('result' in body || 'error' in body)) return empty(202)
  if (isObject(id) || Array.isArray(id)) {
    const message = "Invalid JSON-RPC request: 'id' must be a string, number, or null"
    return refuse(null, INVALID_REQUEST, message)
  }
  if (method === undefined) {
    return refuse(answerable, INVALID_REQUEST, "Invalid JSON-RPC request: missing 'method' field")
  }
  if (typeof method !== 'string') {
    return refuse(answerable, METHOD_NOT_FOUND, 'Method not found: method must be a string')
  }
  if (!SLASH_METHODS.includes(method) && !PASCAL_METHODS.includes(method)) {
    return refuse(answerable, METHOD_NOT_FOUND, `Method not found: ${method}`)
  }
  if (answerable === null) {
    const message = 'Invalid message format: must be a JSON-RPC request or notification'
    return refuse(null, INVALID_REQUEST, message)
  }
  const unacceptable = checkAccept('1.0', method, accept)
  if (unacceptable !== undefined) return unacceptable
  const params = body['params'] ?? {}
  if (!isObject(params)) return refuse(answerable, INVALID_PARAMS, 'Invalid params: must be an object')
  return { id: answerable, method, params }
}

function readCall03(text: string, accept: string | null): RpcCall | Response {
  const refuse = (message: string): Response => json(400, { error: message })
  const body = parse(text)
  if (body === undefined) return refuse('Invalid JSON payload')
  if (!isObject(body)) return refuse('Invalid message format')
  const { method } = body
  if (body['jsonrpc'] !== '2.0') {
    return refuse('Invalid JSON-RPC message. Missing or invalid jsonrpc version')
  }
  const id = exactId(body['id'], text)
  if (method === undefined || id === undefined || id === null) return empty(202)
  const unacceptable = checkAccept('0.3', String(method), accept)
  if (unacceptable !== undefined) return unacceptable
  if (typeof method !== 'string' || !SLASH_METHODS.includes(method)) {
    return json(200, rpcError(id, new RpcError(METHOD_NOT_FOUND, `Method not found: ${String(method)}`)))
  }
  const params = body['params'] ?? {}
  if (!isObject(params)) {
    const message = "Internal server error: 'list' object has no attribute 'get'"
    return json(200, rpcError(id, new RpcError(-32603, message)))
  }
  return { id, method, params }
}

/** The header is asked for, and must cover the type of the answer; the refusal has no JSON-RPC envelope. */
function checkAccept(version: A2aVersion, method: string, accept: string | null): Response | undefined {
  const streaming = isStreaming(version, method)
  const wanted = streaming ? 'text/event-stream' : 'application/json'
  const range = `${wanted.slice(0, wanted.indexOf('/'))}/*`
  const offered = (accept ?? '').split(',').map((item) => item.split(';')[0]?.trim().toLowerCase() ?? '')
  if (offered.some((item) => item === wanted || item === range || item === '*/*')) return undefined
  const purpose = streaming ? ' for streaming' : ''
  return json(400, { error: `Accept header must include ${wanted}${purpose}` })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/**
 * An `id` beyond 2^53 is echoed digit by digit by the real server. `JSON.rawJSON` (Node >= 22) can write it so; on an
 * older runtime it is rounded.
 */
function exactId(id: unknown, text: string): unknown {
  if (typeof id !== 'number' || Number.isSafeInteger(id)) return id
  const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown }
  for (const [, digits] of text.matchAll(/"id"\s*:\s*(-?\d[\d.eE+-]*)/g)) {
    if (digits !== undefined && Number(digits) === id) return rawJSON?.(digits) ?? id
  }
  return id
}

export function isObject(value: unknown): value is Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const { isRawJSON } = JSON as { isRawJSON?: (value: unknown) => boolean }
  return isRawJSON?.(value) !== true
}
