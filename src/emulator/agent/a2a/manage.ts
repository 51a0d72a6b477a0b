import { canonicalUuid } from '../ids.ts'
import {
  INVALID_PARAMS,
  RpcError,
  TASK_NOT_CANCELABLE,
  TASK_NOT_FOUND,
  taskNotFound,
  UNSUPPORTED_OPERATION,
} from './errors.ts'
import type { A2aServer } from './send.ts'
import { nowOf } from './send.ts'
import type { Shapes, TaskState } from './shapes.ts'
import type { Task } from './tasks.ts'
import { historyLength } from './tasks.ts'

type Json = Record<string, unknown>

const DEFAULT_PAGE_SIZE = 50
const MAX_PAGE_SIZE = 100

/** `tasks/get`: a task without its artifacts; a sentence of the server's own in place of the answer. */
export function getTask(
  server: A2aServer,
  assistantId: string,
  params: Json,
  shapes: Shapes,
  scope: 'context' | 'task',
): Json {
  const modern = server.options.a2a === '1.0'
  const { id, contextId } = taskParams(server, params)
  const length = historyLength(params['historyLength'])
  const task = server.tasks.find(assistantId, id, contextId)
  if (task === undefined) throw modern ? taskNotFound(id, contextId) : unknownTask03(id, contextId)
  const message = statusMessage(server, task, shapes)
  const status = {
    state: shapes.state(server.tasks.state(task)),
    ...(modern ? { timestamp: server.tasks.lastRun(task).updatedAt } : {}),
    ...(message === undefined ? {} : { message }),
  }
  const wanted = modern ? length : length || undefined
  const history = wanted === 0 ? undefined : server.tasks.history(task, shapes, { scope, length: wanted })
  if (!modern) return shapes.task(task, { ...(history === undefined ? {} : { history }), status })
  const { kind, id: taskId, contextId: context } = shapes.task(task, { status })
  return { kind, id: taskId, contextId: context, status, ...(history === undefined ? {} : { history }) }
}

function unknownTask03(id: string, contextId: string | undefined): RpcError {
  if (canonicalUuid(id) === undefined) {
    return new RpcError(INVALID_PARAMS, 'Failed to get task: 422 Unprocessable Entity')
  }
  return new RpcError(TASK_NOT_FOUND, `Task '${id}' not found in thread '${contextId}'`)
}

/** 0.3 leaves its `kind` out, and both leave out its context. */
function statusMessage(server: A2aServer, task: Task, shapes: Shapes): Json | undefined {
  const state = server.tasks.state(task)
  if (state !== 'completed' && state !== 'failed') return undefined
  const failed = `Task failed with status: ${server.tasks.lastRun(task).status}`
  const said = shapes.says(state === 'failed' ? failed : 'Task completed successfully', { id: task.id })
  const { kind: _kind, ...bare } = said
  return server.options.a2a === '0.3' ? bare : said
}

/** `tasks/cancel`: only a task that works, waits, or asks can be cancelled; 0.3 cancels nothing. */
export async function cancelTask(
  server: A2aServer,
  assistantId: string,
  params: Json,
  shapes: Shapes,
): Promise<Json> {
  if (server.options.a2a === '0.3') {
    throw new RpcError(UNSUPPORTED_OPERATION, 'Task cancellation is not currently supported')
  }
  const { id, contextId } = taskParams(server, params)
  const task = server.tasks.find(assistantId, id, contextId)
  if (task === undefined) throw taskNotFound(id, contextId)
  if (server.tasks.isTerminal(task)) {
    throw new RpcError(TASK_NOT_CANCELABLE, 'Task is not cancelable in its current state')
  }
  for (const run of [...task.runs].reverse()) if (server.engine.cancel(run)) await run.done
  if (server.tasks.state(task) === 'input-required') server.engine.dropQuestion(task.contextId)
  task.canceled = true
  const message = shapes.says('Task was canceled', { id: task.id })
  return shapes.task(task, { status: { state: shapes.state('canceled'), ...nowOf(server), message } })
}

/** `ListTasks`: the assistant's tasks, newest first, without artifacts. */
export function listTasks(
  server: A2aServer,
  assistantId: string,
  params: Json,
  shapes: Shapes,
  scope: 'context' | 'task',
): Json {
  const length = historyLength(params['historyLength'])
  const pageSize = pageNumber(params['pageSize'], 'pageSize', DEFAULT_PAGE_SIZE, 1, MAX_PAGE_SIZE)
  const offset = pageNumber(params['pageToken'] || undefined, 'pageToken', 0, 0, Number.MAX_SAFE_INTEGER)
  const { contextId, status } = params
  // What a protobuf client sends for no filter.
  const filters = typeof status === 'string' && !['', 'TASK_STATE_UNSPECIFIED'].includes(status)
  const wanted = filters ? status : undefined
  const found = server.tasks.all(assistantId).filter((task) => {
    if (typeof contextId === 'string' && contextId !== '' && task.contextId !== contextId) return false
    return wanted === undefined || shapes.state(server.tasks.state(task)) === wanted
  })
  const page = found.slice(offset, offset + pageSize)
  const next = offset + page.length
  return {
    tasks: page.map((task) => listed(server, task, shapes, { scope, length })),
    totalSize: found.length,
    pageSize,
    nextPageToken: next < found.length ? String(next) : '',
  }
}

function listed(
  server: A2aServer,
  task: Task,
  shapes: Shapes,
  options: { scope: 'context' | 'task'; length: number | undefined },
): Json {
  const state: TaskState = server.tasks.state(task)
  const status = { state: shapes.state(state), timestamp: server.tasks.lastRun(task).updatedAt }
  const history = options.length === 0 ? {} : { history: server.tasks.history(task, shapes, options) }
  return { kind: 'task', id: task.id, contextId: task.contextId, status, artifacts: [], ...history }
}

function pageNumber(value: unknown, name: string, fallback: number, min: number, max: number): number {
  if (value === undefined || value === null) return fallback
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  if (typeof number !== 'number' || !Number.isInteger(number) || number < min || number > max) {
    throw new RpcError(INVALID_PARAMS, `${name} must be an integer from ${min} to ${max}`)
  }
  return number
}

function taskParams({ options }: A2aServer, params: Json): { id: string; contextId: string | undefined } {
  const { id, contextId } = params
  if (id === undefined || id === null || id === '') {
    throw new RpcError(INVALID_PARAMS, 'Missing required parameter: id (task_id)')
  }
  const missing = contextId === undefined || contextId === null || contextId === ''
  if (options.a2a === '0.3' && missing) {
    throw new RpcError(INVALID_PARAMS, 'Missing required parameter: contextId (thread_id)')
  }
  if (typeof id !== 'string' || (!missing && typeof contextId !== 'string')) {
    throw new RpcError(INVALID_PARAMS, 'Task id and contextId must be strings')
  }
  return { id, contextId: missing ? undefined : (contextId as string) }
}
