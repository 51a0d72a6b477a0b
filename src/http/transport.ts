import type { Readable } from 'node:stream'
import { request as undiciRequest } from 'undici'
import type { Clock, Random } from '../base/clock.ts'
import { decode, readText } from './body.ts'
import { errorDetail } from './detail.ts'
import {
  HttpError,
  ProtocolError,
  RedirectError,
  RequestError,
  type RequestFacts,
  TimeoutError,
} from './errors.ts'
import { proxyError, toRequestError } from './fault.ts'
import { Dispatchers, type ProxySettings } from './proxy.ts'
import { type RetryOptions, withRetry } from './retry.ts'
import { parseRetryAfter } from './retry-after.ts'
import { displayUrl } from './url.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

export interface Request {
  readonly method: Method
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly json?: unknown
  /** Sent as it is; made anew for each try; `length` in bytes becomes Content-Length. */
  readonly upload?: { readonly length: number; open(): Readable }
  /** Shown in messages in place of the URL, where its path is a secret (upload and feedback URLs). */
  readonly name?: string
  /** Deadline of the whole request in milliseconds. */
  readonly timeoutMs?: number
  /** Deadline of the answer's first byte in milliseconds. */
  readonly headersTimeoutMs?: number
  /** Longest silence within the body in milliseconds. */
  readonly idleTimeoutMs?: number
  /** Limit of the body in bytes, counted after decoding. */
  readonly maxBytes?: number
  /** Ends the request; besides the transport's own signal. */
  readonly signal?: AbortSignal
}

export interface Response {
  readonly status: number
  /** A header's value by its lower-case name; several values joined by a comma. */
  header(name: string): string | undefined
  readonly text: string
  /** @throws ProtocolError when the body is not JSON */
  json(): unknown
}

export interface StreamedResponse {
  readonly status: number
  header(name: string): string | undefined
  /** Decoded bytes as they come. Ends with a typed error when the connection breaks or a deadline passes. */
  readonly chunks: AsyncIterable<Uint8Array>
  /** Stops reading and frees the connection. Idempotent; must be called in the end. */
  close(): void
}

export interface TransportOptions {
  readonly proxy: ProxySettings
  /** Aborted when the job is cancelled; its reason is what every request then throws. */
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly random: Random
  readonly userAgent: string
  /** Told of each exchange: for debug logging. Never bodies, never headers. */
  readonly onExchange?: (line: string) => void
}

const DEFAULTS = {
  timeoutMs: 60_000,
  headersTimeoutMs: 30_000,
  idleTimeoutMs: 30_000,
  maxBytes: 8 * 1024 * 1024,
}

/** An error answer is read as far as its `detail` can reach. */
const MAX_ERROR_BYTES = 256 * 1024

/** One transport for all clients: own agent, deadlines, limits, no redirects, typed errors. */
export class Transport {
  readonly #options: TransportOptions
  readonly #dispatchers: Dispatchers

  constructor(options: TransportOptions) {
    this.#options = options
    this.#dispatchers = new Dispatchers(options.proxy)
  }

  get clock(): Clock {
    return this.#options.clock
  }

  get signal(): AbortSignal {
    return this.#options.signal
  }

  get random(): Random {
    return this.#options.random
  }

  /**
   * Sends one request, once.
   * @throws HttpError for a status of 400 or more, RedirectError for 3xx, NetworkError, TimeoutError,
   *   ProtocolError for a body over the limit; the signal's reason when cancelled
   */
  async send(request: Request): Promise<Response> {
    const opened = await this.#open(request)
    try {
      const text = await readText(opened.facts, opened.body, request.maxBytes ?? DEFAULTS.maxBytes)
      return {
        status: opened.status,
        header: opened.header,
        text,
        json: () => parseJson(opened.facts, text),
      }
    } catch (error) {
      throw opened.toError(error)
    } finally {
      opened.close()
    }
  }

  /**
   * Sends one request and tries again where that is safe: GET and DELETE on 429, 5xx and network faults; any
   * other method only when the service provably did not take it (design, section 4, "Apply").
   * @throws what `send` throws at the last try
   */
  async sendWithRetry(request: Request, retry: RetryOptions): Promise<Response> {
    return withRetry(() => this.send(limited(request, retry, this.clock)), request.method, retry, {
      clock: this.clock,
      random: this.#options.random,
      signal: request.signal === undefined ? this.signal : AbortSignal.any([this.signal, request.signal]),
    })
  }

  /**
   * Opens a stream. Errors before the first byte are thrown as by `send`; later ones by the iteration.
   * `timeoutMs` covers the whole stream, however many heartbeats come.
   */
  async stream(request: Request): Promise<StreamedResponse> {
    const opened = await this.#open(request)
    return {
      status: opened.status,
      header: opened.header,
      chunks: iterate(opened),
      close: opened.close,
    }
  }

  /** Ends all connections, so that the process can end by itself. */
  async close(): Promise<void> {
    await this.#dispatchers.destroy()
  }

  async #open(request: Request): Promise<Opened> {
    const facts: RequestFacts = { method: request.method, url: request.name ?? displayUrl(request.url) }
    const timeoutMs = request.timeoutMs ?? DEFAULTS.timeoutMs
    const headersMs = Math.min(request.headersTimeoutMs ?? DEFAULTS.headersTimeoutMs, timeoutMs)
    const idleMs = Math.min(request.idleTimeoutMs ?? DEFAULTS.idleTimeoutMs, timeoutMs)
    const cancel = request.signal === undefined ? this.signal : AbortSignal.any([this.signal, request.signal])
    cancel.throwIfAborted()

