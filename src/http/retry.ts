import pRetry from 'p-retry'
import type { Clock, Random } from '../base/clock.ts'
import { HttpError, NetworkError, ProtocolError, TimeoutError } from './errors.ts'
import { isPermanent } from './fault.ts'

export interface RetryOptions {
  /** Milliseconds since 1970 after which no further try begins; absent: only `retries` limits. */
  readonly deadline?: number
  /** Tries after the first; absent: 5. */
  readonly retries?: number
  /** Told before each further try, with what went wrong and the wait in milliseconds. */
  readonly onRetry?: (error: Error, waitMs: number) => void
}

const MIN_WAIT_MS = 500
const MAX_WAIT_MS = 15_000

/**
 * Whether the same request may be sent again after this error (design, section 4, "Apply"). GET and DELETE
 * (and PUT of an upload, which replaces) may be after 429, 5xx, a network fault or a passed deadline. Any
 * other method only when the service provably did not take it: no connection, 429, or 503 with `Retry-After`.
 */
export function mayRetry(method: string, error: unknown): boolean {
  const idempotent = method === 'GET' || method === 'DELETE' || method === 'PUT'
  if (error instanceof HttpError) {
    if (error.status === 429) return true
    if (error.status === 503 && error.retryAfterMs !== undefined) return true
    return idempotent && error.status >= 500
  }
  if (error instanceof NetworkError) return !isPermanent(error) && (idempotent || error.neverSent)
  return idempotent && error instanceof TimeoutError
}

/** True when a POST or PATCH may have been taken though no usable answer came. */
export function isAmbiguous(error: unknown): boolean {
  if (error instanceof HttpError) return error.status >= 500 && !mayRetry('POST', error)
  if (error instanceof NetworkError) return !error.neverSent
  return error instanceof TimeoutError || error instanceof ProtocolError
}

/** Full-jitter backoff from half a second to fifteen, never below what `Retry-After` asks for. */
export function waitBefore(attempt: number, error: unknown, random: Random): number {
  const ceiling = Math.min(MAX_WAIT_MS, MIN_WAIT_MS * 2 ** attempt)
  const jittered = ceiling / 2 + (ceiling / 2) * random()
  const asked = error instanceof HttpError ? (error.retryAfterMs ?? 0) : 0
  return Math.max(asked, jittered)
}

/**
 * Runs a try over and over by the table of `mayRetry`, on p-retry. The wait is made in `onFailedAttempt`,
 * because p-retry knows neither `Retry-After` nor our deadline.
 * @throws the last try's error, or the signal's reason
 */
export async function withRetry<T>(
  attempt: () => Promise<T>,
  method: string,
  options: RetryOptions,
  tools: { clock: Clock; random: Random; signal: AbortSignal },
): Promise<T> {
  return pRetry(attempt, {
    retries: options.retries ?? 5,
    minTimeout: 0,
    signal: tools.signal,
    onFailedAttempt: async ({ error, attemptNumber, retriesLeft }) => {
      if (retriesLeft <= 0 || !mayRetry(method, error)) throw error
      const waitMs = waitBefore(attemptNumber, error, tools.random)
      if (options.deadline !== undefined && tools.clock.now() + waitMs >= options.deadline) throw error
      options.onRetry?.(error, waitMs)
      await tools.clock.sleep(waitMs, tools.signal)
    },
  })
}
