import { ProtocolError, type RequestFacts } from '../../http/errors.ts'
import type { Request } from '../../http/transport.ts'
import { displayUrl, join } from '../../http/url.ts'
import { isObject } from './dialect.ts'
import { JsonRpcError } from './rpc-error.ts'
import type { A2aConnection, CallOptions } from './types.ts'

/** Slash names: both generations of servers know them, and they answer with one shape. */
export type RpcMethod = 'message/send' | 'message/stream' | 'tasks/get'

export interface RpcRequest {
  readonly id: string
  readonly facts: RequestFacts
  readonly request: Request
}

/** What an error of one call says that it was. */
export function rpcFacts(connection: A2aConnection, assistantId: string, method: RpcMethod): RequestFacts {
  return { method: `POST (${method})`, url: displayUrl(endpoint(connection, assistantId)) }
}

function endpoint(connection: A2aConnection, assistantId: string): URL {
  return join(connection.url, `/a2a/${encodeURIComponent(assistantId)}`)
}

/** The HTTP request of one JSON-RPC call: `POST /a2a/{assistant_id}` (interface document, endpoint 13). */
export function rpcRequest(
  connection: A2aConnection,
  assistantId: string,
  method: RpcMethod,
  params: unknown,
  options: CallOptions,
): RpcRequest {
  const url = endpoint(connection, assistantId)
  const id = connection.newId()
  const timeoutMs = Math.max(1, options.deadline - connection.transport.clock.now())
  return {
    id,
    facts: rpcFacts(connection, assistantId, method),
    request: {
      method: 'POST',
      url,
      headers: {
        ...connection.headers,
        // Mandatory: without the fitting type the server answers 400, outside of JSON-RPC.
        accept: method === 'message/stream' ? 'text/event-stream' : 'application/json',
      },
      json: { jsonrpc: '2.0', id, method, params },
      timeoutMs,
      // message/send sends no byte before the agent is done: the deadline is the only limit there is.
      headersTimeoutMs: timeoutMs,
      idleTimeoutMs: timeoutMs,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    },
  }
}

/**
 * One call and its answer. Sent again only when the server provably did not take it.
 * @returns the member `result`
 * @throws JsonRpcError when the answer is an error, ProtocolError when it is no JSON-RPC answer to this call,
 *   and what the transport throws
 */
export async function rpcCall(
  connection: A2aConnection,
  assistantId: string,
  method: RpcMethod,
  params: unknown,
  options: CallOptions,
): Promise<unknown> {
  const { id, facts, request } = rpcRequest(connection, assistantId, method, params, options)
  const response = await connection.transport.sendWithRetry(request, {
    deadline: options.deadline,
    retries: 3,
  })
  return readRpcAnswer(facts, id, response.json())
}

/**
 * @param answer a JSON-RPC answer, of a body or of one event
 * @returns the member `result`
 * @throws JsonRpcError, ProtocolError
 */
export function readRpcAnswer(facts: RequestFacts, id: string, answer: unknown): unknown {
  if (!isObject(answer)) throw protocolError(facts, 'something that is not a JSON-RPC answer')
  const { error } = answer
  if (isObject(error)) {
    const code = typeof error['code'] === 'number' ? error['code'] : 0
    throw new JsonRpcError(facts, code, typeof error['message'] === 'string' ? error['message'] : '')
  }
  if (answer['result'] === undefined) {
    throw protocolError(facts, 'a JSON-RPC answer with neither a result nor an error')
  }
  if (answer['id'] !== id) throw protocolError(facts, 'a JSON-RPC answer to another request (its id differs)')
  return answer['result']
}

export function protocolError(facts: RequestFacts, what: string): ProtocolError {
  return new ProtocolError(facts, `${facts.method} ${facts.url} gave ${what}`, {
    hint: 'The server does not speak A2A as the agent server does. Look at what answers at the deployment URL: a proxy, or routes of your own under /a2a.',
  })
}
