import * as z from 'zod/mini'
import { type AgentServer, type CallOptions, call, callJson, Id } from './api.ts'

const ThreadAnswer = z.object({
  thread_id: Id,
  status: z.nullish(z.string()),
})

const StateAnswer = z.object({ next: z.nullish(z.array(z.unknown())) })

export interface Thread {
  readonly id: string
  /** `idle`, `busy`, `interrupted` or `error`; other words may come. */
  readonly status: string
}

/** `POST /threads`, with an empty object. */
export async function createThread(server: AgentServer, options: CallOptions): Promise<Thread> {
  const request = { method: 'POST', path: '/threads', json: {} } as const
  return toThread(await callJson(server, request, ThreadAnswer, options))
}

/** `GET /threads/{thread_id}`. */
export async function getThread(server: AgentServer, id: string, options: CallOptions): Promise<Thread> {
  return toThread(await callJson(server, { method: 'GET', path: threadPath(id) }, ThreadAnswer, options))
}

/** `GET /threads/{thread_id}/state`: the nodes that would run next; none when the graph came to its end. */
export async function getNextNodes(
  server: AgentServer,
  id: string,
  options: CallOptions,
): Promise<number | undefined> {
  const request = { method: 'GET', path: `${threadPath(id)}/state` } as const
  return (await callJson(server, request, StateAnswer, options)).next?.length
}

/** `DELETE /threads/{thread_id}`: 204; a run that is still going on ends with it. */
export async function deleteThread(server: AgentServer, id: string, options: CallOptions): Promise<void> {
  await call(server, { method: 'DELETE', path: threadPath(id) }, options)
}

/** Path of a thread; the id came from the server and is not trusted to be a plain segment. */
export function threadPath(id: string): string {
  return `/threads/${encodeURIComponent(id)}`
}

function toThread(answer: z.output<typeof ThreadAnswer>): Thread {
  return { id: answer.thread_id, status: answer.status ?? '' }
}
