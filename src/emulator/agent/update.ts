import { HttpError, RunError } from './errors.ts'
import type { Graph } from './graphs.ts'
import type { IdSource } from './ids.ts'
import type { Message, MessageDialect } from './messages.ts'
import { addMessages, coerceMessage } from './messages.ts'
import type { Checkpoint, Thread } from './store/threads.ts'
import { addCheckpoint, head } from './store/threads.ts'

type Json = Record<string, unknown>

/**
 * Writes `values` into a thread from outside of a run and keeps it as a checkpoint of source `update`. As `asNode`
 * the nodes behind that one are next. Throws 400 for a node that the graph does not have, or a message that is none.
 */
export function updateCheckpoint(
  thread: Thread,
  graph: Graph,
  values: Json,
  asNode: string | undefined,
  deps: { ids: IdSource; dialect: MessageDialect; createdAt: string },
): Checkpoint {
  const parent = head(thread)
  const index = asNode === undefined ? -1 : graph.nodes.findIndex((node) => node.name === asNode)
  if (asNode !== undefined && asNode !== '__start__' && index < 0) {
    throw new HttpError(400, `Node ${asNode} does not exist`)
  }
  const behind = graph.nodes.slice(index + 1, index + 2).map((node) => node.name)
  const next = asNode === undefined ? (parent?.next ?? []) : behind
  const step = (parent?.step ?? -1) + 1
  // The Python server names the graph alone.
  const { graph_id } = thread.metadata
  const whose = deps.dialect === 'js' ? thread.metadata : { graph_id }
  const checkpoint: Checkpoint = {
    id: deps.ids.v6(step),
    parentId: parent?.id ?? null,
    createdAt: deps.createdAt,
    values: written(parent?.values ?? {}, graph, values, deps),
    next,
    tasks: next.map((name) => ({ id: deps.ids.task(), name, error: null, interrupts: [] })),
    step,
    source: 'update',
    metadata: { ...whose, thread_id: thread.id, source: 'update', step, parents: {} },
  }
  addCheckpoint(thread, checkpoint)
  return checkpoint
}

function written(
  before: Readonly<Json>,
  graph: Graph,
  values: Json,
  deps: { ids: IdSource; dialect: MessageDialect },
): Json {
  const state: Json = { ...before }
  for (const channel of graph.channels) {
    const value = values[channel]
    if (value === undefined) continue
    if (channel !== 'messages') state[channel] = value
    else {
      try {
        const raw = Array.isArray(value) ? value : [value]
        const added = raw.map((item) => coerceMessage(deps.dialect, item, () => deps.ids.v4()))
        state[channel] = addMessages((state[channel] as Message[] | undefined) ?? [], added)
      } catch (error) {
        throw error instanceof RunError ? new HttpError(400, error.message) : error
      }
    }
  }
  return state
}
