import { systemAssistantId } from '../../../src/emulator/agent/ids.ts'
import { createAgentServer } from '../../../src/emulator/agent/index.ts'
import type { AgentServerOptions } from '../../../src/emulator/agent/types.ts'
import { serveFetch } from '../../helpers/serve.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test reads answers of every shape
export type Json = Record<string, any>

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

/** An agent server on a socket of its own, and calls to it. */
export interface TestAgent {
  url: string
  close(): Promise<void>
  /** A JSON-RPC call to an assistant of a graph; gives `result` or `error`. */
  call(graph: string, method: string, params?: unknown, headers?: Record<string, string>): Promise<Json>
  /** The events of a streaming call: `result` or `error` of each. */
  stream(graph: string, params: unknown, method?: string): Promise<Json[]>
  fetch(path: string, init?: RequestInit): Promise<Response>
}

export async function startAgent(options: Partial<AgentServerOptions> = {}): Promise<TestAgent> {
  let agent: ReturnType<typeof createAgentServer> | undefined
  const server = await serveFetch((request) => agent?.fetch(request) ?? new Response(null, { status: 503 }))
  const { url } = server
  agent = createAgentServer({
    url,
    profile: 'python',
    agentVersion: '0.16.7',
    a2a: '1.0',
    disableA2a: false,
    terminalTasks: 'reject',
    authenticate: () => undefined,
    host: () => ({ projectId: null, hostRevisionId: null, revisionId: null, tenantId: null }),
    ...options,
  })
  const post = (graph: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${url}/a2a/${systemAssistantId(graph)}`, {
      method: 'POST',
      headers: { ...HEADERS, ...headers },
      body: JSON.stringify(body),
    })
  return {
    url,
    async close() {
      agent?.close()
      await server.close()
    },
    async call(graph, method, params, headers) {
      const answer = await post(graph, { jsonrpc: '2.0', id: '1', method, params }, headers)
      const body = (await answer.json()) as Json
      return body['result'] ?? body
    },
    async stream(graph, params, method = 'message/stream') {
      const answer = await post(graph, { jsonrpc: '2.0', id: 7, method, params })
      return readEvents(await answer.text())
    },
    fetch: (path, init) => fetch(`${url}${path}`, init),
  }
}

/** `result` (or the whole body with its `error`) of each event of an A2A stream. */
export function readEvents(text: string): Json[] {
  return text
    .split('\r\n\r\n')
    .filter((block) => block.startsWith('event: message\r\n'))
    .map((block) => {
      const body = JSON.parse(block.slice(block.indexOf('data: ') + 6)) as Json
      return body['result'] ?? body
    })
}

/** The params of a message of text. */
export function text(
  messageId: string,
  said: string,
  ids: { contextId?: string; taskId?: string } = {},
): Json {
  return { message: { role: 'user', messageId, parts: [{ kind: 'text', text: said }], ...ids } }
}
