/** A JSON-RPC error of the A2A endpoint: HTTP 200 and `{"error":{"code","message"}}`. */
export class RpcError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.name = 'RpcError'
    this.code = code
  }
}

/** The codes that the recorded servers use. */
export const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
export const INVALID_PARAMS = -32602
export const INTERNAL_ERROR = -32603
export const TASK_NOT_FOUND = -32001
export const TASK_NOT_CANCELABLE = -32002
export const UNSUPPORTED_OPERATION = -32004
export const CONTENT_TYPE_NOT_SUPPORTED = -32005

export function taskNotFound(id: string, contextId?: string): RpcError {
  const where = contextId === undefined ? '' : ` in context '${contextId}'`
  return new RpcError(TASK_NOT_FOUND, `Task not found: ${id}${where}`)
}
