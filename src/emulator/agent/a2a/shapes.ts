import { pythonRepr } from '../python.ts'
import type { A2aVersion } from './rpc.ts'
import { isObject } from './rpc.ts'

type Json = Record<string, unknown>

/** Task states in the words of the slash methods. */
export type TaskState = 'submitted' | 'working' | 'completed' | 'failed' | 'canceled' | 'input-required'

/** Task and context of a message or an event. */
export interface TaskRef {
  id: string
  contextId: string
}

/**
 * The wire shapes of one answer: key order and place of `kind` follow the version, states and roles follow the
 * method's spelling (`message/send` or `SendMessage`).
 */
export class Shapes {
  readonly version: A2aVersion
  readonly #pascal: boolean
  readonly #newId: () => string

  constructor(version: A2aVersion, pascal: boolean, newId: () => string) {
    this.version = version
    this.#pascal = pascal
    this.#newId = newId
  }

  state(state: TaskState): string {
    return this.#pascal ? `TASK_STATE_${state.toUpperCase().replace('-', '_')}` : state
  }

  role(role: 'user' | 'agent'): string {
    return this.#pascal ? `ROLE_${role.toUpperCase()}` : role
  }

  /** A message of the history or of a status. `contextId` is left out where the server leaves it out. */
  message(
    fields: { role: 'user' | 'agent'; parts: Json[]; messageId?: string },
    task: { id: string; contextId?: string },
  ): Json {
    const { role, parts, messageId = this.#newId() } = fields
    const context = task.contextId === undefined ? {} : { contextId: task.contextId }
    return this.#kind('message', { role: this.role(role), parts, messageId, taskId: task.id, ...context })
  }

  /** What an agent says in a status. */
  says(text: unknown, task: { id: string; contextId?: string }): Json {
    return this.message({ role: 'agent', parts: [{ kind: 'text', text }] }, task)
  }

  /** The user's message as it was sent, with the ids that it got; members that it has keep their place. */
  echo(raw: Json, task: TaskRef): Json {
    const ids = { taskId: task.id, contextId: task.contextId }
    const { kind: _kind, ...message } = raw
    const known = raw['role'] === 'user' || raw['role'] === 'ROLE_USER'
    const role = this.version === '1.0' && known ? { role: this.role('user') } : {}
    return this.#kind('message', { ...message, ...role, ...ids })
  }

  task(task: TaskRef, members: { history?: Json[]; status: Json; artifacts?: Json[] }): Json {
    const { history, status, artifacts } = members
    const told = history === undefined ? {} : { history }
    const made = artifacts === undefined ? {} : { artifacts }
    if (this.version === '1.0') {
      return { kind: 'task', id: task.id, contextId: task.contextId, ...told, status, ...made }
    }
    return { id: task.id, contextId: task.contextId, ...told, kind: 'task', status, ...made }
  }

  status(task: TaskRef, status: Json, final: boolean): Json {
    return { taskId: task.id, contextId: task.contextId, kind: 'status-update', status, final }
  }

  artifactUpdate(task: TaskRef, artifact: Json, whole: boolean): Json {
    const ends = whole ? { append: false, lastChunk: true } : {}
    return { taskId: task.id, contextId: task.contextId, kind: 'artifact-update', artifact, ...ends }
  }

  answerArtifact(assistantId: string, text: unknown): Json {
    return {
      artifactId: this.#newId(),
      name: 'Assistant Response',
      description: `Response from assistant ${assistantId}`,
      parts: [{ kind: 'text', text }],
    }
  }

  interruptArtifact(interrupts: readonly { id: string; value: unknown }[]): Json {
    return {
      artifactId: this.#newId(),
      name: 'Interrupt',
      description: 'Agent requires input to continue',
      parts: interrupts.map(({ id, value }) => ({ kind: 'data', data: { id, value } })),
    }
  }

  /** The parts of a message that is in the state. 0.3 prints blocks as Python would (recorded: 7-send-blocks). */
  parts(content: unknown): Json[] {
    if (typeof content === 'string') return [{ kind: 'text', text: content }]
    if (this.version === '0.3') return [{ kind: 'text', text: pythonRepr(content) }]
    const files = blocks(content).filter((block) => block['type'] === 'file')
    const fileParts = files.map(({ bytes, uri, mimeType, name }) => ({
      kind: 'file',
      file: dropUndefined({ bytes, uri, mimeType, name }),
    }))
    const hasText = blocks(content).some((block) => block['type'] !== 'file')
    const text = hasText ? [{ kind: 'text', text: flatText(content) }] : []
    return [...text, ...fileParts]
  }

  #kind(kind: string, members: Json): Json {
    return this.version === '1.0' ? { kind, ...members } : { ...members, kind }
  }
}

/** The text of a message's content: itself, or its text blocks joined. */
export function flatText(content: unknown): string {
  if (typeof content === 'string') return content
  return blocks(content)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('')
}

function blocks(content: unknown): Json[] {
  if (!Array.isArray(content)) return []
  return content.map((block) => (isObject(block) ? block : { type: 'text', text: String(block) }))
}

function dropUndefined(members: Json): Json {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}
