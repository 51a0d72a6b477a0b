/** A control plane whose every answer is a test's own, over real sockets, and a clock that a wait moves by itself. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '../../src/base/clock.ts'
import { CancelledError } from '../../src/base/errors.ts'
import type { Log } from '../../src/base/log.ts'
import type { ControlPlane } from '../../src/clients/control-plane/api.ts'
import { readProxySettings } from '../../src/http/proxy.ts'
import { type Request, Transport } from '../../src/http/transport.ts'

export interface Asked {
  /** `GET /v2/deployments`, without the query. */
  readonly line: string
  /** Seconds since the start, by the test's clock. */
  readonly at: number
  readonly body: unknown
}

export type Answer =
  | { readonly status?: number; readonly body?: unknown; readonly headers?: Record<string, string> }
  | 'reset'
  | 'hang'

export interface ScriptedService {
  readonly api: ControlPlane
  readonly asked: Asked[]
  readonly clock: Clock
  readonly log: Log
  /** `info: …`, `warning: …` in order. */
  readonly said: string[]
  /** Milliseconds since 1970 of `seconds` after the start. */
  at(seconds: number): number
  /** Seconds since the start. */
  elapsed(): number
  cancel(): void
  close(): Promise<void>
}

/**
 * @param serve answers a request; `nth` counts those of the same line from 1
 * @param options.timeoutMs real milliseconds that a request may take at most
 */
export async function scriptedService(
  serve: (asked: Asked, nth: number) => Answer,
  options: { timeoutMs?: number } = {},
): Promise<ScriptedService> {
  const start = Date.parse('2026-01-01T00:00:00Z')
  let now = start
  const asked: Asked[] = []
  const said: string[] = []
  const controller = new AbortController()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const line = `${request.method} ${(request.url ?? '').split('?')[0]}`
      const text = Buffer.concat(chunks).toString()
      const one = { line, at: (now - start) / 1000, body: text === '' ? undefined : JSON.parse(text) }
      asked.push(one)
      const answer = serve(one, asked.filter((other) => other.line === line).length)
      if (answer === 'reset') return void request.socket.resetAndDestroy()
      if (answer === 'hang') return
      response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers })
      response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body ?? {}))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const clock: Clock = {
    now: () => now,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted()
      now += Math.max(0, ms)
    },
  }
  const transport = new Transport({
    proxy: readProxySettings({}),
    signal: controller.signal,
    clock,
    random: () => 0.5,
    userAgent: 'test',
  })
  const say = (kind: string) => (message: string) => void said.push(`${kind}: ${message}`)
  const { port } = server.address() as AddressInfo
  return {
    api: {
      transport: options.timeoutMs === undefined ? transport : hasty(transport, options.timeoutMs),
      baseUrl: new URL(`http://127.0.0.1:${port}`),
      apiKey: 'scripted-key',
      workspaceId: undefined,
    },
    asked,
    clock,
    said,
    log: {
      info: say('info'),
      debug: say('debug'),
      warning: say('warning'),
      notice: say('notice'),
      group: async (_title, work) => work(),
      remote: (title, text) => void said.push(`remote: ${title}: ${text}`),
    },
    at: (seconds) => start + seconds * 1000,
    elapsed: () => (now - start) / 1000,
    cancel: () => controller.abort(new CancelledError('The job was cancelled')),
    close: async () => {
      await transport.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The same transport, with less patience for each request. */
function hasty(transport: Transport, timeoutMs: number): Transport {
  const shorten = (request: Request): Request => ({ ...request, timeoutMs })
  return {
    clock: transport.clock,
    signal: transport.signal,
    send: (request: Request) => transport.send(shorten(request)),
    sendWithRetry: (request: Request, retry: Parameters<Transport['sendWithRetry']>[1]) =>
      transport.sendWithRetry(shorten(request), retry),
    stream: (request: Request) => transport.stream(shorten(request)),
    close: () => transport.close(),
  } as Transport
}
