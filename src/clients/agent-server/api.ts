import * as z from 'zod/mini'
import { ProtocolError } from '../../http/errors.ts'
import type { Request, Response, Transport } from '../../http/transport.ts'
import { displayUrl, join } from '../../http/url.ts'

/** A live agent server and what is sent to it. Every endpoint's function takes it first. */
export interface AgentServer {
  readonly transport: Transport
  /** The deployment URL; a path prefix is kept. */
  readonly url: URL
  /** Credentials and the user's own headers. */
  readonly headers: Readonly<Record<string, string>>
}

export interface CallOptions {
  /** Milliseconds since 1970 by the transport's clock: no try begins or lasts beyond. */
  readonly deadline: number
  /** One try only: the caller has a loop of its own. */
  readonly once?: boolean
  /** Deadline of one try in milliseconds. */
  readonly timeoutMs?: number
}

export type Call = Pick<Request, 'method' | 'json'> & { readonly path: string }

/** Few: a check has a deadline of a minute, and its failure should name the server's answer, not the clock. */
const RETRIES = 2

/** The request for a call: its URL under the deployment's path, and the headers. */
export function requestFor(server: AgentServer, call: Call): Request {
  return {
    method: call.method,
    url: join(server.url, call.path),
    headers: server.headers,
    ...(call.json === undefined ? {} : { json: call.json }),
  }
}

/** Milliseconds until the deadline, at least one. */
export function timeLeft(server: AgentServer, deadline: number): number {
  return Math.max(1, deadline - server.transport.clock.now())
}

/**
 * One call of the agent server.
 * @throws whatever the transport throws; a POST is sent again only when it was provably not taken
 */
export async function call(server: AgentServer, call: Call, options: CallOptions): Promise<Response> {
  const left = timeLeft(server, options.deadline)
  const request: Request = {
    ...requestFor(server, call),
    timeoutMs: Math.min(options.timeoutMs ?? left, left),
    headersTimeoutMs: left,
    idleTimeoutMs: left,
  }
  return options.once === true
    ? server.transport.send(request)
    : server.transport.sendWithRetry(request, { deadline: options.deadline, retries: RETRIES })
}

/**
 * Calls an endpoint and reads its JSON answer by a schema; unknown fields pass.
 * @throws ProtocolError that names the field, never its value
 */
export async function callJson<T extends z.ZodMiniType>(
  server: AgentServer,
  request: Call,
  schema: T,
  options: CallOptions,
): Promise<z.output<T>> {
  const response = await call(server, request, options)
  const result = schema.safeParse(response.json())
  if (result.success) return result.data
  const facts = { method: request.method, url: displayUrl(join(server.url, request.path)) }
  const fields = result.error.issues.map((issue) => issue.path.join('.') || '(the whole answer)')
  throw new ProtocolError(
    facts,
    `${facts.method} ${facts.url} gave an answer without what the agent server's interface promises: ${[...new Set(fields)].join(', ')}`,
    { hint: 'Look at the deployment URL: another service seems to answer there.' },
  )
}

/** An id that the server gave. It becomes a path segment, so it is not taken when it is only dots or huge. */
export const Id = z.string().check(z.regex(/^(?!\.+$)[^\r\n]{1,256}$/))

/** An object of any fields. */
export const AnyRecord = z.record(z.string(), z.unknown())