    // A timer of our own, kept alive: AbortSignal.timeout is unref'd and would let Node exit 0.
    const controller = new AbortController()
    const onCancel = (): void => controller.abort(cancel.reason)
    cancel.addEventListener('abort', onCancel, { once: true })
    const timer = setTimeout(
      () => controller.abort(new TimeoutError(facts, timeoutMs, 'the request was not done')),
      timeoutMs,
    )
    let body: Readable | undefined
    const close = (): void => {
      clearTimeout(timer)
      cancel.removeEventListener('abort', onCancel)
      if (body !== undefined && !body.destroyed && !body.readableEnded) {
        body.on('error', () => {})
        body.destroy()
      }
    }
    const toError = (error: unknown): Error => {
      if (cancel.aborted) return cancel.reason as Error
      // An error of ours is more than the deadline that passed while it was being told.
      if (error instanceof RequestError || !controller.signal.aborted)
        return toRequestError(facts, error, { headersMs, idleMs })
      return controller.signal.reason as Error
    }

    const started = this.clock.now()
    try {
      const answer = await undiciRequest(request.url, {
        method: request.method,
        dispatcher: this.#dispatchers.for(request.url),
        headers: headersOf(request, this.#options.userAgent),
        body: bodyOf(request),
        signal: controller.signal,
        // undici's timers may fire half a second early; where the whole request's own ends it, they are off (0).
        headersTimeout: headersMs < timeoutMs ? headersMs : 0,
        bodyTimeout: idleMs < timeoutMs ? idleMs : 0,
      })
      body = answer.body
      this.#options.onExchange?.(
        `${facts.method} ${facts.url} answered ${answer.statusCode} after ${this.clock.now() - started} ms`,
      )
      const header = (name: string): string | undefined => {
        const value = answer.headers[name]
        return Array.isArray(value) ? value.join(', ') : value
      }
      const coding = isEmpty(answer.statusCode, header) ? undefined : header('content-encoding')
      if (answer.statusCode >= 300) {
        const read = (): Promise<string> =>
          readText(facts, decode(facts, answer.body, coding), MAX_ERROR_BYTES)
        throw await this.#refusal(facts, answer.statusCode, header, read)
      }
      const decoded = decode(facts, answer.body, coding)
      return { facts, status: answer.statusCode, header, body: decoded, close, toError }
    } catch (error) {
      close()
      throw toError(error)
    }
  }

  async #refusal(
    facts: RequestFacts,
    status: number,
    header: (name: string) => string | undefined,
    read: () => Promise<string>,
  ): Promise<Error> {
    if (status < 400) return new RedirectError(facts, status, hostOf(header('location')))
    if (status === 407) return proxyError(facts, status)
    let detail = ''
    try {
      detail = errorDetail(await read())
    } catch {
      // A body that breaks or never ends must not hide the status. (A cancel is seen by `toError`.)
    }
    return new HttpError(facts, {
      status,
      detail,
      retryAfterMs: parseRetryAfter(header('retry-after'), this.clock.now()),
    })
  }
}

interface Opened {
  readonly facts: RequestFacts
  readonly status: number
  readonly header: (name: string) => string | undefined
  readonly body: Readable
  readonly close: () => void
  readonly toError: (error: unknown) => Error
}

async function* iterate(opened: Opened): AsyncIterable<Uint8Array> {
  try {
    for await (const chunk of opened.body) yield chunk as Uint8Array
  } catch (error) {
    throw opened.toError(error)
  } finally {
    opened.close()
  }
}

/** Answers without a body may name a coding all the same, and nothing is not valid gzip. */
function isEmpty(status: number, header: (name: string) => string | undefined): boolean {
  return status === 204 || status === 304 || header('content-length') === '0'
}

/** A try may not outlive the deadline of all tries. */
function limited(request: Request, retry: RetryOptions, clock: Clock): Request {
  if (retry.deadline === undefined) return request
  const left = Math.max(1, retry.deadline - clock.now())
  return { ...request, timeoutMs: Math.min(request.timeoutMs ?? DEFAULTS.timeoutMs, left) }
}

function headersOf(request: Request, userAgent: string): Record<string, string> {
  return {
    accept: 'application/json',
    'accept-encoding': 'gzip, deflate',
    'user-agent': userAgent,
    ...(request.json === undefined ? {} : { 'content-type': 'application/json' }),
    ...(request.upload === undefined ? {} : { 'content-length': String(request.upload.length) }),
    ...request.headers,
  }
}

function bodyOf(request: Request): string | Readable | null {
  if (request.upload !== undefined) return request.upload.open()
  return request.json === undefined ? null : JSON.stringify(request.json)
}

function parseJson(facts: RequestFacts, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ProtocolError(facts, `${facts.method} ${facts.url} answered something that is not JSON`, {
      hint: 'Look at the URL: a web page or a proxy seems to answer there, not the service.',
    })
  }
}

/** Where a redirect points: host only, since its path and query can carry secrets. */
export function hostOf(location: string | undefined): string {
  if (location === undefined || location === '') return 'nowhere (no Location header)'
  // A relative target is the same host; anything else is named by its host only, never by its path or query.
  if (!/^([a-z][a-z0-9+.-]*:)?\/\//i.test(location)) return 'another path of the same host'
  const absolute = location.startsWith('//') ? `https:${location}` : location
  return URL.canParse(absolute) ? `host ${new URL(absolute).host}` : 'something that is not a URL'
}
