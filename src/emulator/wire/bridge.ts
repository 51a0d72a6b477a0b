/** Between node:http and the fetch-shaped handlers: a request in, a response out, chunk by chunk. */
import type { IncomingMessage, ServerResponse } from 'node:http'

/** Largest body of anything but an upload. */
export const BODY_LIMIT = 32 * 1024 * 1024
/** A whole answer up to this size is sent with its length; more, or what is still to come, in chunks. */
const WHOLE_LIMIT = 8 * 1024 * 1024

/** The body, whole; undefined when it is larger than `limit` (the rest is read and dropped). */
export async function readBytes(request: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= limit) chunks.push(chunk)
  }
  return size <= limit ? Buffer.concat(chunks) : undefined
}

export function headersOf(request: IncomingMessage): Headers {
  const headers = new Headers()
  for (let index = 0; index + 1 < request.rawHeaders.length; index += 2) {
    headers.append(request.rawHeaders[index] ?? '', request.rawHeaders[index + 1] ?? '')
  }
  return headers
}

/** @param url where the handler is to believe that it was asked. @param signal aborts when the client hangs up. */
export function toRequest(request: IncomingMessage, url: string, body: Buffer, signal: AbortSignal): Request {
  const method = request.method ?? 'GET'
  const bodyless = method === 'GET' || method === 'HEAD' || body.length === 0
  return new Request(url, {
    method,
    headers: headersOf(request),
    signal,
    ...(bodyless ? {} : { body: new Uint8Array(body) }),
  })
}

/** A tick in which whatever is ready without waiting gets its turn. */
function soon(): Promise<undefined> {
  return new Promise((resolve) => setImmediate(() => setImmediate(() => resolve(undefined))))
}

/** What of an answer is there at once, and how to go on. */
export interface Opened {
  chunks: Uint8Array[]
  /** Nothing follows `chunks`. */
  whole: boolean
  rest: AsyncIterable<Uint8Array>
  cancel(): void
}

/** Reads an answer's body as far as it comes without waiting. */
export async function open(response: Response): Promise<Opened> {
  const chunks: Uint8Array[] = []
  const reader = response.body?.getReader()
  if (!reader) return { chunks, whole: true, rest: none(), cancel: () => {} }
  const cancel = (): void => void reader.cancel().catch(() => {})
  let size = 0
  for (;;) {
    const pending = reader.read()
    const read = await Promise.race([pending, soon()])
    if (read === undefined) return { chunks, whole: false, rest: remaining(reader, pending), cancel }
    if (read.done) return { chunks, whole: true, rest: none(), cancel }
    chunks.push(read.value)
    size += read.value.length
    if (size > WHOLE_LIMIT) {
      return { chunks, whole: false, rest: remaining(reader, reader.read()), cancel }
    }
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>

async function* none(): AsyncGenerator<Uint8Array> {}

async function* remaining(reader: Reader, first: ReturnType<Reader['read']>): AsyncGenerator<Uint8Array> {
  let read = await first
  while (!read.done) {
    yield read.value
    read = await reader.read()
  }
}

/** Status and headers; `Set-Cookie` stays in several lines. @param length sent when the body is whole. */
export function writeHead(response: Response, out: ServerResponse, length?: number): void {
  for (const [name, value] of response.headers) if (name !== 'set-cookie') out.setHeader(name, value)
  const cookies = response.headers.getSetCookie()
  if (cookies.length > 0) out.setHeader('set-cookie', cookies)
  const bodyless = response.status === 204 || response.status === 304
  if (length !== undefined && !bodyless && !out.hasHeader('content-length'))
    out.setHeader('content-length', length)
  out.writeHead(response.status)
  out.flushHeaders()
}

/** Resolves when the client can take more; false when it has gone. */
export function write(out: ServerResponse, chunk: Uint8Array | string): Promise<boolean> {
  if (out.destroyed || out.closed) return Promise.resolve(false)
  return new Promise((resolve) => out.write(chunk, (error) => resolve(!error)))
}

/** Answers that go out in chunks even when all of them are there, as every streaming server's do. */
export function isEventStream(response: Response): boolean {
  return (response.headers.get('content-type') ?? '').startsWith('text/event-stream')
}

/** Sends an answer as it comes. */
export async function send(response: Response, out: ServerResponse, headOnly: boolean): Promise<void> {
  const opened = await open(response)
  const { chunks, whole, rest, cancel } = opened
  out.once('close', cancel)
  const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  writeHead(response, out, whole && !isEventStream(response) ? size : undefined)
  if (headOnly) {
    out.end()
    return
  }
  for (const chunk of chunks) if (!(await write(out, chunk))) return
  for await (const chunk of rest) if (!(await write(out, chunk))) return
  out.end()
}
