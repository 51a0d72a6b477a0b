import { HttpError } from '../errors.ts'
import type { State } from '../graphs.ts'
import type { IdSource } from '../ids.ts'
import { canonicalUuid } from '../ids.ts'
import type { Interrupt, Run, RunEvent } from '../run.ts'
import { contains } from './assistants.ts'

type Json = Record<string, unknown>

export type ThreadStatus = 'idle' | 'busy' | 'interrupted' | 'error'

/** A task of a checkpoint: a node that is to run, failed, or stopped to ask. */
export interface CheckpointTask {
  id: string
  name: string
  error: string | null
  interrupts: Interrupt[]
}

/** A saved point of a thread. `values` holds the channels of all graphs that ran on the thread. */
export interface Checkpoint {
  id: string
  parentId: string | null
  createdAt: string
  values: State
  next: readonly string[]
  tasks: CheckpointTask[]
  step: number
  source: 'input' | 'loop' | 'update' | 'fork'
  metadata: Json
}

export interface Thread {
  id: string
  createdAt: string
  updatedAt: string
  stateUpdatedAt: string
  metadata: Json
  status: ThreadStatus
  config: Json
  /** The output of the last graph; undefined until a run wrote one. */
  values: Json | undefined
  error: { error: string; message: string } | null
  interrupts: Record<string, Interrupt[]>
  /** True when a run has ended on it: only then `error` and `interrupts` are told. */
  ran: boolean
  /** Who made it: told in the order of its keys, as recorded (`run`: `if_not_exists`, stateless). */
  origin: 'caller' | 'run' | 'copy'
  /** Oldest first. */
  checkpoints: Checkpoint[]
  /** Oldest first. */
  runs: Map<string, Run>
  /** Those who follow the whole thread; undefined tells them that it is gone. */
  listeners: Set<(event: RunEvent | undefined) => void>
}

/** Older checkpoints are dropped, so that a long conversation does not grow without bound. */
const MAX_CHECKPOINTS = 400
/** Older threads that nothing runs on are forgotten, oldest first, for the same reason. */
const MAX_THREADS = 10_000

/** The threads of one server. */
export class ThreadStore {
  readonly #byId = new Map<string, Thread>()
  readonly #ids: IdSource
  readonly #timestamp: () => string

  constructor(deps: { ids: IdSource; timestamp: () => string }) {
    this.#ids = deps.ids
    this.#timestamp = deps.timestamp
  }

  /** Makes a thread. Throws 409 when the id is taken and `ifExists` is `raise`, 422 when it is no UUID. */
  create(
    fields: {
      id?: string
      metadata?: Json
      ifExists?: 'raise' | 'do_nothing'
      origin?: Thread['origin']
    } = {},
  ): Thread {
    const id = fields.id === undefined ? this.#ids.v7() : canonicalUuid(fields.id)
    if (id === undefined) throw new HttpError(422, 'Invalid thread ID: must be a UUID')
    const known = this.#byId.get(id)
    if (known !== undefined) {
      if (fields.ifExists === 'do_nothing') return known
      throw new HttpError(409, `Thread with ID ${id} already exists`)
    }
    const now = this.#timestamp()
    const thread: Thread = {
      id,
      createdAt: now,
      updatedAt: now,
      stateUpdatedAt: now,
      metadata: fields.metadata ?? {},
      status: 'idle',
      config: {},
      values: undefined,
      error: null,
      interrupts: {},
      ran: false,
      origin: fields.origin ?? 'caller',
      checkpoints: [],
      runs: new Map(),
      listeners: new Set(),
    }
    this.#byId.set(id, thread)
    this.#forgetOldest()
    return thread
  }

  get(id: string): Thread | undefined {
    return this.#byId.get(id)
  }

  all(): Thread[] {
    return [...this.#byId.values()]
  }

  /** Newest first; `values` filters by equal entries of the output. */
  search(filter: { metadata?: Json; status?: string; values?: Json; ids?: readonly string[] }): Thread[] {
    const found = this.all().filter(
      (thread) =>
        contains(thread.metadata, filter.metadata ?? {}) &&
        contains(thread.values ?? {}, filter.values ?? {}) &&
        (filter.status === undefined || thread.status === filter.status) &&
        (filter.ids === undefined || filter.ids.includes(thread.id)),
    )
    return found.reverse()
  }

  /** Forgets a thread; whoever owns its runs ends them first. */
  delete(id: string): boolean {
    return this.#byId.delete(id)
  }

  /** Copies a thread with its state and without its runs. Its id is a v4, as recorded. */
  copy(thread: Thread): Thread {
    const copy = this.create({ id: this.#ids.v4(), metadata: { ...thread.metadata }, origin: 'copy' })
    copy.checkpoints = [...thread.checkpoints]
    copy.values = thread.values
    copy.config = thread.config
    copy.interrupts = thread.interrupts
    copy.status = thread.status === 'busy' ? 'idle' : thread.status
    copy.ran = thread.ran
    return copy
  }

  #forgetOldest(): void {
    if (this.#byId.size <= MAX_THREADS) return
    for (const [id, { status }] of this.#byId) {
      if (status === 'busy') continue
      this.#byId.delete(id)
      return
    }
  }

  touch(thread: Thread): void {
    thread.updatedAt = this.#timestamp()
  }
}

/** The newest checkpoint of a thread. */
export function head(thread: Thread): Checkpoint | undefined {
  return thread.checkpoints.at(-1)
}

export function addCheckpoint(thread: Thread, checkpoint: Checkpoint): void {
  thread.checkpoints.push(checkpoint)
  if (thread.checkpoints.length > MAX_CHECKPOINTS) thread.checkpoints.shift()
}
