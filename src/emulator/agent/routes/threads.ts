import type { Context } from 'hono'
import type { Engine } from '../engine.ts'
import { HttpError } from '../errors.ts'
import { outputOf } from '../executor.ts'
import { canonicalUuid } from '../ids.ts'
import type { Profile } from '../profile.ts'
import { empty, json } from '../profile.ts'
import type { Router } from '../router.ts'
import type { RunEvent } from '../run.ts'
import type { Schema } from '../schema.ts'
import { readJson, validate } from '../schema.ts'
import * as schemas from '../schemas.ts'
import type { OpenStreams } from '../sse.ts'
import { sseResponse } from '../sse.ts'
import type { Checkpoint, Thread } from '../store/threads.ts'
import { head } from '../store/threads.ts'
import { stateWire, threadWire } from '../wire.ts'
import { page, pick, sorted } from './paging.ts'

type Json = Record<string, unknown>

/** `/threads` and what lies below it, but for runs. */
export function threadRoutes(router: Router, engine: Engine, profile: Profile, open: OpenStreams): void {
  const wire = (thread: Thread): Json => threadWire(thread, profile.name)

  async function body<T>(context: Context, schema: Schema): Promise<T> {
    const value = await readJson(context.req.raw)
    validate(value, schema)
    return value as T
  }

  function found(context: Context): Thread {
    const id = canonicalUuid(context.req.param('thread_id') ?? '')
    if (id === undefined) throw new HttpError(422, 'Invalid thread ID: must be a UUID')
    const thread = engine.threads.get(id)
    if (thread === undefined) throw new HttpError(404, `Thread with ID ${id} not found`)
    return thread
  }

  /** The thread's state at a checkpoint, as far as the thread's last graph knows it. */
  function state(thread: Thread, checkpoint: Checkpoint | undefined): Json {
    const graph = engine.graphs.get(String(thread.metadata['graph_id']))
    const values = checkpoint?.values ?? {}
    const output = graph === undefined ? { ...values } : outputOf(graph, values)
    return stateWire(thread, checkpoint, output, profile.name)
  }

  function checkpointNamed(thread: Thread, id: unknown): Checkpoint | undefined {
    return typeof id === 'string' ? thread.checkpoints.find((item) => item.id === id) : head(thread)
  }

  router.add('POST', '/threads', async (context) => {
    const fields = await body<{
      thread_id?: string
      metadata?: Json
      if_exists?: 'raise' | 'do_nothing'
      supersteps?: { updates?: { values?: Json; as_node?: string }[] }[]
    }>(context, schemas.threadCreate)
    const thread = engine.threads.create({
      ifExists: fields.if_exists ?? 'raise',
      ...(fields.thread_id === undefined ? {} : { id: fields.thread_id }),
      ...(fields.metadata === undefined ? {} : { metadata: fields.metadata }),
    })
    for (const superstep of fields.supersteps ?? []) {
      for (const update of superstep.updates ?? [])
        engine.updateState(thread, update.values ?? {}, update.as_node)
    }
    return json(200, wire(thread))
  })

  router.add('POST', '/threads/search', async (context) => {
    const query = await body<{
      ids?: string[]
      metadata?: Json
      values?: Json
      status?: string
      limit?: number
      offset?: number
      sort_by?: string
      sort_order?: string
      select?: string[]
    }>(context, schemas.threadSearch)
    const all = sorted(engine.threads.search(query).map(wire), query.sort_by, query.sort_order)
    const { items, headers } = page(all, query, false)
    return json(
      200,
      query.select === undefined ? items : items.map((item) => pick(item, query.select ?? [])),
      headers,
    )
  })

  router.add('POST', '/threads/count', async (context) => {
    const query = await body<{ metadata?: Json; values?: Json; status?: string }>(
      context,
      schemas.threadSearch,
    )
    return json(200, engine.threads.search(query).length)
  })

  router.add('GET', '/threads/:thread_id', (context) => json(200, wire(found(context))))

  router.add('PATCH', '/threads/:thread_id', async (context) => {
    const thread = found(context)
    const { metadata } = await body<{ metadata?: Json }>(context, schemas.threadPatch)
    thread.metadata = { ...thread.metadata, ...metadata }
    engine.threads.touch(thread)
    return json(200, wire(thread))
  })

  router.add('DELETE', '/threads/:thread_id', (context) => {
    engine.deleteThread(found(context).id)
    return empty(204)
  })

  router.add('POST', '/threads/:thread_id/copy', (context) =>
    json(200, wire(engine.threads.copy(found(context)))),
  )

  router.add('GET', '/threads/:thread_id/state', (context) => {
    const thread = found(context)
    return json(200, state(thread, head(thread)))
  })

  router.add('GET', '/threads/:thread_id/state/:checkpoint_id', (context) => {
    const thread = found(context)
    return json(200, state(thread, checkpointNamed(thread, context.req.param('checkpoint_id'))))
  })

  router.add('POST', '/threads/:thread_id/state/checkpoint', async (context) => {
    const thread = found(context)
    const { checkpoint } = await body<{ checkpoint: Json }>(context, schemas.threadCheckpoint)
    return json(200, state(thread, checkpointNamed(thread, checkpoint['checkpoint_id'])))
  })

  router.add('POST', '/threads/:thread_id/state', async (context) => {
    const thread = found(context)
    const { values, as_node } = await body<{ values?: Json | null; as_node?: string }>(
      context,
      schemas.threadState,
    )
    const made = engine.updateState(thread, values ?? {}, as_node)
    const pointer = { thread_id: thread.id, checkpoint_ns: '', checkpoint_id: made.id }
    return json(200, { checkpoint: pointer, configurable: pointer, checkpoint_id: made.id })
  })

  /** How many states a history tells when nobody says how many. */
  const fewest = profile.name === 'js' ? 10 : 1

  const history = (thread: Thread, limit: number, before: unknown): Json[] => {
    const newest = [...thread.checkpoints].reverse()
    const id = typeof before === 'string' ? before : (before as Json | undefined)?.['checkpoint_id']
    const from = typeof id === 'string' ? newest.findIndex((checkpoint) => checkpoint.id === id) + 1 : 0
    return newest.slice(from, from + limit).map((checkpoint) => state(thread, checkpoint))
  }

  router.add('GET', '/threads/:thread_id/history', (context) => {
    const limit = context.req.query('limit') ?? String(fewest)
    if (!/^\d+$/.test(limit)) throw new HttpError(422, `Invalid limit ${limit}`)
    return json(200, history(found(context), Number(limit), context.req.query('before')))
  })

  router.add('POST', '/threads/:thread_id/history', async (context) => {
    const thread = found(context)
    const query = await body<{ limit?: number; before?: unknown }>(context, schemas.threadHistory)
    return json(200, history(thread, query.limit ?? fewest, query.before))
  })

  router.add('GET', '/threads/:thread_id/stream', (context) => {
    const thread = found(context)
    return sseResponse(open, profile.sse, {
      headers: {},
      feed(writer) {
        const listener = (event: RunEvent | undefined): void =>
          event === undefined ? writer.close() : writer.send(event.event, event.data, event.id)
        thread.listeners.add(listener)
        return () => thread.listeners.delete(listener)
      },
    })
  })
}
