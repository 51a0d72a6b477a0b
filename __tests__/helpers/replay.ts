/** A small server that gives recorded answers (conformance/recorded) back to our own clients. */
import { readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readProxySettings } from '../../src/http/proxy.ts'
import { Transport } from '../../src/http/transport.ts'

const FOLDER = new URL('../../conformance/recorded/', import.meta.url)

export interface Exchange {
  readonly name: string
  readonly request: { readonly method: string; readonly path: string; readonly body: string | null }
  readonly response: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  }
  readonly end?: string
}

/** @param version of the recorded server, e.g. `python-0.5.23` */
export function recording(version: string): Exchange[] {
  return readFileSync(new URL(`${version}.jsonl`, FOLDER), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Exchange)
}

/** The last exchange of this name. @throws when there is none: a test must not pass by a typing mistake */
export function exchange(exchanges: readonly Exchange[], name: string): Exchange {
  const found = exchanges.findLast((one) => one.name === name)
  if (found === undefined) throw new Error(`nothing recorded under ${name}`)
  return found
}

export interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The body as JSON; undefined when it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads bodies of every shape
  readonly json: any
}

/** What a replay answers: something recorded, or of the same shape; `break`: the connection is cut after it. */
export interface Reply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
  readonly break?: boolean
  /** The body never ends. */
  readonly hang?: boolean
}

export interface Replay {
  readonly url: URL
  readonly seen: Seen[]
  close(): Promise<void>
}

/**
 * @param answer chooses the answer of a request. JSON-RPC ids of the recording are replaced by that of the
 *   request. Bodies go out in pieces of `chunk` bytes, so that no reader can rely on one event per chunk
 */
export async function startReplay(
  answer: (request: Seen) => Reply | undefined,
  options: { chunk?: number } = {},
): Promise<Replay> {
  const seen: Seen[] = []
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8')
      const { method = '', url = '', headers } = incoming
      const request: Seen = { method, path: url, headers, text, json: tryJson(text) }
      seen.push(request)
      const reply = answer(request) ?? { status: 404, body: '{"detail":"Not Found"}' }
      outgoing.writeHead(reply.status, dropLength(reply.headers ?? { 'content-type': 'application/json' }))
      const body = Buffer.from(withId(reply.body, request.json?.id))
      const size = options.chunk ?? 7_001
      for (let at = 0; at < body.length; at += size) outgoing.write(body.subarray(at, at + size))
      if (reply.break === true) outgoing.write('', () => outgoing.destroy())
      else if (reply.hang !== true) outgoing.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: new URL(`http://127.0.0.1:${port}`),
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** A transport without proxies; `close` it in the end. */
export function testTransport(signal: AbortSignal = new AbortController().signal): Transport {
  return new Transport({
    proxy: readProxySettings({}),
    signal,
    clock: {
      now: () => Date.now(),
      sleep: (ms, stop) =>
        new Promise((resolve, reject) => {
          const timer = setTimeout(resolve, Math.min(ms, 20))
          stop?.addEventListener('abort', () => {
            clearTimeout(timer)
            reject(stop.reason)
          })
        }),
    },
    random: () => 0.5,
    userAgent: 'agent-deploy-test',
  })
}

function withId(body: string, id: unknown): string {
  if (id === undefined) return body
  return body.replaceAll(
    /"jsonrpc":"2\.0","id":("[^"]*"|[\d.]+)/g,
    `"jsonrpc":"2.0","id":${JSON.stringify(id)}`,
  )
}

function dropLength(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => !/^(content-length|transfer-encoding|connection)$/i.test(name),
    ),
  )
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
