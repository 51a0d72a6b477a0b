/** One environment variable of a deployment, as the service takes it. */
export interface Entry {
  readonly name: string
  readonly value: string
}

/** The two inputs that have this format: `secrets` are masked, `env-vars` are not. */
export type EntryInput = 'secrets' | 'env-vars'

/** What an environment variable may be called (POSIX, and what every shell takes). */
export const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/**
 * Whether a text may be shown as a name. A stray line of a key, too, can be letters and digits only, so
 * anything but a plain upper-case name is told by its line number alone (design, section 4, "Secrets").
 */
export function isShowable(name: string): boolean {
  return /^[A-Z_][A-Z0-9_]{0,63}$/.test(name)
}

/** `line 3` or `line 3 (NAME)`: where a fault is, never what stands there. */
export function place(line: number, name: string): string {
  return isShowable(name) ? `line ${line} (${name})` : `line ${line}`
}
