import { HttpError, RunError } from './errors.ts'
import { Cancelled, Executor, outputOf } from './executor.ts'
import type { Graph } from './graphs.ts'
import { canonicalUuid, IdSource, systemAssistantId } from './ids.ts'
import type { RunEvent, RunRequest } from './run.ts'
import { Run } from './run.ts'
import { mergeConfig, pendingMetadata, runningMetadata } from './runconfig.ts'
import type { Before, CancelReason } from './settle.ts'
import { feedbackError, requested, runNotFound, settle, sleep } from './settle.ts'
import type { Assistant } from './store/assistants.ts'
import { AssistantStore } from './store/assistants.ts'
import type { Checkpoint, Thread } from './store/threads.ts'
import { head, ThreadStore } from './store/threads.ts'
import { RunStream } from './stream.ts'
import { updateCheckpoint } from './update.ts'

type Json = Record<string, unknown>

export interface EngineOptions {
  profile: 'python' | 'js'
  agentVersion: string
  /** Told as `langgraph_api_url`. */
  url: string
  graphs: ReadonlyMap<string, Graph>
  mintFeedback?: (runId: string, keys: readonly string[]) => Record<string, string>
  /** Milliseconds since 1970. */
  now(): number
  random?: (size: number) => Uint8Array
}

const BUSY =
  'Thread is already running a task. Wait for it to finish or choose a different multitask strategy.'
const MISSING = 'Thread or assistant not found.'

const MAX_RUNS = 500
/** A longer timer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

interface Job {
  run: Run
  ready: boolean
  timer: NodeJS.Timeout | undefined
  reason: CancelReason | undefined
  before: Before
}

/**
 * The runs engine of one agent server: its assistants, threads and runs, one run at a time on each thread.
 * The REST routes and A2A both stand on it. Runs begin in the turn after `start`, so that whoever started one
 * can subscribe first and misses no event.
 */
export class Engine {
  readonly graphs: ReadonlyMap<string, Graph>
  readonly ids: IdSource
  readonly assistants: AssistantStore
  readonly threads: ThreadStore
  readonly options: EngineOptions
  readonly #queues = new Map<string, { active: Job | undefined; waiting: Job[] }>()
  readonly #last: { micros: number }
  #closed = false

  /** @param before the engine of the revision before: its assistants and threads go on, as in one database. */
  constructor(options: EngineOptions, before?: Engine) {
    this.options = options
    this.graphs = options.graphs
    this.#last = before === undefined ? { micros: 0 } : before.#last
    this.ids = before?.ids ?? new IdSource(options.now, options.random)
    const timestamp = (): string => this.timestamp()
    const { ids } = this
    // The recorded server registers every other graph first, so that a search tells them in that order.
    const names = [...options.graphs.keys()]
    const graphIds = [1, 0].flatMap((wave) => names.filter((_name, index) => index % 2 === wave))
    this.assistants =
      before?.assistants ?? new AssistantStore({ ids, timestamp, js: options.profile === 'js' })
    this.assistants.register(graphIds)
    this.threads = before?.threads ?? new ThreadStore({ ids, timestamp })
  }

