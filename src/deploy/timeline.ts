/** One status of a revision and how long it lasted, in milliseconds since 1970. */
export interface TimelineEntry {
  readonly status: string
  readonly startMs: number
  readonly endMs: number
}

/** The statuses that the polls saw, in order. A status between two polls is not in it. */
export class Timeline {
  readonly #entries: { status: string; startMs: number; endMs: number }[] = []
  #closed = false

  /**
   * @param status the status that was seen now
   * @returns how long the one before lasted, in words; undefined for the first
   */
  enter(status: string, nowMs: number): string | undefined {
    const before = this.#entries.at(-1)
    if (before !== undefined) before.endMs = nowMs
    this.#closed = false
    this.#entries.push({ status, startMs: nowMs, endMs: nowMs })
    return before === undefined ? undefined : `${inWords(before.endMs - before.startMs)} of ${before.status}`
  }

  /** Ends the last status, once: what comes after the wait (checks, a rollback) is not time in it. */
  close(nowMs: number): void {
    const last = this.#entries.at(-1)
    if (last !== undefined && !this.#closed) last.endMs = nowMs
    this.#closed = true
  }

  get entries(): readonly TimelineEntry[] {
    return this.#entries
  }

  get last(): string | undefined {
    return this.#entries.at(-1)?.status
  }
}

/** A duration as a person says it: `0.4 s`, `12 s`, `3 min 5 s`. */
export function inWords(ms: number): string {
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
