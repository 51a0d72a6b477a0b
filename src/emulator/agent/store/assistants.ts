import { HttpError } from '../errors.ts'
import type { IdSource } from '../ids.ts'
import { canonicalUuid, systemAssistantId } from '../ids.ts'
import { pythonRepr } from '../python.ts'

type Json = Record<string, unknown>

/** An assistant, with its keys in the order in which they are written. */
export interface Assistant {
  assistant_id: string
  graph_id: string
  config: Json
  context: Json
  metadata: Json
  name: string
  created_at: string
  updated_at: string
  version: number
  description: string | null
}

export interface AssistantFields {
  assistant_id?: string
  graph_id?: string
  config?: Json | null
  context?: Json | null
  metadata?: Json | null
  name?: string | null
  description?: string | null
}

export interface AssistantFilter {
  graph_id?: string | null
  name?: string | null
  metadata?: Json | null
}

const BOTH_GIVEN =
  'Cannot specify both configurable and context. Prefer setting context alone. Context was introduced in ' +
  'LangGraph 0.6.0 and is the long term planned replacement for configurable.'

/** True when every entry of `part` is in `whole`, as the servers filter by metadata. */
export function contains(whole: unknown, part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return whole === part
  if (typeof whole !== 'object' || whole === null) return false
  if (Array.isArray(part)) {
    return Array.isArray(whole) && part.every((item) => whole.some((known) => contains(known, item)))
  }
  return Object.entries(part).every(([key, value]) => contains((whole as Json)[key], value))
}

/**
 * Keeps `config.configurable` and `context` the same, whichever was given (recorded: 2-create-context).
 * Throws 400 when both were.
 */
export function mirrorContext(config: Json, context: Json): { config: Json; context: Json } {
  const configurable = (config['configurable'] ?? {}) as Json
  const hasConfigurable = Object.keys(configurable).length > 0
  if (hasConfigurable && Object.keys(context).length > 0) throw new HttpError(400, BOTH_GIVEN)
  if (hasConfigurable) return { config, context: { ...configurable } }
  if (Object.keys(context).length > 0) return { config: { ...config, configurable: { ...context } }, context }
  return { config, context }
}

/** The assistants of one server: a system assistant for each graph, and those that callers made. */
export class AssistantStore {
  readonly #byId = new Map<string, Assistant>()
  readonly #versions = new Map<string, Assistant[]>()
  #graphIds: readonly string[] = []
  readonly #ids: IdSource
  readonly #timestamp: () => string
  /** `langgraphjs dev` takes any graph name and lets the run fail, and keeps config and context apart. */
  readonly #js: boolean

  constructor(deps: { ids: IdSource; timestamp: () => string; js: boolean }) {
    this.#ids = deps.ids
    this.#timestamp = deps.timestamp
    this.#js = deps.js
  }

  /** Tells which graphs are served: new ones get a system assistant, that of one that is gone goes. */
  register(graphIds: readonly string[]): void {
    const before = this.#graphIds
    this.#graphIds = graphIds
    for (const gone of before) if (!graphIds.includes(gone)) this.delete(systemAssistantId(gone))
    for (const graphId of graphIds) {
      if (before.includes(graphId)) continue
      const metadata = { created_by: 'system' }
      this.#insert({ assistant_id: systemAssistantId(graphId), graph_id: graphId, name: graphId, metadata })
    }
  }

  /**
   * Makes an assistant. Throws 404 for an unknown graph, 409 when the id is taken and `ifExists` is `raise`,
   * 422 when the id is no UUID, 400 when both config and context were given.
   */
  create(fields: AssistantFields & { graph_id: string }, ifExists: 'raise' | 'do_nothing'): Assistant {
    const id = fields.assistant_id === undefined ? this.#newId() : canonicalUuid(fields.assistant_id)
    if (id === undefined) throw new HttpError(422, 'Invalid assistant ID: must be a UUID')
    this.#requireGraph(fields.graph_id)
    this.#mirror(fields)
    const known = this.#byId.get(id)
    if (known !== undefined) {
      if (ifExists === 'do_nothing') return known
      throw new HttpError(409, `Assistant ${id} already exists`)
    }
    return this.#insert({ ...fields, assistant_id: id })
  }

