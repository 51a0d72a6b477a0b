import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAgentServer } from '../../../src/emulator/agent/index.ts'
import type { AgentServerOptions } from '../../../src/emulator/agent/types.ts'
import { BODY_LIMIT, send as deliver, readBytes, toRequest } from '../../../src/emulator/wire/bridge.ts'

/** One event of a stream, with its lines as they came. `data` is JSON. */
export interface StreamEvent {
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads data of every shape
  data: any
  id: string | undefined
}

export interface Reply {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads answers of every shape
  body: any
}

export interface TestAgent {
  url: string
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  /** Makes a thread and gives its id. */
  thread(): Promise<string>
  /** Runs on a thread (undefined: stateless) and reads the whole stream. */
  stream(threadId: string | undefined, body: object): Promise<StreamEvent[]>
  /** Opens a stream, and gives what has come so far and the way to hang up. */
  open(path: string, body?: object, headers?: Record<string, string>): Promise<OpenStream>
  close(): Promise<void>
}

export interface OpenStream {
  headers: Headers
  /** Resolves with everything once the stream has ended. */
  rest(): Promise<string>
  /** Resolves with the text so far once it contains `part`. */
  until(part: string): Promise<string>
  hangUp(): void
}

/** Input of one human message. */
export const says = (content: unknown): object => ({ messages: [{ role: 'human', content }] })

export function parse(text: string): StreamEvent[] {
  const blocks = text.replaceAll('\r\n', '\n').split('\n\n')
  return blocks
    .filter((block) => block !== '' && !block.startsWith(':'))
    .map((block) => {
      const line = (name: string): string | undefined =>
        block
          .split('\n')
          .find((item) => item.startsWith(`${name}: `))
          ?.slice(name.length + 2)
      return { event: line('event') ?? '', data: JSON.parse(line('data') ?? 'null'), id: line('id') }
    })
}

/** Starts an agent server on a free port of 127.0.0.1, as the emulator mounts it. */
export async function startAgent(options: Partial<AgentServerOptions> = {}): Promise<TestAgent> {
  const agent = createAgentServer({
    url: 'http://127.0.0.1:1',
    profile: 'python',
    agentVersion: '0.16.7',
    a2a: '1.0',
    disableA2a: false,
    terminalTasks: 'accept',
    authenticate: () => undefined,
    host: () => ({ projectId: null, hostRevisionId: null, revisionId: null, tenantId: null }),
    ...options,
  })
  const server = createServer(async (request, out) => {
    const gone = new AbortController()
    out.once('close', () => gone.abort())
    const body = (await readBytes(request, BODY_LIMIT)) ?? Buffer.alloc(0)
    const asked = toRequest(request, `http://127.0.0.1${request.url}`, body, gone.signal)
    await deliver(await agent.fetch(asked), out, request.method === 'HEAD')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    fetch(`${url}${path}`, {
      method,
      redirect: 'manual',
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  const call = async (method: string, path: string, body?: unknown, headers?: Record<string, string>) => {
    const response = await send(method, path, body, headers)
    const text = await response.text()
    const isJson = (response.headers.get('content-type') ?? '').includes('application/json') && text !== ''
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? JSON.parse(text) : text,
    }
  }
  return {
    url,
    call,
    thread: async () => (await call('POST', '/threads', {})).body.thread_id,
    stream: async (threadId, body) => {
      const path = threadId === undefined ? '/runs/stream' : `/threads/${threadId}/runs/stream`
      return parse((await call('POST', path, body)).text)
    },
    open: async (path, body, headers) => openStream(url + path, body, headers),
    close: () =>
      new Promise((resolve) => {
        agent.close()
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function openStream(
  url: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<OpenStream> {
  const abort = new AbortController()
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    signal: abort.signal,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  let text = ''
  let wake = (): void => {}
  const ended = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true })
      wake()
    }
  })().catch(() => {})
  return {
    headers: response.headers,
    rest: async () => {
      await ended
      return text
    },
    until: async (part) => {
      while (!text.includes(part)) {
        await Promise.race([
          new Promise<void>((resolve) => {
            wake = resolve
          }),
          ended.then(() => {
            if (!text.includes(part)) throw new Error(`the stream ended before ${part} came: ${text}`)
          }),
        ])
      }
      return text
    },
    hangUp: () => abort.abort(),
  }
}
