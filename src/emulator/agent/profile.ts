import type { HttpError } from './errors.ts'
import { SchemaError } from './errors.ts'
import type { SseDialect } from './sse.ts'

/** What differs between the two servers on the wire, apart from the engine. */
export interface Profile {
  name: 'python' | 'js'
  sse: SseDialect
  /** The answer to a request that failed before anything ran. */
  error(error: HttpError): Response
  /** Whether an event carries its id. */
  tellsId(run: { resumable: boolean; stateless: boolean }): boolean
  /** Paths that answer without a key. */
  open: readonly string[]
}

/** A JSON answer with its length, compact and in raw UTF-8, as the server writes it. */
export function json(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  const text = JSON.stringify(body)
  const length = String(Buffer.byteLength(text))
  return new Response(text, {
    status,
    headers: { ...headers, 'content-length': length, 'content-type': 'application/json' },
  })
}

export function plain(status: number, text: string, headers: Record<string, string> = {}): Response {
  const length = String(Buffer.byteLength(text))
  return new Response(text, {
    status,
    headers: { ...headers, 'content-length': length, 'content-type': 'text/plain; charset=utf-8' },
  })
}

/** An answer without a body. 204 has no length at all. */
export function empty(status: number, headers: Record<string, string> = {}): Response {
  return new Response(null, {
    status,
    headers: status === 204 ? headers : { ...headers, 'content-length': '0' },
  })
}

const HEARTBEAT_MS = 5_000

const python: Profile = {
  name: 'python',
  sse: { lineEnd: '\r\n', heartbeatMs: HEARTBEAT_MS },
  error: (error) => json(error.status, { detail: error.detail }, error.headers),
  tellsId: ({ resumable }) => resumable,
  open: ['/', '/ok', '/info', '/metrics', '/docs', '/openapi.json'],
}

/** `langgraphjs dev`: plain-text errors, zod's validation errors, LF, ids on every thread run, no heartbeat. */
const js: Profile = {
  name: 'js',
  sse: { lineEnd: '\n', heartbeatMs: undefined },
  error(error) {
    if (error instanceof SchemaError) {
      const issue = { code: 'invalid_type', path: error.path, message: error.reason }
      return json(400, { success: false, error: { issues: [issue], name: 'ZodError' } })
    }
    if (error.detail === 'Invalid JSON in request body') return plain(400, 'Malformed JSON in request body')
    const status = error.detail.endsWith('must be a UUID') ? 400 : error.status
    return plain(status, error.detail, error.headers)
  },
  tellsId: ({ stateless }) => !stateless,
  open: ['/', '/ok', '/info'],
}

export function profileOf(name: 'python' | 'js'): Profile {
  return name === 'python' ? python : js
}