  get(id: string): Assistant | undefined {
    return this.#byId.get(id)
  }

  /** Newest first. Throws 404 when the filter names an unknown graph (recorded for 0.16.7). */
  search(filter: AssistantFilter): Assistant[] {
    if (filter.graph_id !== undefined && filter.graph_id !== null) this.#requireGraph(filter.graph_id)
    const name = filter.name?.toLowerCase()
    const found = [...this.#byId.values()].filter(
      (assistant) =>
        (filter.graph_id === undefined ||
          filter.graph_id === null ||
          assistant.graph_id === filter.graph_id) &&
        (name === undefined || assistant.name.toLowerCase().includes(name)) &&
        contains(assistant.metadata, filter.metadata ?? {}),
    )
    return found.reverse()
  }

  /** Changes what is given, merges metadata, and raises the version. */
  patch(id: string, fields: AssistantFields): Assistant | undefined {
    const known = this.#byId.get(id)
    if (known === undefined) return undefined
    if (fields.graph_id !== undefined) this.#requireGraph(fields.graph_id)
    const mirrored = this.#mirror(fields)
    const reset = fields.config !== undefined || fields.context !== undefined
    const versions = this.#versions.get(id) ?? []
    const changed: Assistant = {
      ...known,
      graph_id: fields.graph_id ?? known.graph_id,
      config: reset ? mirrored.config : known.config,
      context: reset ? mirrored.context : known.context,
      metadata: { ...known.metadata, ...fields.metadata },
      name: fields.name ?? known.name,
      updated_at: this.#timestamp(),
      version: (versions[0]?.version ?? known.version) + 1,
      description: fields.description ?? known.description,
    }
    this.#byId.set(id, changed)
    this.#versions.set(id, [changed, ...versions])
    return changed
  }

  delete(id: string): boolean {
    this.#versions.delete(id)
    return this.#byId.delete(id)
  }

  /** All versions of an assistant, newest first. */
  versions(id: string): Assistant[] {
    return this.#versions.get(id) ?? []
  }

  /** Makes an older version the current one. */
  setLatest(id: string, version: number): Assistant | undefined {
    const chosen = this.versions(id).find((item) => item.version === version)
    if (chosen !== undefined) this.#byId.set(id, chosen)
    return chosen
  }

  #newId(): string {
    return this.#js ? this.#ids.v7() : this.#ids.v4()
  }

  #requireGraph(graphId: string): void {
    if (this.#js || this.#graphIds.includes(graphId)) return
    const known = pythonRepr([...this.#graphIds].sort())
    throw new HttpError(404, `Graph '${graphId}' not found. Expected one of: ${known}`)
  }

  #mirror({ config, context }: AssistantFields): { config: Json; context: Json } {
    if (this.#js) return { config: config ?? {}, context: context ?? {} }
    return mirrorContext(config ?? {}, context ?? {})
  }

  #insert(fields: AssistantFields & { assistant_id: string; graph_id: string }): Assistant {
    const now = this.#timestamp()
    const mirrored = this.#mirror(fields)
    const assistant: Assistant = {
      assistant_id: fields.assistant_id,
      graph_id: fields.graph_id,
      config: mirrored.config,
      context: mirrored.context,
      metadata: fields.metadata ?? {},
      name: fields.name ?? 'Untitled',
      created_at: now,
      updated_at: now,
      version: 1,
      description: fields.description ?? null,
    }
    this.#byId.set(assistant.assistant_id, assistant)
    this.#versions.set(assistant.assistant_id, [assistant])
    return assistant
  }
}
