import type { Run } from './run.ts'
import type { Checkpoint, Thread } from './store/threads.ts'
import { jsRunWire, jsStateWire, jsThreadWire } from './wire-js.ts'

type Json = Record<string, unknown>

/**
 * A thread. Until a run has ended on it there is neither `error` nor `interrupts`; one that a run made has its keys in
 * another order, and a copy leaves `values` out (all recorded: 3-create, 3-copy, 4-ifnotexists-thread).
 */
export function threadWire(thread: Thread, profile: 'python' | 'js'): Json {
  if (profile === 'js') return jsThreadWire(thread)
  const times = { created_at: thread.createdAt, updated_at: thread.updatedAt }
  const values = thread.values ?? null
  const { metadata, status, config } = thread
  // A run that failed before its first checkpoint, or was rolled back to before it, leaves no `interrupts`.
  const interrupts = thread.checkpoints.length === 0 ? {} : { interrupts: thread.interrupts }
  const end = thread.ran ? { error: thread.error, ...interrupts } : {}
  const stateTime = { state_updated_at: thread.stateUpdatedAt }
  if (thread.origin === 'run') {
    return { thread_id: thread.id, status, metadata, config, ...times, values, ...stateTime, ...end }
  }
  const told = thread.origin === 'copy' && thread.values === undefined ? {} : { values }
  return { thread_id: thread.id, ...times, ...stateTime, metadata, status, config, ...told, ...end }
}

/** A thread's state at a checkpoint. `output` is what of the checkpoint's values belongs to the thread's graph. */
export function stateWire(
  thread: Thread,
  checkpoint: Checkpoint | undefined,
  output: Json,
  profile: 'python' | 'js',
): Json {
  if (profile === 'js') return jsStateWire(thread, checkpoint, output)
  if (checkpoint === undefined) {
    return {
      values: {},
      next: [],
      tasks: [],
      metadata: null,
      created_at: null,
      checkpoint: null,
      parent_checkpoint: null,
      interrupts: [],
      checkpoint_id: null,
      parent_checkpoint_id: null,
    }
  }
  const pointer = (id: string | null): Json | null =>
    id === null ? null : { checkpoint_id: id, thread_id: thread.id, checkpoint_ns: '' }
  return {
    values: output,
    next: checkpoint.next,
    tasks: checkpoint.tasks.map((task) => ({
      id: task.id,
      name: task.name,
      path: ['__pregel_pull', task.name],
      error: task.error,
      interrupts: task.interrupts,
      checkpoint: null,
      state: null,
      result: null,
    })),
    metadata: checkpoint.metadata,
    created_at: checkpoint.createdAt,
    checkpoint: pointer(checkpoint.id),
    parent_checkpoint: pointer(checkpoint.parentId),
    interrupts: checkpoint.tasks.flatMap((task) => task.interrupts),
    checkpoint_id: checkpoint.id,
    parent_checkpoint_id: checkpoint.parentId,
  }
}

/** A run, with the whole input and configuration under `kwargs`, as recorded. */
export function runWire(run: Run, profile: 'python' | 'js'): Json {
  if (profile === 'js') return jsRunWire(run)
  const { request } = run
  return {
    run_id: run.id,
    thread_id: run.threadId,
    assistant_id: run.assistantId,
    metadata: run.metadata,
    status: run.status,
    kwargs: {
      input: request.input ?? null,
      command: request.command ?? null,
      config: run.config,
      context: run.context,
      stream_mode: run.streamModes,
      interrupt_before: request.interruptBefore ?? null,
      interrupt_after: request.interruptAfter ?? null,
      webhook: request.webhook ?? null,
      feedback_keys: request.feedbackKeys ?? null,
      temporary: request.temporary ?? false,
      subgraphs: request.streamSubgraphs ?? false,
      resumable: request.streamResumable ?? false,
      checkpoint_during: true,
      durability: request.durability ?? 'async',
    },
    multitask_strategy: request.multitaskStrategy ?? 'enqueue',
    created_at: run.createdAt,
    updated_at: run.updatedAt,
    langsmith_session_name: null,
  }
}
