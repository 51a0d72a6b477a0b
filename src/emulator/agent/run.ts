import type { RunError } from './errors.ts'

export type RunStatus = 'pending' | 'running' | 'success' | 'error' | 'timeout' | 'interrupted'

export type StreamMode =
  | 'values'
  | 'messages'
  | 'messages-tuple'
  | 'tasks'
  | 'checkpoints'
  | 'updates'
  | 'events'
  | 'debug'
  | 'custom'
  | 'tools'

export type MultitaskStrategy = 'reject' | 'rollback' | 'interrupt' | 'enqueue'

/** One event of a run, before it is written as SSE. `data` is JSON. */
export interface RunEvent {
  /** `<milliseconds>-0`, not unique, as recorded; the JavaScript profile counts from 0. */
  id: string
  event: string
  data: unknown
  /** The mode that asked for it; undefined for `metadata`, `feedback` and `error`. */
  mode: StreamMode | undefined
}

/** Everything that a caller may ask of a run. Names are those of the request body, in camel case. */
export interface RunRequest {
  assistantId: string
  /** Undefined and null both mean no input. */
  input?: unknown
  command?: Record<string, unknown> | null
  config?: Record<string, unknown>
  context?: Record<string, unknown>
  metadata?: Record<string, unknown>
  checkpointId?: string
  /** Empty means `values`. */
  streamMode?: readonly StreamMode[]
  streamSubgraphs?: boolean
  streamResumable?: boolean
  feedbackKeys?: readonly string[] | null
  interruptBefore?: '*' | readonly string[] | null
  interruptAfter?: '*' | readonly string[] | null
  multitaskStrategy?: MultitaskStrategy
  ifNotExists?: 'create' | 'reject'
  /** Seconds to wait before the run may start. */
  afterSeconds?: number
  webhook?: string | null
  durability?: string
  /** Deletes the thread at the end: a stateless run without `on_completion: keep`. */
  temporary?: boolean
  /** `X-Request-Id` of the request, which becomes `configurable.langgraph_request_id`. */
  requestId?: string
}

/** An interrupt that a run stopped at. */
export interface Interrupt {
  id: string
  value: unknown
}

type Listener = (event: RunEvent | undefined) => void

/** A run: its wire fields, its event log and those who listen to it. The executor drives it. */
export class Run {
  readonly id: string
  readonly threadId: string
  readonly assistantId: string
  readonly graphId: string
  readonly request: RunRequest
  readonly streamModes: readonly StreamMode[]
  readonly createdAt: string
  readonly metadata: Record<string, unknown>
  /** `config` as the run uses it (and `kwargs.config` tells it): merged from assistant, thread and run. */
  readonly config: Record<string, unknown>
  readonly context: Record<string, unknown>
  /** Aborted when the run is cancelled, its thread is deleted or the server closes. */
  readonly abort = new AbortController()
  updatedAt: string
  status: RunStatus = 'pending'
  error: RunError | undefined
  /** The last state that a `values` event showed or would have shown, `__interrupt__` included. */
  lastValues: Record<string, unknown> | undefined
  feedback: Record<string, string> | undefined
  interrupts: readonly Interrupt[] = []
  /** Ids of the messages that this run put into the state: its input's and its answers'. */
  readonly messageIds = new Set<string>()
  /** The newest checkpoint that this run wrote. */
  checkpointId: string | undefined
  /** The thread or the run itself was deleted while somebody listened. */
  deleted = false
  readonly #log: RunEvent[] = []
  readonly #listeners = new Set<Listener>()
  readonly #done: Promise<void>
  #resolveDone = (): void => {}
  #ended = false

  constructor(
    fields: Pick<
      Run,
      'id' | 'threadId' | 'assistantId' | 'graphId' | 'request' | 'streamModes' | 'createdAt' | 'metadata'
    > & { config: Record<string, unknown>; context: Record<string, unknown>; updatedAt: string },
  ) {
    this.#done = new Promise((resolve) => {
      this.#resolveDone = resolve
    })
    this.id = fields.id
    this.threadId = fields.threadId
    this.assistantId = fields.assistantId
    this.graphId = fields.graphId
    this.request = fields.request
    this.streamModes = fields.streamModes
    this.createdAt = fields.createdAt
    this.updatedAt = fields.updatedAt
    this.metadata = fields.metadata
    this.config = fields.config
    this.context = fields.context
  }

  /** True when the run is neither waiting nor working any more. */
  get ended(): boolean {
    return this.#ended
  }

  /** Resolves when the run has ended, however it ended; never rejects. */
  get done(): Promise<void> {
    return this.#done
  }

  /** Keeps an event (only a resumable run can replay it) and hands it to the listeners. */
  publish(event: RunEvent, replayable = true): void {
    if (this.#ended) return
    if (this.request.streamResumable === true && replayable) this.#log.push(event)
    for (const listener of [...this.#listeners]) listener(event)
  }

  /** Marks the end: wakes those who wait, and closes the streams. */
  end(): void {
    if (this.#ended) return
    this.#ended = true
    for (const listener of [...this.#listeners]) listener(undefined)
    this.#listeners.clear()
    this.#resolveDone()
  }

  /** The kept events for which `wanted` holds, in order. */
  replay(wanted: (event: RunEvent) => boolean): RunEvent[] {
    return this.#log.filter(wanted)
  }

  /**
   * Calls `listener` for each event from now on, and with undefined once at the end (at once when the run has
   * ended already). Gives the function that stops it.
   */
  listen(listener: Listener): () => void {
    if (this.#ended) {
      listener(undefined)
      return () => {}
    }
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The run's events from now on, until it ends. Subscribe in the turn in which the run was started to miss none. */
  events(): AsyncIterableIterator<RunEvent> {
    const queue: (RunEvent | undefined)[] = []
    let wake: (() => void) | undefined
    const stop = this.listen((event) => {
      queue.push(event)
      wake?.()
    })
    async function* drain(): AsyncGenerator<RunEvent> {
      try {
        for (;;) {
          while (queue.length > 0) {
            const event = queue.shift()
            if (event === undefined) return
            yield event
          }
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      } finally {
        stop()
      }
    }
    return drain()
  }
}
