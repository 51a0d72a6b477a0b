import type { Context } from 'hono'
import type { Engine } from '../engine.ts'
import { HttpError } from '../errors.ts'
import { canonicalUuid, systemAssistantId } from '../ids.ts'
import { empty, json } from '../profile.ts'
import type { Router } from '../router.ts'
import type { Schema } from '../schema.ts'
import { readJson, validate } from '../schema.ts'
import * as schemas from '../schemas.ts'
import type { Assistant, AssistantFields, AssistantFilter } from '../store/assistants.ts'
import { jsAssistantWire, jsGraphWire } from '../wire-js.ts'
import { graphWire, schemasWire } from './graph.ts'
import { page, pick, sorted } from './paging.ts'

type Json = Record<string, unknown>

/** `/assistants` and what lies below it. */
export function assistantRoutes(router: Router, engine: Engine): void {
  const js = engine.options.profile === 'js'

  const wire = (assistant: Assistant): unknown => (js ? jsAssistantWire(assistant) : assistant)

  async function body<T>(context: Context, schema: Schema): Promise<T> {
    const value = await readJson(context.req.raw)
    validate(value, schema)
    return value as T
  }

  /** The id in the path; the JavaScript server takes a graph's name as well. */
  function idOf(context: Context): string {
    const given = context.req.param('assistant_id') ?? ''
    if (js && engine.graphs.has(given)) return systemAssistantId(given)
    const id = canonicalUuid(given)
    if (id === undefined)
      throw new HttpError(js ? 404 : 422, js ? missing() : 'Invalid assistant ID: must be a UUID')
    return id
  }

  function found(context: Context): Assistant {
    const assistant = engine.assistants.get(idOf(context))
    if (assistant === undefined) throw new HttpError(404, missing())
    return assistant
  }

  function missing(): string {
    return js ? 'Assistant not found' : 'Not Found'
  }

  router.add('POST', '/assistants', async (context) => {
    const fields = await body<AssistantFields & { graph_id: string; if_exists?: 'raise' | 'do_nothing' }>(
      context,
      schemas.assistantCreate,
    )
    return json(200, wire(engine.assistants.create(fields, fields.if_exists ?? 'raise')))
  })

  router.add('POST', '/assistants/search', async (context) => {
    const query = await body<
      AssistantFilter & {
        limit?: number
        offset?: number
        sort_by?: keyof Assistant
        sort_order?: string
        select?: string[]
      }
    >(context, schemas.assistantSearch)
    const all = sorted(engine.assistants.search(query).map(wire) as Json[], query.sort_by, query.sort_order)
    const { items, headers } = page(all, query, js)
    return json(
      200,
      query.select === undefined ? items : items.map((item) => pick(item, query.select ?? [])),
      headers,
    )
  })

  router.add('POST', '/assistants/count', async (context) => {
    const query = await body<AssistantFilter>(context, schemas.assistantSearch)
    return json(200, engine.assistants.search(query).length)
  })

  router.add('GET', '/assistants/:assistant_id', (context) => json(200, wire(found(context))))

  router.add('PATCH', '/assistants/:assistant_id', async (context) => {
    const id = idOf(context)
    const changed = engine.assistants.patch(id, await body<AssistantFields>(context, schemas.assistantPatch))
    if (changed === undefined) throw new HttpError(404, js ? missing() : `Assistant with ID ${id} not found`)
    return json(200, wire(changed))
  })

  router.add('DELETE', '/assistants/:assistant_id', (context) => {
    const id = idOf(context)
    if (!engine.assistants.delete(id)) {
      throw new HttpError(404, js ? missing() : `Assistant with ID ${id} not found`)
    }
    return js ? json(200, [id]) : empty(204)
  })

  router.add('GET', '/assistants/:assistant_id/graph', (context) => {
    const graph = engine.graphs.get(found(context).graph_id)
    if (graph === undefined) throw new HttpError(404, missing())
    return json(200, js ? jsGraphWire(graph) : graphWire(graph))
  })

  router.add('GET', '/assistants/:assistant_id/schemas', (context) => {
    const graph = engine.graphs.get(found(context).graph_id)
    if (graph === undefined) throw new HttpError(404, missing())
    return json(200, schemasWire(graph))
  })

  router.add('GET', '/assistants/:assistant_id/subgraphs', (context) => {
    found(context)
    return json(200, {})
  })

  router.add('POST', '/assistants/:assistant_id/versions', async (context) => {
    const assistant = found(context)
    const query = await body<{ limit?: number; offset?: number }>(context, schemas.assistantVersions)
    const offset = query.offset ?? 0
    const versions = engine.assistants.versions(assistant.assistant_id)
    return json(200, versions.slice(offset, offset + (query.limit ?? 10)).map(wire))
  })

  router.add('POST', '/assistants/:assistant_id/latest', async (context) => {
    const assistant = found(context)
    const { version } = await body<{ version: number }>(context, schemas.assistantLatest)
    const chosen = engine.assistants.setLatest(assistant.assistant_id, version)
    if (chosen === undefined) throw new HttpError(404, missing())
    return json(200, wire(chosen))
  })
}
