/**
 * Reads what A2A endpoints send into one shape. Four generations are recorded: 0.3 (`kind` members, lower-case
 * states, plain run ids), the same slash methods of the 1.0 servers, their Pascal-case answers
 * (`result.task`, `TASK_STATE_…`, `ROLE_…`), and the strict 1.0 wrappers (`statusUpdate`, `artifactUpdate`)
 * that the published clients want. Nothing here throws: what cannot be read is undefined.
 */
import type { Artifact, HistoryEntry, Task, TaskEvent, TaskState } from './types.ts'

export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `TASK_STATE_INPUT_REQUIRED` and `input-required` are the same state; "" when it is not a text. */
export function readState(value: unknown): TaskState {
  if (typeof value !== 'string') return ''
  const state = value
    .replace(/^TASK_STATE_/i, '')
    .toLowerCase()
    .replaceAll('_', '-')
  return state === 'cancelled' ? 'canceled' : state
}

/** The result of `message/send` and `tasks/get`, as it is or inside `task`. */
export function readTask(result: unknown): Task | undefined {
  const task = isObject(result) && isObject(result['task']) ? result['task'] : result
  if (!isObject(task) || !isObject(task['status'])) return undefined
  const { id, contextId } = task
  const state = readState(task['status']['state'])
  if (typeof id !== 'string' || id === '' || typeof contextId !== 'string' || contextId === '')
    return undefined
  if (state === '') return undefined
  return {
    id,
    contextId,
    state,
    statusText: messageText(task['status']['message']),
    artifacts: list(task['artifacts']).map(readArtifact),
    history: list(task['history']).flatMap(readEntry),
  }
}

/** One event of `message/stream`. */
export function readEvent(result: unknown): TaskEvent | undefined {
  if (!isObject(result)) return undefined
  const status = result['statusUpdate'] ?? (result['kind'] === 'status-update' ? result : undefined)
  if (isObject(status)) return readStatusUpdate(status)
  const update = result['artifactUpdate'] ?? (result['kind'] === 'artifact-update' ? result : undefined)
  if (isObject(update)) return readArtifactUpdate(update)
  const task = readTask(result)
  return task === undefined ? undefined : { kind: 'task', task }
}

function readStatusUpdate(update: JsonObject): TaskEvent | undefined {
  const ids = readIds(update)
  const status = update['status']
  if (ids === undefined || !isObject(status)) return undefined
  const state = readState(status['state'])
  if (state === '') return undefined
  return {
    kind: 'status',
    ...ids,
    state,
    text: messageText(status['message']),
    final: update['final'] === true,
  }
}

function readArtifactUpdate(update: JsonObject): TaskEvent | undefined {
  const ids = readIds(update)
  const artifact = update['artifact']
  if (ids === undefined || !isObject(artifact)) return undefined
  return { kind: 'artifact', ...ids, artifact: readArtifact(artifact), append: update['append'] === true }
}

function readIds(update: JsonObject): { taskId: string; contextId: string } | undefined {
  const { taskId, contextId } = update
  return typeof taskId === 'string' && typeof contextId === 'string' ? { taskId, contextId } : undefined
}

/** An artifact that has no text (the question of an interrupt is `data`) is told as its JSON. */
function readArtifact(value: unknown): Artifact {
  if (!isObject(value)) return { id: '', text: '' }
  const id = typeof value['artifactId'] === 'string' ? value['artifactId'] : ''
  const parts = list(value['parts'])
  return { id, text: partsText(parts) ?? parts.map(dataText).join('\n') }
}

function readEntry(value: unknown): HistoryEntry[] {
  if (!isObject(value)) return []
  const role = /^(ROLE_)?user$/i.test(String(value['role'])) ? 'user' : 'agent'
  return [{ role, text: partsText(list(value['parts'])) ?? '' }]
}

/** Text of a message; undefined when there is no message or none of its parts is text. */
function messageText(message: unknown): string | undefined {
  return isObject(message) ? partsText(list(message['parts'])) : undefined
}

/** Texts of the parts by line ends; undefined when none is text. `kind` may be missing (1.0). */
function partsText(parts: readonly unknown[]): string | undefined {
  const texts = parts.flatMap((part) => {
    if (!isObject(part) || part['text'] === undefined || part['text'] === null) return []
    return [contentText(part['text'])]
  })
  return texts.length === 0 ? undefined : texts.join('\n')
}

/** 0.5 hands on the model's content blocks: `[{"type":"text","text":"…"}]`. */
function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return JSON.stringify(content)
  return content
    .map((block) => {
      if (typeof block === 'string') return block
      return isObject(block) && typeof block['text'] === 'string' ? block['text'] : ''
    })
    .join('')
}

function dataText(part: unknown): string {
  return isObject(part) && part['data'] !== undefined ? JSON.stringify(part['data']) : ''
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
