import { createHash } from 'node:crypto'
import * as z from 'zod/mini'
import { ProtocolError } from '../../http/errors.ts'
import { displayUrl, join } from '../../http/url.ts'
import { type AgentServer, AnyRecord, type CallOptions, call, callJson, Id } from './api.ts'

const AssistantAnswer = z.object({
  assistant_id: Id,
  graph_id: z.string(),
  metadata: z.nullish(AnyRecord),
  name: z.nullish(z.string()),
})

export interface Assistant {
  readonly id: string
  readonly graphId: string
  readonly metadata: Readonly<Record<string, unknown>>
  readonly name: string | undefined
}

/** The service's default page is 10 and its largest 1000; 100 is inside of every server's limits. */
const LIMIT = 100

/** No server has this many pages; one that repeats itself would never end. */
const MAX_PAGES = 1000

/** Namespace of the ids that the server gives to its default assistants: uuid5 of the graph's name. */
const NAMESPACE = Buffer.from('6ba7b8219dad11d180b400c04fd430c8', 'hex')

/**
 * `POST /assistants`. Takes `graph_id` (required), `config`, `context`, `metadata`, `name`.
 * @throws HttpError 404 where the graph is unknown (the JavaScript server accepts it, and the run fails)
 */
export async function createAssistant(
  server: AgentServer,
  fields: Readonly<Record<string, unknown>>,
  options: CallOptions,
): Promise<Assistant> {
  const answer = { method: 'POST', path: '/assistants', json: fields } as const
  return toAssistant(await callJson(server, answer, AssistantAnswer, options))
}

/** `GET /assistants/{assistant_id}`; the Python server takes UUIDs only here (422 otherwise). */
export async function getAssistant(
  server: AgentServer,
  id: string,
  options: CallOptions,
): Promise<Assistant> {
  const path = `/assistants/${encodeURIComponent(id)}`
  return toAssistant(await callJson(server, { method: 'GET', path }, AssistantAnswer, options))
}

/** `DELETE /assistants/{assistant_id}`: 204, or 200 with a list of ids (JavaScript). */
export async function deleteAssistant(server: AgentServer, id: string, options: CallOptions): Promise<void> {
  await call(server, { method: 'DELETE', path: `/assistants/${encodeURIComponent(id)}` }, options)
}

/**
 * `POST /assistants/search`, all pages. Pages are counted by what came: the totals in the headers are wrong in
 * several versions.
 * @throws ProtocolError when the list has no end
 */
export async function searchAssistants(server: AgentServer, options: CallOptions): Promise<Assistant[]> {
  const found = new Map<string, Assistant>()
  for (let offset = 0, pages = 0; pages < MAX_PAGES; pages++) {
    const request = { method: 'POST', path: '/assistants/search', json: { limit: LIMIT, offset } } as const
    const page = await callJson(server, request, z.array(AssistantAnswer), options)
    const before = found.size
    for (const item of page) found.set(item.assistant_id, toAssistant(item))
    if (page.length < LIMIT) return [...found.values()]
    if (found.size === before) break
    offset += page.length
  }
  const url = displayUrl(join(server.url, '/assistants/search'))
  throw new ProtocolError({ method: 'POST', url }, `POST ${url} repeats a page: its list has no end`, {
    hint: 'Give the assistant’s id in the check, so that no list is needed.',
  })
}

/** The id that a server gives to the default assistant of a graph. */
export function defaultAssistantId(graph: string): string {
  const hash = createHash('sha1').update(NAMESPACE).update(graph).digest().subarray(0, 16)
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x50, 6)
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8)
  return hash.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/**
 * The system assistants, one for each graph: made by the server (`metadata.created_by` is `system`), never
 * told by an empty config, which any assistant may have. Anyone can write that metadata, so of several the one
 * with the id that the server gives wins.
 */
export function systemAssistants(all: readonly Assistant[]): Assistant[] {
  const byGraph = new Map<string, Assistant>()
  for (const assistant of all) {
    if (assistant.metadata['created_by'] !== 'system') continue
    const wins = assistant.id.toLowerCase() === defaultAssistantId(assistant.graphId)
    if (wins || !byGraph.has(assistant.graphId)) byGraph.set(assistant.graphId, assistant)
  }
  return [...byGraph.values()].sort((a, b) => (a.graphId < b.graphId ? -1 : 1))
}

function toAssistant(answer: z.output<typeof AssistantAnswer>): Assistant {
  return {
    id: answer.assistant_id,
    graphId: answer.graph_id,
    metadata: answer.metadata ?? {},
    name: answer.name ?? undefined,
  }
}
