import { RequestError, type RequestFacts } from '../../http/errors.ts'

/** Codes of the A2A endpoint (JSON-RPC 2.0; A2A specification, section 8). */
export const RPC = {
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  taskNotFound: -32001,
  unsupported: -32004,
  contentType: -32005,
} as const

/** The endpoint answered with a JSON-RPC error: mostly under HTTP 200, in a stream as its only event. */
export class JsonRpcError extends RequestError {
  readonly code: number
  /** The server's words: remote text. */
  readonly remoteMessage: string

  constructor(request: RequestFacts, code: number, remoteMessage: string) {
    super(request, `${request.method} ${request.url} answered JSON-RPC error ${code}: ${remoteMessage}`)
    this.code = code
    this.remoteMessage = remoteMessage
  }
}
