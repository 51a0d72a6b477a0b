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
    headers: { 'content-type': 'text/plain; charset=utf-8', ...headers, 'content-length': length },
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
  sse: {
    lineEnd: '\r\n',
    heartbeatMs: HEARTBEAT_MS,
    headers: {
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'content-type': 'text/event-stream; charset=utf-8',
    },
  },
  error: (error) => json(error.status, { detail: error.detail }, error.headers),
  tellsId: ({ resumable }) => resumable,
  open: ['/', '/ok', '/info', '/metrics', '/docs', '/openapi.json'],
}

const JS_TEXT = 'text/plain;charset=UTF-8'

/** What zod says about an id that is no UUID, where Python says a sentence of its own. */
function uuidIssue(detail: string): Record<string, unknown> | undefined {
  const named = /^Invalid (assistant|thread|run) ID: must be a UUID$/.exec(detail)?.[1]
  const name = detail === 'badly formed hexadecimal UUID string' ? 'thread' : named
  if (name === undefined) return undefined
  return { validation: 'uuid', code: 'invalid_string', message: 'Invalid uuid', path: [`${name}_id`] }
}

/**
 * `langgraphjs dev` as it answered when it was asked (1.5.1): plain-text errors, zod's validation errors, LF, ids on
 * every thread run, no heartbeat.
 */
const js: Profile = {
  name: 'js',
  sse: {
    lineEnd: '\n',
    heartbeatMs: undefined,
    headers: { 'cache-control': 'no-cache', 'content-type': 'text/event-stream' },
  },
  error(error) {
    const issue = error instanceof SchemaError ? error.issue : uuidIssue(error.detail)
    if (issue !== undefined)
      return json(400, { success: false, error: { issues: [issue], name: 'ZodError' } })
    const headers = { ...error.headers, 'content-type': JS_TEXT }
    if (error.detail === 'Invalid JSON in request body')
      return plain(400, 'Malformed JSON in request body', headers)
    if (error.status === 409) return plain(409, error.detail.replace(/ .*already/, ' already'), headers)
    return plain(error.status, error.detail, headers)
  },
  tellsId: ({ stateless }) => !stateless,
  open: ['/ok', '/info'],
}

export function profileOf(name: 'python' | 'js'): Profile {
  return name === 'python' ? python : js
}