  /** The time in the server's spelling: microseconds and `+00:00` (Python), milliseconds and `Z` (JavaScript). */
  timestamp(): string {
    const now = this.options.now()
    if (this.options.profile === 'js') return new Date(now).toISOString()
    // No two are the same, so that what was made later also sorts later.
    const micros = Math.max(Math.trunc(now) * 1000, this.#last.micros + 1)
    this.#last.micros = micros
    const text = new Date(Math.trunc(micros / 1000)).toISOString()
    return `${text.slice(0, -1)}${String(micros % 1000).padStart(3, '0')}+00:00`
  }

  /**
   * The assistant that a run's body names: an id, or a graph's name for its system assistant.
   * Throws 422 for a name that is no graph, 404 for an id that is not there.
   */
  resolveAssistant(reference: string): Assistant {
    const id = this.graphs.has(reference) ? systemAssistantId(reference) : canonicalUuid(reference)
    const found = id === undefined ? undefined : this.assistants.get(id)
    if (found !== undefined) return found
    if (this.options.profile === 'js') {
      const hint = 'Make sure the assistant ID is for a valid assistant or a valid graph ID.'
      throw new HttpError(404, `No assistant found for "${reference}". ${hint}`)
    }
    if (id !== undefined) throw new HttpError(404, MISSING)
    const names = [...this.graphs.keys()].join(', ')
    const choices = `- A valid assistant UUID, or\n- One of the registered graphs: ${names}`
    throw new HttpError(422, `Invalid assistant: '${reference}'. Must be either:\n${choices}`)
  }

  /**
   * Starts a run on a thread (undefined: on one of its own, which is deleted at the end when the request is
   * `temporary`). It begins in a later turn of the event loop. Throws HttpError: 400 for config and context
   * together, 404 for an unknown thread or assistant, 409 (JavaScript: 422) when the thread is busy and the
   * strategy is `reject`, 422 for a name that is no graph.
   */
  start(threadId: string | undefined, request: RunRequest): Run {
    const js = this.options.profile === 'js'
    const assistant = this.resolveAssistant(request.assistantId)
    const merged = mergeConfig(assistant, request, this.options.profile)
    const thread = this.#threadFor(threadId, request)
    const queue = this.#queue(thread.id)
    const strategy = request.multitaskStrategy ?? (js ? 'reject' : 'enqueue')
    const others = [queue.active, ...queue.waiting].filter((job) => job !== undefined)
    if (others.length > 0 && strategy === 'reject') throw new HttpError(js ? 422 : 409, BUSY)
    merged.applyThread(thread)
    const runId = this.ids.v7()
    const requestId = request.requestId ?? this.ids.v4()
    const now = this.options.now()
    const pending = pendingMetadata(assistant, request)
    const config = merged.config({ runId, threadId: thread.id, assistant, requestId, now, request })
    const run = new Run({
      id: runId,
      threadId: thread.id,
      assistantId: assistant.assistant_id,
      graphId: assistant.graph_id,
      request: { ...request, multitaskStrategy: strategy },
      streamModes: request.streamMode?.length ? request.streamMode : ['values'],
      createdAt: this.timestamp(),
      updatedAt: this.timestamp(),
      metadata: pending,
      config: { ...config, metadata: pending },
      context: merged.context,
    })
    thread.runs.set(run.id, run)
    forgetOldRuns(thread)
    thread.status = 'busy'
    thread.metadata = {
      ...thread.metadata,
      graph_id: assistant.graph_id,
      assistant_id: assistant.assistant_id,
    }
    const job: Job = {
      run,
      ready: false,
      timer: undefined,
      reason: undefined,
      before: { checkpoint: undefined, values: undefined },
    }
    queue.waiting.push(job)
    if (strategy === 'interrupt' || strategy === 'rollback') {
      for (const other of others) this.#cancelJob(thread, other, requested(strategy))
    }
    job.timer = setTimeout(
      () => {
        job.ready = true
        this.#pump(thread)
      },
      Math.min((request.afterSeconds ?? 0) * 1000, LONGEST_TIMER_MS),
    )
    return run
  }

  /** A run by its ids, undefined when the thread or the run is not there. */
  findRun(threadId: string, runId: string): Run | undefined {
    return this.threads.get(threadId)?.runs.get(runId)
  }

  /** Cancels a run that waits or works. Gives false when it has ended already. Await `run.done` for its end. */
  cancel(run: Run, reason: CancelReason = requested('interrupt')): boolean {
    const thread = this.threads.get(run.threadId)
    const queue = this.#queues.get(run.threadId)
    const job = [queue?.active, ...(queue?.waiting ?? [])].find((item) => item?.run === run)
    if (thread === undefined || job === undefined || run.ended) return false
    this.#cancelJob(thread, job, reason)
    return true
  }

  /** Deletes a run; one that works is stopped, and its streams end in an `error` event. */
  deleteRun(run: Run): void {
    this.#dropRun(run)
    this.threads.get(run.threadId)?.runs.delete(run.id)
  }

  /** Deletes a thread with its runs. Gives false when it is not there. */
  deleteThread(threadId: string): boolean {
    const thread = this.threads.get(threadId)
    if (thread === undefined) return false
    this.threads.delete(threadId)
    for (const run of thread.runs.values()) this.#dropRun(run)
    this.#queues.delete(threadId)
    for (const listener of thread.listeners) listener(undefined)
    return true
  }

  /**
   * Writes into a thread's state from outside of a run, as if the node `asNode` had done it (left out: the last one
   * that ran, so that what was to run next still is).
   */
  updateState(thread: Thread, values: Json, asNode?: string): Checkpoint {
    const graph = this.graphs.get(String(thread.metadata['graph_id'])) ?? [...this.graphs.values()][0]
    if (graph === undefined) throw new HttpError(400, 'This server has no graph.')
    const checkpoint = updateCheckpoint(thread, graph, values, asNode, {
      ids: this.ids,
      dialect: this.options.profile,
      createdAt: this.timestamp(),
    })
    thread.values = outputOf(graph, checkpoint.values)
    thread.updatedAt = this.timestamp()
    thread.stateUpdatedAt = thread.updatedAt
    return checkpoint
  }

  /** Takes the open question of a thread back, as if its node had answered nothing. */
  dropQuestion(threadId: string): void {
    const thread = this.threads.get(threadId)
    if (thread?.status !== 'interrupted') return
    this.updateState(thread, {}, head(thread)?.next[0])
    Object.assign(thread, { status: 'idle', interrupts: {} })
  }

  /** Ends every run and every timer; streams close. */
  close(): void {
    this.#closed = true
    for (const queue of this.#queues.values()) {
      for (const job of [queue.active, ...queue.waiting]) {
        if (job === undefined) continue
        clearTimeout(job.timer)
        job.run.abort.abort()
        // What runs unwinds by itself; what waits never will.
        if (job !== queue.active) job.run.status = 'interrupted'
        job.run.end()
      }
    }
    this.#queues.clear()
  }

  #threadFor(threadId: string | undefined, request: RunRequest): Thread {
    if (threadId === undefined) return this.threads.create({ origin: 'run' })
    const thread = this.threads.get(threadId)
    if (thread !== undefined) return thread
    if (request.ifNotExists === 'create') return this.threads.create({ id: threadId, origin: 'run' })
    // The JavaScript server takes an unknown thread for a busy one.
    throw this.options.profile === 'js' ? new HttpError(422, BUSY) : new HttpError(404, MISSING)
  }

