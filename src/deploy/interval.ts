import { isNearTheEnd } from './statuses.ts'

export interface IntervalFacts {
  /** The revision's status word; '' before the first good poll. */
  readonly status: string
  /** Polls made in this status so far. */
  readonly polls: number
  readonly minMs: number
  readonly maxMs: number
}

/**
 * The pause before the next poll. It grows inside a status and begins at the lower bound when the status
 * changes: plain exponential backoff over the whole wait notices the end of a long build late, because the end
 * comes minutes after the last change. Where the end is near it grows slowly and stays under a third of the
 * upper bound; where it is not, fewer polls lose nothing (bench/wait.mjs compares both with a fixed interval).
 * @returns milliseconds, from `minMs` to `maxMs`
 */
export function nextInterval({ status, polls, minMs, maxMs }: IntervalFacts): number {
  const near = isNearTheEnd(status)
  const growth = near ? 1.15 : 1.5
  const ceiling = near ? Math.max(minMs, maxMs / 3) : maxMs
  return Math.max(minMs, Math.min(ceiling, minMs * growth ** Math.min(polls, 60)))
}
