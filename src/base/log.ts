/**
 * What the lower rooms may say while they work. `runner/` implements it over the job log; every text is
 * redacted and neutralised there, so callers pass remote text as it came.
 */
export interface Log {
  info(message: string): void
  /** Seen only with step debug logging. Never request bodies, never answers. */
  debug(message: string): void
  /** A yellow annotation. */
  warning(message: string): void
  /** A blue annotation. */
  notice(message: string): void
  /** Runs `work` inside a foldable group. The group is closed also when it throws. */
  group<T>(title: string, work: () => Promise<T>): Promise<T>
  /** Remote text of several lines (a build log), folded under a title; redacted, neutralised and cut. */
  remote(title: string, text: string): void
}