  #queue(threadId: string): { active: Job | undefined; waiting: Job[] } {
    let queue = this.#queues.get(threadId)
    if (queue === undefined) {
      queue = { active: undefined, waiting: [] }
      this.#queues.set(threadId, queue)
    }
    return queue
  }

  #pump(thread: Thread): void {
    const queue = this.#queues.get(thread.id)
    if (this.#closed || queue === undefined || queue.active !== undefined) return
    const job = queue.waiting.find((item) => item.ready)
    if (job === undefined) {
      if (queue.waiting.length === 0) this.#queues.delete(thread.id)
      return
    }
    queue.waiting.splice(queue.waiting.indexOf(job), 1)
    queue.active = job
    void this.#work(thread, job).then(() => this.#pump(thread))
  }

  /** Runs a job to its end, whatever that is. Never rejects. */
  async #work(thread: Thread, job: Job): Promise<void> {
    const { run } = job
    job.before = { checkpoint: head(thread), values: thread.values }
    run.status = 'running'
    const metadata = runningMetadata(run.metadata, this.options)
    const finished = this.options.profile === 'python' ? { __pregel_node_finished: null } : {}
    const configurable = { ...(run.config['configurable'] as Json), ...finished }
    Object.assign(run.config, { configurable, metadata })
    const publish = (event: RunEvent, replayable: boolean): void => {
      run.publish(event, replayable)
      for (const listener of thread.listeners) listener(event)
    }
    const stream = new RunStream(run, {
      profile: this.options.profile,
      now: this.options.now,
      timestamp: () => this.timestamp(),
      newRunId: () => this.ids.v7(),
      publish,
    })
    try {
      const { output, interrupts } = await this.#execute(thread, run, stream)
      run.interrupts = interrupts
      thread.values = output
      this.#giveFeedback(run, stream)
      run.status = 'success'
    } catch (error) {
      const failure =
        error instanceof RunError ? error : new RunError('InternalError', 'An internal error occurred')
      if (error instanceof Cancelled) run.status = 'interrupted'
      else if (!run.deleted) {
        stream.error(failure.wire())
        run.status = 'error'
        run.error = failure
      }
    }
    settle(thread, run, {
      reason: job.reason,
      before: job.before,
      waiting: (this.#queues.get(thread.id)?.waiting.length ?? 0) > 0,
      now: this.timestamp(),
    })
    const id = `${Math.trunc(this.options.now())}-0`
    const done: RunEvent = {
      id,
      event: 'metadata',
      data: { status: 'run_done', run_id: run.id },
      mode: undefined,
    }
    for (const listener of thread.listeners) listener(done)
    // Free before anybody hears of the end: who waited for it may start the next run at once.
    const queue = this.#queues.get(thread.id)
    if (queue?.active === job) queue.active = undefined
    run.end()
    if (run.request.temporary === true) this.deleteThread(thread.id)
  }

  async #execute(
    thread: Thread,
    run: Run,
    stream: RunStream,
  ): Promise<{ output: Json; interrupts: { id: string; value: unknown }[] }> {
    const graph = this.graphs.get(run.graphId)
    // An assistant may name a graph that is not there on the JavaScript server, and on any when the next revision
    // left the graph out. The error comes first and alone.
    if (graph === undefined) throw new RunError('Error', `Graph "${run.graphId}" not found`)
    stream.metadata()
    const executor = new Executor(run, thread, graph, stream, {
      ids: this.ids,
      dialect: this.options.profile,
      timestamp: () => this.timestamp(),
      sleep,
    })
    return executor.execute()
  }

  #giveFeedback(run: Run, stream: RunStream): void {
    const keys = [...new Set(run.request.feedbackKeys ?? [])]
    if (keys.length === 0) return
    const { mintFeedback } = this.options
    if (mintFeedback === undefined) throw feedbackError(this.options.profile)
    run.feedback = mintFeedback(run.id, keys)
    stream.feedback(run.feedback)
  }

  #cancelJob(thread: Thread, job: Job, reason: CancelReason): void {
    job.reason ??= reason
    const queue = this.#queues.get(thread.id)
    job.run.abort.abort()
    const index = queue?.waiting.indexOf(job) ?? -1
    if (queue === undefined || index < 0) return
    // It never began: nothing unwinds by itself.
    clearTimeout(job.timer)
    queue.waiting.splice(index, 1)
    job.run.status = 'interrupted'
    job.run.updatedAt = this.timestamp()
    if (reason.action === 'rollback') thread.runs.delete(job.run.id)
    job.run.end()
    if (queue.active === undefined && queue.waiting.length === 0) thread.status = 'idle'
    if (job.run.request.temporary === true) this.deleteThread(thread.id)
  }

  #dropRun(run: Run): void {
    if (run.ended) return
    const queue = this.#queues.get(run.threadId)
    const job = queue?.waiting.find((item) => item.run === run)
    if (job !== undefined) {
      clearTimeout(job.timer)
      queue?.waiting.splice(queue.waiting.indexOf(job), 1)
    }
    run.publish({ id: '', event: 'error', data: runNotFound(), mode: undefined }, false)
    run.deleted = true
    run.abort.abort()
    run.end()
  }
}

/** Runs that ended long ago are forgotten, so that a thread does not grow without bound. */
function forgetOldRuns(thread: Thread): void {
  for (const run of thread.runs.values()) {
    if (thread.runs.size <= MAX_RUNS) return
    if (run.ended) thread.runs.delete(run.id)
  }
}
