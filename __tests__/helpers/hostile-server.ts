/** A server that answers as it is told, well or badly: real sockets on 127.0.0.1, scripted path by path. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createGzip, gzipSync } from 'node:zlib'
import { TEST_CERTIFICATE, TEST_KEY } from './tls.ts'

export interface SeenRequest {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** What is common to answers that begin as HTTP. */
interface Head {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string | string[]>>
  /** Waits before anything is sent. */
  readonly delayMs?: number
}

export type Answer =
  /** A whole answer; an object is sent as JSON. */
  | (Head & { readonly body?: string | Buffer | object })
  /** As above, compressed, with its `content-encoding`. */
  | (Head & { readonly gzip: string })
  /** One piece after the other, with a pause in between; `end: false` leaves the connection open after the last. */
  | (Head & {
      readonly pieces: readonly (string | Buffer)[]
      readonly everyMs?: number
      readonly end?: boolean
    })
  /** A body without an end, as fast as it is read; `gzip` compresses it to next to nothing. */
  | (Head & { readonly endless: 'plain' | 'gzip' })
  /** A header of that many characters. */
  | (Head & { readonly hugeHeader: number })
  /** The connection is reset: before anything is sent, after the head, or in the middle of the body. */
  | { readonly reset: 'before' | 'head' | 'body'; readonly delayMs?: number }
  /** The request is read, and nothing is ever sent. */
  | { readonly hang: true }
  /** Bytes of our own in place of HTTP; then the connection is closed. */
  | { readonly raw: string }

export type Script = Answer | readonly Answer[] | ((request: SeenRequest) => Answer | Promise<Answer>)

export interface HostileServer {
  /** `http://127.0.0.1:<port>` (or `https:`), without a slash at the end. */
  readonly url: string
  readonly port: number
  /** Requests in the order in which they were read whole. */
  readonly requests: readonly SeenRequest[]
  /** Connections that were opened. */
  readonly connections: () => number
  /** Connections that are open. */
  readonly open: () => number
  /**
   * Scripts a path (without query), or with `METHOD ` in front one method of it; `*` is every other. A list is
   * given one by one, its last again and again.
   */
  on(path: string, script: Script): void
  close(): Promise<void>
}

/** @param scripts as in `on` @param options `tls`: with the certificate of helpers/tls.ts */
export async function startHostileServer(
  scripts: Readonly<Record<string, Script>> = {},
  options: { readonly tls?: boolean; readonly keepAliveTimeout?: number } = {},
): Promise<HostileServer> {
  const known = new Map(Object.entries(scripts))
  const given = new Map<Script, number>()
  const requests: SeenRequest[] = []
  const sockets = new Set<object>()
  const timers = new Set<NodeJS.Timeout>()
  let connections = 0

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(() => {
        timers.delete(timer)
        resolve()
      }, ms)
      timers.add(timer)
    })

  const pick = async (request: SeenRequest): Promise<Answer> => {
    const path = request.path.split('?', 1)[0] ?? ''
    const script = known.get(`${request.method} ${path}`) ?? known.get(path) ?? known.get('*')
    if (script === undefined) return { status: 404, body: { detail: `nothing is scripted for ${path}` } }
    if (typeof script === 'function') return script(request)
    if (!isList(script)) return script
    const index = given.get(script) ?? 0
    given.set(script, index + 1)
    return script[Math.min(index, script.length - 1)] ?? { status: 500 }
  }

  const listener = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of incoming) chunks.push(chunk as Buffer)
    } catch {
      return
    }
    const request: SeenRequest = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      body: Buffer.concat(chunks).toString(),
    }
    requests.push(request)
    const answer = await pick(request)
    response.on('error', () => {})
    if ('delayMs' in answer && answer.delayMs !== undefined) await pause(answer.delayMs)
    await give(answer, response, pause)
  }

  const server = options.tls
    ? createTlsServer(
        { key: TEST_KEY, cert: TEST_CERTIFICATE },
        (incoming, response) => void listener(incoming, response),
      )
    : createServer((incoming, response) => void listener(incoming, response))
  server.keepAliveTimeout = options.keepAliveTimeout ?? 5_000
  server.on('connection', (socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  return {
    url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    requests,
    connections: () => connections,
    open: () => sockets.size,
    on(path, script) {
      known.set(path, script)
    },
    async close() {
      for (const timer of timers) clearTimeout(timer)
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function give(
  answer: Answer,
  response: ServerResponse,
  pause: (ms: number) => Promise<void>,
): Promise<void> {
  const { socket } = response
  if ('hang' in answer) return
  if ('raw' in answer) {
    socket?.end(answer.raw)
    return
  }
  if ('reset' in answer) {
    if (answer.reset !== 'before') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
      response.write(answer.reset === 'body' ? '{"half": ' : '')
      response.flushHeaders()
      await pause(50)
    }
    socket?.resetAndDestroy()
    return
  }
  const head = { 'content-type': 'application/json', ...answer.headers }
  const status = answer.status ?? 200
  if ('hugeHeader' in answer) {
    socket?.end(
      `HTTP/1.1 ${status} OK\r\nx-huge: ${'x'.repeat(answer.hugeHeader)}\r\ncontent-length: 2\r\n\r\n{}`,
    )
  } else if ('gzip' in answer) {
    response.writeHead(status, { ...head, 'content-encoding': 'gzip' }).end(gzipSync(answer.gzip))
  } else if ('endless' in answer) {
    const coding = answer.endless === 'gzip' ? { 'content-encoding': 'gzip' } : {}
    response.writeHead(status, { ...head, ...coding })
    endlessly(response, answer.endless === 'gzip')
  } else if ('pieces' in answer) {
    response.writeHead(status, head)
    response.flushHeaders()
    for (const [index, piece] of answer.pieces.entries()) {
      if (index > 0) await pause(answer.everyMs ?? 10)
      if (response.destroyed) return
      response.write(piece)
    }
    if (answer.end !== false) response.end()
  } else {
    const { body } = answer
    response.writeHead(status, head)
    response.end(typeof body === 'object' && !Buffer.isBuffer(body) ? JSON.stringify(body) : (body ?? ''))
  }
}

/** Megabyte after megabyte, for as long as somebody reads. */
function endlessly(response: ServerResponse, gzip: boolean): void {
  const block = Buffer.alloc(1024 * 1024, 'x')
  const target = gzip ? createGzip() : response
  if (target !== response) target.pipe(response)
  target.on('error', () => {})
  const write = (): void => {
    while (!response.destroyed && target.write(block));
    if (!response.destroyed) target.once('drain', write)
  }
  write()
}

function isList(script: Answer | readonly Answer[]): script is readonly Answer[] {
  return Array.isArray(script)
}
