/** Does to an answer what a fault says. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { isEventStream, open, send, write, writeHead } from '../wire/bridge.ts'
import type { Effect } from './index.ts'

const zip = promisify(gzip)

const BOMB_BYTES = 4 * 1024 ** 3
const BOMB_CHUNK = 16 * 1024 ** 2
const DRIP_MS = 50
const BODYLESS = [204, 205, 304]

function scripted({ status, body, headers }: Extract<Effect, { status: number }>): Response {
  const isText = typeof body === 'string'
  const type = isText ? 'text/plain; charset=utf-8' : 'application/json'
  const content =
    body === undefined || BODYLESS.includes(status) ? null : isText ? body : JSON.stringify(body)
  const all = new Headers(headers)
  if (content !== null && !all.has('content-type')) all.set('content-type', type)
  return new Response(content, { status, headers: all })
}

/** An answer that needs no work done: the request never reaches the service. */
export function instead(effect: Effect): Response | undefined {
  if ('status' in effect) return scripted(effect)
  if ('redirect' in effect) return new Response(null, { status: 307, headers: { location: effect.redirect } })
  return undefined
}

/** Cuts the connection with a reset, as a crashed server or a firewall does. */
export function reset(request: IncomingMessage): void {
  request.socket.resetAndDestroy()
}

/** An answer without end in sight: spaces, plain or packed a thousandfold. Ends when the client hangs up. */
export async function bomb(kind: 'plain' | 'gzip', out: ServerResponse): Promise<void> {
  const plain = Buffer.alloc(BOMB_CHUNK, ' ')
  const chunk = kind === 'gzip' ? await zip(plain) : plain
  if (kind === 'gzip') out.setHeader('content-encoding', 'gzip')
  out.writeHead(200, { 'content-type': 'application/json' })
  for (let sent = 0; sent < BOMB_BYTES; sent += BOMB_CHUNK) if (!(await write(out, chunk))) return
  out.end()
}

/** Half an answer, or one event and half of the next, then the end of the connection. */
async function cut(response: Response, request: IncomingMessage, out: ServerResponse): Promise<void> {
  const { chunks, whole, rest, cancel } = await open(response)
  const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  const stream = isEventStream(response)
  writeHead(response, out, whole && !stream ? size : undefined)
  let intact = stream ? 1 : 0
  async function* all(): AsyncGenerator<Uint8Array> {
    yield* chunks
    yield* rest
  }
  for await (const chunk of all()) {
    if (intact === 0) {
      await write(out, chunk.subarray(0, Math.ceil(chunk.length / 2)))
      break
    }
    await write(out, chunk)
    intact -= 1
  }
  cancel()
  request.socket.destroySoon()
}

/** Waits, but not for a client that has hung up. */
function pause(out: ServerResponse, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms)
    function done(): void {
      clearTimeout(timer)
      out.off('close', done)
      resolve()
    }
    if (out.closed) done()
    else out.once('close', done)
  })
}

/** The whole answer, and then never its end: heartbeats in a stream, spaces elsewhere. */
async function endless(response: Response, out: ServerResponse): Promise<void> {
  const { chunks, rest, cancel } = await open(response)
  out.once('close', cancel)
  response.headers.delete('content-length')
  writeHead(response, out)
  for (const chunk of chunks) if (!(await write(out, chunk))) return
  for await (const chunk of rest) if (!(await write(out, chunk))) return
  const drip = isEventStream(response) ? ': heartbeat\r\n\r\n' : ' '
  while (await write(out, drip)) await pause(out, DRIP_MS)
}

/** The same bytes, one by one. */
async function trickle(response: Response, out: ServerResponse, ms: number): Promise<void> {
  const { chunks, whole, rest, cancel } = await open(response)
  out.once('close', cancel)
  const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  writeHead(response, out, whole && !isEventStream(response) ? size : undefined)
  async function* all(): AsyncGenerator<Uint8Array> {
    yield* chunks
    yield* rest
  }
  for await (const chunk of all()) {
    for (let index = 0; index < chunk.length; index += 1) {
      if (!(await write(out, chunk.subarray(index, index + 1)))) return
      await pause(out, ms)
    }
  }
  out.end()
}

/** Sends the answer to work that was done, in the way that the fault says; without one, as it is. */
export async function deliver(
  effect: Effect | undefined,
  response: Response,
  request: IncomingMessage,
  out: ServerResponse,
): Promise<void> {
  if (effect && 'reset' in effect) return reset(request)
  if (effect && 'stream' in effect) {
    return effect.stream === 'cut' ? cut(response, request, out) : endless(response, out)
  }
  if (effect && 'trickleMs' in effect) return trickle(response, out, effect.trickleMs)
  if (effect && 'delayMs' in effect) await pause(out, effect.delayMs)
  return send(response, out, request.method === 'HEAD')
}
