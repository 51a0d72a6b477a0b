import type { Engine } from '../engine.ts'
import type { Message } from '../messages.ts'
import type { Run } from '../run.ts'
import type { Thread } from '../store/threads.ts'
import { INVALID_PARAMS, RpcError } from './errors.ts'
import type { A2aVersion } from './rpc.ts'
import { isObject } from './rpc.ts'
import type { Shapes, TaskRef, TaskState } from './shapes.ts'

type Json = Record<string, unknown>

/**
 * A task: one run, or several when a run stopped to ask and was resumed. Runs that did not come through A2A are tasks
 * too (recorded: ListTasks tells them).
 */
export interface Task extends TaskRef {
  /** Marks the messages that began it; undefined for a run that did not come through A2A. */
  startId: string | undefined
  assistantId: string
  runs: Run[]
  /** Cancelled while it waited for an answer. */
  canceled: boolean
}

const MAX_HISTORY = 10

/** The tasks of one server. They live as long as the threads that they belong to. */
export class Tasks {
  readonly #engine: Engine
  readonly #version: A2aVersion
  readonly #byStart = new WeakMap<Thread, Map<string, Task>>()
  readonly #byRun = new WeakMap<Run, Task>()

  constructor(engine: Engine, version: A2aVersion) {
    this.#engine = engine
    this.#version = version
  }

  /** A run that came through A2A begins a task. */
  begin(run: Run, startId: string | undefined): Task {
    const task = this.#make(run, startId)
    this.#byRun.set(run, task)
    const thread = this.#engine.threads.get(run.threadId)
    if (thread !== undefined && startId !== undefined) {
      const known = this.#byStart.get(thread) ?? new Map<string, Task>()
      known.set(startId, task)
      this.#byStart.set(thread, known)
    }
    return task
  }

  /** A run that goes on with a task. */
  goOn(task: Task, run: Run): void {
    task.runs.push(run)
    this.#byRun.set(run, task)
  }

  of(run: Run): Task {
    return this.#byRun.get(run) ?? this.#make(run, undefined)
  }

  /**
   * A task of an assistant by its id: `<context>:<run>`, or the run's id alone together with its context.
   * Undefined when there is none, or it is another assistant's.
   */
  find(assistantId: string, id: string, contextId: string | undefined): Task | undefined {
    const [first = '', second] = id.split(':')
    const threadId = second === undefined ? contextId : first
    if (threadId === undefined || (contextId !== undefined && contextId !== threadId)) return undefined
    const run = this.#engine.findRun(threadId, second ?? first)
    if (run === undefined) return undefined
    return this.#version === '0.3' || run.assistantId === assistantId ? this.of(run) : undefined
  }

  /** All tasks of an assistant, newest first. */
  all(assistantId: string): Task[] {
    const runs = this.#engine.threads
      .all()
      .flatMap((thread) => [...thread.runs.values()])
      .filter((run) => run.assistantId === assistantId)
      .sort((a, b) => (a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0))
    const seen = new Set<string>()
    return runs.map((run) => this.of(run)).filter((task) => !seen.has(task.id) && seen.add(task.id).size > 0)
  }

  lastRun(task: Task): Run {
    const run = task.runs.at(-1)
    if (run === undefined) throw new Error(`task ${task.id} has no run`)
    return run
  }

  state(task: Task): TaskState {
    if (task.canceled) return 'canceled'
    // A message to a task that works waits its turn as a run of its own (recorded: 7-slow-send-busy).
    const run = task.runs.find(({ ended }) => !ended) ?? this.lastRun(task)
    switch (run.status) {
      case 'pending':
        return 'submitted'
      case 'running':
        return 'working'
      case 'success':
        return run.interrupts.length > 0 && this.#version === '1.0' ? 'input-required' : 'completed'
      case 'interrupted':
        return this.#version === '1.0' ? 'canceled' : 'input-required'
      default:
        return 'failed'
    }
  }

  /** True when the task takes no message any more. */
  isTerminal(task: Task): boolean {
    return ['completed', 'failed', 'canceled'].includes(this.state(task))
  }

  /**
   * The messages of the context up to the end of the task. 1.0 leaves out what other assistants' tasks said and gives
   * each message the task that it belongs to: that of the last marked message before it. 0.3 tells the whole thread
   * as this task's.
   */
  history(
    task: Task,
    shapes: Shapes,
    options: { scope: 'context' | 'task'; length: number | undefined },
  ): Json[] {
    // What a cancel leaves behind is no run's and has no marked message.
    if (task.canceled && this.lastRun(task).status !== 'interrupted') return []
    const told: Json[] = []
    let owner: { id: string; mine: boolean } = { id: task.id, mine: true }
    for (const message of this.#messages(task)) {
      const startId = this.#version === '1.0' ? markerOf(message) : undefined
      const started = startId === undefined ? undefined : this.#started(task, startId)
      if (started !== undefined) owner = { id: started.id, mine: started.assistantId === task.assistantId }
      if (!owner.mine || (options.scope === 'task' && owner.id !== task.id)) continue
      const role = message.type === 'human' ? 'user' : 'agent'
      const fields = { role, parts: shapes.parts(message.content), messageId: String(message.id) } as const
      told.push(shapes.message(fields, { id: owner.id, contextId: task.contextId }))
    }
    return options.length === undefined ? told : told.slice(-options.length)
  }

  #make(run: Run, startId: string | undefined): Task {
    const id = this.#version === '0.3' ? run.id : `${run.threadId}:${run.id}`
    const { threadId: contextId, assistantId } = run
    return { id, contextId, startId, assistantId, runs: [run], canceled: false }
  }

  #started(task: Task, startId: string): Task | undefined {
    const thread = this.#engine.threads.get(task.contextId)
    return thread === undefined ? undefined : this.#byStart.get(thread)?.get(startId)
  }

  #messages(task: Task): Message[] {
    const thread = this.#engine.threads.get(task.contextId)
    if (thread === undefined) return []
    const saved = task.runs.map(({ checkpointId }) => checkpointId).filter((id) => id !== undefined)
    const checkpoint = thread.checkpoints.find(({ id }) => id === saved.at(-1))
    return (checkpoint?.values['messages'] as Message[] | undefined) ?? []
  }
}

function markerOf(message: Message): string | undefined {
  const kwargs = message['additional_kwargs']
  const a2a = isObject(kwargs) ? kwargs['a2a'] : undefined
  const startId = isObject(a2a) ? a2a['task_start_id'] : undefined
  return typeof startId === 'string' ? startId : undefined
}

/** How many messages of the history are wanted; undefined: all. Throws RpcError. */
export function historyLength(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) {
    throw new RpcError(INVALID_PARAMS, 'historyLength must be a non-negative integer')
  }
  if (value > MAX_HISTORY) {
    throw new RpcError(INVALID_PARAMS, `historyLength cannot exceed ${MAX_HISTORY}`)
  }
  return value
}

/** Throws RpcError when the history-scope header has a value that the server does not know. */
export function historyScope(header: string | null): 'context' | 'task' {
  if (header === null || header === 'context') return 'context'
  if (header === 'task') return 'task'
  throw new RpcError(INVALID_PARAMS, "historyScope must be 'context' or 'task'")
}
