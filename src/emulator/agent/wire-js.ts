import type { Graph } from './graphs.ts'
import type { Run } from './run.ts'
import type { Assistant } from './store/assistants.ts'
import type { Checkpoint, Thread } from './store/threads.ts'

type Json = Record<string, unknown>

/** The shapes of `langgraphjs dev`, as it answered when it was asked (`@langchain/langgraph-api` 1.5.1). */

export function jsAssistantWire(assistant: Assistant): Json {
  const { assistant_id, version, config, context, created_at, updated_at, graph_id, ...rest } = assistant
  const { metadata, name, description } = rest
  const head = { assistant_id, version, config, context, created_at, updated_at, graph_id }
  return { ...head, metadata, name, description }
}

export function jsThreadWire(thread: Thread): Json {
  const { id, createdAt, updatedAt, metadata, status, config } = thread
  const ran = thread.ran ? { values: thread.values ?? {}, interrupts: thread.interrupts } : {}
  return { thread_id: id, created_at: createdAt, updated_at: updatedAt, metadata, status, config, ...ran }
}

export function jsStateWire(thread: Thread, checkpoint: Checkpoint | undefined, output: Json): Json {
  if (checkpoint === undefined) {
    return { values: {}, next: [], tasks: [], created_at: null, checkpoint: null, parent_checkpoint: null }
  }
  const pointer = (id: string | null): Json | null =>
    id === null ? null : { checkpoint_id: id, thread_id: thread.id, checkpoint_ns: '' }
  return {
    values: output,
    next: checkpoint.next,
    tasks: checkpoint.tasks.map(({ id, name, error, interrupts }) => ({
      id,
      name,
      ...(error === null ? {} : { error }),
      interrupts,
      path: ['__pregel_pull', name],
      checkpoint: null,
      state: null,
      result: null,
    })),
    metadata: checkpoint.metadata,
    created_at: checkpoint.createdAt,
    checkpoint: pointer(checkpoint.id),
    parent_checkpoint: pointer(checkpoint.parentId),
  }
}

export function jsRunWire(run: Run): Json {
  const { request } = run
  return {
    run_id: run.id,
    thread_id: run.threadId,
    assistant_id: run.assistantId,
    metadata: run.metadata,
    status: run.status,
    kwargs: {
      input: request.input ?? null,
      ...(request.command ? { command: request.command } : {}),
      config: { ...run.config, metadata: run.metadata },
      context: run.context,
      stream_mode: run.streamModes,
      temporary: request.temporary ?? false,
      subgraphs: request.streamSubgraphs ?? false,
      resumable: request.streamResumable ?? false,
    },
    multitask_strategy: request.multitaskStrategy ?? 'reject',
    created_at: run.createdAt,
    updated_at: run.updatedAt,
  }
}

export function jsGraphWire(graph: Graph): Json {
  const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema' }
  const names = graph.nodes.map((node) => node.name)
  const stops = ['__start__', ...names, '__end__']
  return {
    nodes: stops.map((id) =>
      names.includes(id)
        ? { id, type: 'runnable', data: { id: ['langgraph', 'RunnableCallable'], name: id } }
        : { id, type: 'schema', data: schema },
    ),
    edges: stops.slice(1).map((target, index) => ({ source: stops[index], target, conditional: false })),
  }
}
