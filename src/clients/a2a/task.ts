import { readTask } from './dialect.ts'
import { protocolError, rpcCall, rpcFacts } from './rpc.ts'
import type { A2aConnection, CallOptions, Task } from './types.ts'

/**
 * `tasks/get`: status and history of an earlier task; never its answer.
 * @param task `id` and `contextId`, both always: 0.3 servers refuse one without the other
 * @throws JsonRpcError (-32001: no such task), ProtocolError, and what the transport throws
 */
export async function getTask(
  connection: A2aConnection,
  assistantId: string,
  task: { readonly id: string; readonly contextId: string },
  options: CallOptions,
): Promise<Task> {
  const params = { id: task.id, contextId: task.contextId }
  const result = await rpcCall(connection, assistantId, 'tasks/get', params, options)
  const read = readTask(result)
  if (read === undefined) {
    throw protocolError(rpcFacts(connection, assistantId, 'tasks/get'), 'a result that is no task')
  }
  return read
}
