import { AgentDeployError } from '../base/errors.ts'

/** What every error of a request knows. `url` has neither query nor user name: both can carry secrets. */
export interface RequestFacts {
  readonly method: string
  readonly url: string
}

/** Any failure of one request. */
export class RequestError extends AgentDeployError {
  readonly method: string
  readonly url: string

  constructor(
    request: RequestFacts,
    message: string,
    options: { hint?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, options)
    this.method = request.method
    this.url = request.url
  }
}

/** The server answered with a status of 400 or more. */
export class HttpError extends RequestError {
  readonly status: number
  /** Only what an error answer says of itself (`detail`, or a JSON-RPC error): never the body. May be empty. */
  readonly detail: string
  /** The `detail` member as it came, for callers that tell kinds of errors apart by their words. Do not print. */
  readonly retryAfterMs: number | undefined

  constructor(
    request: RequestFacts,
    answer: { status: number; detail: string; retryAfterMs?: number | undefined },
    hint?: string,
  ) {
    super(
      request,
      `${request.method} ${request.url} answered ${answer.status}${answer.detail === '' ? '' : `: ${answer.detail}`}`,
      { hint },
    )
    this.status = answer.status
    this.detail = answer.detail
    this.retryAfterMs = answer.retryAfterMs
  }
}

/** The server answered 3xx. It is never followed, because every client sends `X-Api-Key` along. */
export class RedirectError extends RequestError {
  readonly status: number
  /** Host of the `Location` header, or a sentence that there was none. */
  readonly target: string

  constructor(request: RequestFacts, status: number, target: string) {
    super(
      request,
      `${request.method} ${request.url} answered ${status}, a redirect to ${target}, which is not followed`,
      {
        hint: 'Redirects are never followed, because the API key would go along. Give the final URL as the input, or ask who runs the proxy in between.',
      },
    )
    this.status = status
    this.target = target
  }
}

/** No answer: name not found, connection refused or reset, TLS, proxy. */
export class NetworkError extends RequestError {
  /** Node's or undici's code (`ECONNREFUSED`, `ENOTFOUND`, …); empty when there was none. */
  readonly code: string
  /** True when the server provably did not take the request: the connection was never made. */
  readonly neverSent: boolean

  constructor(
    request: RequestFacts,
    code: string,
    cause: unknown,
    options: { neverSent: boolean; hint?: string | undefined },
  ) {
    super(request, `${request.method} ${request.url} got no answer${code === '' ? '' : ` (${code})`}`, {
      hint: options.hint,
      cause,
    })
    this.code = code
    this.neverSent = options.neverSent
  }
}

/** A deadline passed: of the connection, the headers, the body, or the whole request. */
export class TimeoutError extends RequestError {
  readonly timeoutMs: number

  constructor(request: RequestFacts, timeoutMs: number, what: string) {
    super(request, `${request.method} ${request.url}: ${what} within ${timeoutMs / 1000} s`, {
      hint: 'The server is slow or stuck, or a proxy holds the answer back. Run the job again; if it stays so, look at the service’s status page.',
    })
    this.timeoutMs = timeoutMs
  }
}

/** An answer that breaks the protocol: not JSON, too large, a missing id, an impossible value. */
export class ProtocolError extends RequestError {}
