/** Time is passed in, so that a wait of thirty minutes can be tested in none. */
export interface Clock {
  /** Milliseconds since 1970; only differences are used. */
  now(): number
  /**
   * Waits, and keeps the process alive meanwhile: an unref'd timer would let Node exit 0 in the middle.
   * @param ms milliseconds
   * @param signal ends the wait at once
   * @throws the signal's reason when it is aborted
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** A number from 0 (inclusive) to 1 (exclusive), as `Math.random`. */
export type Random = () => number

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const onAbort = (): void => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(
        () => {
          signal?.removeEventListener('abort', onAbort)
          resolve()
        },
        Math.max(0, ms),
      )
      signal?.addEventListener('abort', onAbort, { once: true })
    }),
}
