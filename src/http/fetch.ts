import { fetch as undiciFetch } from 'undici'
import { ProtocolError, RedirectError, type RequestFacts, TimeoutError } from './errors.ts'
import { proxyError, toRequestError } from './fault.ts'
import { Dispatchers, type ProxySettings } from './proxy.ts'
import { hostOf } from './transport.ts'
import { displayUrl } from './url.ts'

export interface FetchOptions {
  readonly proxy: ProxySettings
  /** Deadline of each request, its body included, in milliseconds. */
  readonly timeoutMs: number
  /** Limit of a body in bytes, counted after decoding. */
  readonly maxBytes: number
  /** Aborted when the job is cancelled. */
  readonly signal: AbortSignal
  /** What a request under way, or begun afterwards, still gets when `signal` is aborted, in milliseconds. */
  readonly graceMs: number
}

/** The part of a `fetch` that libraries such as Octokit use. */
export type Fetch = (
  url: string,
  init?: { method?: string; headers?: Record<string, string>; body?: string },
) => Promise<Response>

/**
 * A `fetch` by the rules of our transport, for libraries that bring their own client over `fetch`: a deadline,
 * a size limit, our proxies, no redirects. The answer comes with its whole body, whatever its status.
 *
 * A cancelled job does not end a request at once: its answer may hold the id of what it made, without which
 * nothing can be closed afterwards. It gets `graceMs` more.
 * @throws RedirectError, NetworkError, TimeoutError, ProtocolError for a body over the limit
 */
export function makeFetch(options: FetchOptions): Fetch {
  const dispatchers = new Dispatchers(options.proxy)
  return async (address, init = {}) => {
    const url = new URL(address)
    const facts: RequestFacts = { method: init.method ?? 'GET', url: displayUrl(url) }
    const deadline = new Deadline(facts, options)
    try {
      const answer = await undiciFetch(url, {
        method: facts.method,
        headers: init.headers ?? {},
        body: init.body ?? null,
        redirect: 'manual',
        dispatcher: dispatchers.for(url),
        signal: deadline.signal,
      })
      if (answer.status >= 300 && answer.status < 400 && answer.status !== 304) {
        await answer.body?.cancel()
        throw new RedirectError(facts, answer.status, hostOf(answer.headers.get('location') ?? undefined))
      }
      if (answer.status === 407) throw proxyError(facts, 407)
      const bytes = await readBytes(facts, answer.body, options.maxBytes)
      const empty = [204, 205, 304].includes(answer.status)
      return new Response(empty ? null : bytes, { status: answer.status, headers: [...answer.headers] })
    } catch (error) {
      if (deadline.signal.aborted) throw deadline.signal.reason
      // `fetch` wraps what happened in a TypeError; the code that tells is inside.
      const cause = error instanceof TypeError && error.cause instanceof Error ? error.cause : error
      throw toRequestError(facts, cause, { headersMs: options.timeoutMs, idleMs: options.timeoutMs })
    } finally {
      deadline.clear()
    }
  }
}

/** A timer that is kept alive (AbortSignal.timeout is unref'd) and grows short when the job is cancelled. */
class Deadline {
  readonly #controller = new AbortController()
  readonly #options: FetchOptions
  readonly #facts: RequestFacts
  #timer: NodeJS.Timeout

  constructor(facts: RequestFacts, options: FetchOptions) {
    this.#options = options
    this.#facts = facts
    this.#timer = this.#start(options.signal.aborted ? options.graceMs : options.timeoutMs)
    options.signal.addEventListener('abort', this.#shorten, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  clear(): void {
    clearTimeout(this.#timer)
    this.#options.signal.removeEventListener('abort', this.#shorten)
  }

  #shorten = (): void => {
    clearTimeout(this.#timer)
    this.#timer = this.#start(this.#options.graceMs)
  }

  #start(ms: number): NodeJS.Timeout {
    return setTimeout(
      () => this.#controller.abort(new TimeoutError(this.#facts, ms, 'the request was not done')),
      ms,
    )
  }
}

async function readBytes(
  facts: RequestFacts,
  body: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > maxBytes) {
      throw new ProtocolError(
        facts,
        `${facts.method} ${facts.url}: the answer is larger than ${maxBytes} bytes`,
      )
    }
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks))
}
