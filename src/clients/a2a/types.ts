import type { Transport } from '../../http/transport.ts'

/** Where an agent server is, and what every request to it carries. */
export interface A2aConnection {
  readonly transport: Transport
  /** Deployment URL; a path prefix is kept. */
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** A new unique id, for JSON-RPC ids and `messageId`. */
  readonly newId: () => string
}

export interface CallOptions {
  /** Milliseconds since 1970, on the transport's clock, at which the call ends, whatever comes. */
  readonly deadline: number
  readonly signal?: AbortSignal
}

/**
 * What a task says of itself, in lower case with dashes in every dialect: `submitted`, `working`,
 * `completed`, `failed`, `canceled`, `rejected`, `input-required`, `auth-required`, or a word that nobody
 * here knows.
 */
export type TaskState = string

/** A task, the same shape whichever dialect it came in. */
export interface Task {
  /** Opaque: a run id (A2A 0.3), or `<contextId>:<runId>` (1.0). */
  readonly id: string
  readonly contextId: string
  readonly state: TaskState
  /** Text of `status.message`; undefined when there is none. */
  readonly statusText: string | undefined
  readonly artifacts: readonly Artifact[]
  readonly history: readonly HistoryEntry[]
}

export interface Artifact {
  readonly id: string
  readonly text: string
}

export interface HistoryEntry {
  readonly role: 'user' | 'agent'
  readonly text: string
}

/** One event of `message/stream`. */
export type TaskEvent =
  | { readonly kind: 'task'; readonly task: Task }
  | {
      readonly kind: 'status'
      readonly taskId: string
      readonly contextId: string
      readonly state: TaskState
      readonly text: string | undefined
      /** The server says that nothing follows. */
      readonly final: boolean
    }
  | {
      readonly kind: 'artifact'
      readonly taskId: string
      readonly contextId: string
      readonly artifact: Artifact
      /** The text continues the artifact of this id; else it stands in its place. */
      readonly append: boolean
    }

/** What is sent: one text of a user. */
export interface OutgoingMessage {
  readonly text: string
  readonly messageId: string
  readonly contextId?: string
  readonly taskId?: string
}

/** What came back for one message. */
export interface Answer {
  readonly taskId: string
  readonly contextId: string
  readonly state: TaskState
  /** Remote text: the agent's own words, or those of a failure. */
  readonly text: string
  /** False when a stream closed before the task came to an end. */
  readonly ended: boolean
}

/** The states after which a task takes no more messages. */
export const TERMINAL_STATES: ReadonlySet<TaskState> = new Set([
  'completed',
  'failed',
  'canceled',
  'rejected',
])
