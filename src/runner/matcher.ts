import { CUT_MARK } from '../base/text.ts'

/** No pattern is shorter. */
export const MIN_PATTERN = 6

const BASE = 0x01000193
/** BASE to the power of MIN_PATTERN - 1, as 32 bits. */
const TOP = Array.from({ length: MIN_PATTERN - 1 }).reduce<number>((power) => Math.imul(power, BASE), 1)

/**
 * Finds many strings in one pass: a hash of six characters rolls over the text, and only where some string
 * begins with that hash are strings compared, the longest first. The cost is that of the text's length and
 * of what is found, however many strings there are.
 */
export class Matcher {
  readonly #byHash = new Map<number, string[]>()
  readonly #filter: Uint8Array
  readonly #mask: number

  /** @param patterns each of at least MIN_PATTERN characters */
  constructor(patterns: Iterable<string>) {
    for (const pattern of patterns) {
      const hash = hashOf(pattern)
      const same = this.#byHash.get(hash)
      if (same === undefined) this.#byHash.set(hash, [pattern])
      else same.push(pattern)
    }
    for (const list of this.#byHash.values()) list.sort((a, b) => b.length - a.length)
    const size = 2 ** Math.min(24, Math.max(10, Math.ceil(Math.log2(this.#byHash.size * 16 + 1))))
    this.#mask = size - 1
    this.#filter = new Uint8Array(size)
    for (const hash of this.#byHash.keys()) this.#filter[spread(hash) & this.#mask] = 1
  }

  /**
   * Replaces every occurrence; occurrences that overlap are replaced together, so that no rest of one shows.
   * The first part of a string in front of a cut mark is replaced too.
   * @param isKept says of an occurrence that it stays
   */
  replace(text: string, by: string, isKept: (start: number, pattern: string) => boolean): string {
    if (this.#byHash.size === 0 || text.length < MIN_PATTERN) return text
    const cut = text.indexOf(CUT_MARK)
    const parts: string[] = []
    let done = 0
    let from = -1
    let to = -1
    for (const [start, end] of this.#occurrences(text, cut, isKept)) {
      if (start > to) {
        if (from >= 0) {
          parts.push(text.slice(done, from), by)
          done = to
        }
        from = start
      }
      if (end > to) to = end
    }
    if (from < 0) return text
    parts.push(text.slice(done, from), by, text.slice(to))
    return parts.join('')
  }

  /** Whether any of the strings is part of the text. */
  test(text: string): boolean {
    for (const _ of this.#occurrences(text, -1, () => false)) return true
    return false
  }

  *#occurrences(
    text: string,
    firstCut: number,
    isKept: (start: number, pattern: string) => boolean,
  ): Generator<[number, number]> {
    let cut = firstCut
    let hash = 0
    for (let index = 0; index < text.length; index++) {
      if (index >= MIN_PATTERN) hash = (hash - Math.imul(text.charCodeAt(index - MIN_PATTERN), TOP)) | 0
      hash = (Math.imul(hash, BASE) + text.charCodeAt(index)) | 0
      if (index < MIN_PATTERN - 1 || this.#filter[spread(hash) & this.#mask] === 0) continue
      const list = this.#byHash.get(hash)
      if (list === undefined) continue
      const start = index - MIN_PATTERN + 1
      while (cut >= 0 && cut < start) cut = text.indexOf(CUT_MARK, cut + 1)
      for (const pattern of list) {
        if (text.startsWith(pattern, start)) {
          if (isKept(start, pattern)) continue
          yield [start, start + pattern.length]
          break
        }
        if (cut >= 0 && cut < start + pattern.length && pattern.startsWith(text.slice(start, cut))) {
          yield [start, cut]
          break
        }
      }
    }
  }
}

function hashOf(pattern: string): number {
  let hash = 0
  for (let index = 0; index < MIN_PATTERN; index++)
    hash = (Math.imul(hash, BASE) + pattern.charCodeAt(index)) | 0
  return hash
}

/** The low bits of a polynomial hash depend on the last characters only. */
function spread(hash: number): number {
  return (hash ^ (hash >>> 15)) >>> 0
}
