import type * as z from 'zod/mini'
import { AgentDeployError } from '../../base/errors.ts'
import { HttpError, ProtocolError } from '../../http/errors.ts'
import type { RetryOptions } from '../../http/retry.ts'
import type { Request, Response, Transport } from '../../http/transport.ts'
import { displayUrl, join } from '../../http/url.ts'
import { controlPlaneHint } from './hints.ts'

/** Where the control plane is and who asks. Every endpoint's function takes it first. */
export interface ControlPlane {
  readonly transport: Transport
  /** Base URL with its path prefix (`/api-host`), without `/v2`. */
  readonly baseUrl: URL
  readonly apiKey: string
  /** Sent as `X-Tenant-Id`. */
  readonly workspaceId: string | undefined
}

export interface CallOptions extends RetryOptions {
  /** One try only: the caller has a loop of its own (polls). */
  readonly once?: boolean
  readonly signal?: AbortSignal
  /** Deadline of one try in milliseconds. */
  readonly timeoutMs?: number
}

type Call = Pick<Request, 'method' | 'json' | 'timeoutMs'> & {
  readonly path: string
  readonly query?: Record<string, string | number | undefined>
}

/**
 * One call of the control plane, with the key and the workspace.
 * @throws HttpError with a hint where the failure is a known one, and whatever the transport throws
 */
export async function call(api: ControlPlane, call: Call, options: CallOptions = {}): Promise<Response> {
  const request: Request = {
    method: call.method,
    url: join(api.baseUrl, call.path, call.query),
    headers: {
      'x-api-key': api.apiKey,
      ...(api.workspaceId === undefined ? {} : { 'x-tenant-id': api.workspaceId }),
    },
    ...(call.json === undefined ? {} : { json: call.json }),
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  }
  try {
    return options.once === true
      ? await api.transport.send(request)
      : await api.transport.sendWithRetry(request, options)
  } catch (error) {
    if (!(error instanceof HttpError) || error.hint !== undefined) throw error
    throw new HttpError(error, error, controlPlaneHint(error.status, error.detail, api))
  }
}

/**
 * Reads an answer by its schema; unknown fields pass.
 * @throws ProtocolError that names the field, never its value: answers carry secrets
 */
export function parse<T extends z.ZodMiniType>(
  request: { method: string; url: string },
  schema: T,
  value: unknown,
): z.output<T> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const fields = result.error.issues.map((issue) => issue.path.join('.') || '(the whole answer)')
  throw new ProtocolError(
    request,
    `${request.method} ${request.url} gave an answer without what this interface promises: ${[...new Set(fields)].join(', ')}`,
    {
      hint: 'Look at control-plane-url: another service, or a version with another interface, seems to answer there.',
    },
  )
}

/** Calls an endpoint and reads its JSON answer by a schema. */
export async function callJson<T extends z.ZodMiniType>(
  api: ControlPlane,
  request: Call,
  schema: T,
  options: CallOptions = {},
): Promise<z.output<T>> {
  const response = await call(api, request, options)
  const facts = { method: request.method, url: displayUrl(join(api.baseUrl, request.path)) }
  return parse(facts, schema, response.json())
}

/**
 * A path segment; ids are checked when they are read, names come from the user.
 * @throws AgentDeployError for `.` and `..`, which a URL swallows in every spelling: another path would be asked
 */
export function segment(text: string): string {
  if (text === '' || text === '.' || text === '..')
    throw new AgentDeployError(`${JSON.stringify(text)} cannot be an id`, {
      hint: 'Look at the inputs that give ids.',
    })
  return encodeURIComponent(text)
}

/**
 * The base URL of a `control-plane-url`: a path prefix is kept, a last `/` or `/v2` is dropped.
 */
export function controlPlaneBase(url: URL): URL {
  const base = new URL(url.origin)
  base.pathname = url.pathname.replace(/\/+$/, '').replace(/\/v2$/, '').replace(/\/+$/, '')
  return base
}
