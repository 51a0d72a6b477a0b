/** The emulator's clock: real time, and emulator seconds that run `speed` times faster. */
export interface EmulatorClock {
  /** Milliseconds since the epoch, real. */
  now(): number
  /** Emulator seconds since then: real seconds times the speed. */
  elapsed(sinceMs: number): number
  /** How many real milliseconds so many emulator seconds last. */
  realMs(seconds: number): number
}

/** @param speed how many times faster than real ones revisions, sandboxes and deletions walk; above 0. */
export function createClock(speed: number, now: () => number): EmulatorClock {
  return {
    now,
    elapsed: (sinceMs) => ((now() - sinceMs) / 1000) * speed,
    realMs: (seconds) => (seconds * 1000) / speed,
  }
}
