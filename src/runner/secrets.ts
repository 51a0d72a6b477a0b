import { encodings } from './encodings.ts'
import { Matcher, MIN_PATTERN } from './matcher.ts'

/** What the room around does with secrets: registers masks with the job's runner, and warns. */
export interface SecretsSink {
  /** Registers one line as a mask. */
  register(line: string): void
  /** Told of a value that is too short to be masked; `from` names it. */
  tooShort(from: string): void
}

const REDACTED = '***'

/** Secret values of this run, and how they are taken out of text (design, section 4, "Masks"). */
export class Secrets {
  readonly #sink: SecretsSink
  readonly #masked = new Set<string>()
  /** What a mask is called, for a warning about it. */
  readonly #names = new Map<string, string>()
  readonly #hidden = new Set<string>()
  readonly #kept = new Set<string>()
  #all: Matcher | undefined
  #maskedOnly: Matcher | undefined
  #keptAround = new Map<string, readonly { readonly text: string; readonly offset: number }[]>()

  constructor(sink: SecretsSink) {
    this.#sink = sink
  }

  /**
   * A secret that was given: its lines become masks of the job's log, and it is redacted in all encodings.
   * A value, or a line, of fewer than six characters is neither: a mask on `1` blanks the log.
   * @param from names the value in a warning: when it is that short, or part of an output
   */
  mask(value: string, from?: string): void {
    const lines = longLines(value)
    for (const line of lines) {
      if (this.#masked.has(line)) continue
      this.#sink.register(line)
    }
    if (lines.length === 0 && value.trim() !== '') this.#sink.tooShort(from ?? 'a secret')
    this.#add(this.#masked, value)
    if (from !== undefined && !this.#names.has(value)) this.#names.set(value, from)
  }

  /** A value that was read, not given: redacted, but not registered as a mask. */
  hide(value: string): void {
    this.#add(this.#hidden, value)
  }

  /** A text of our own (an id, a URL, a word) that stays whole, though a secret may be part of it. */
  keep(text: string): void {
    if (text.length < MIN_PATTERN || this.#kept.has(text)) return
    this.#kept.add(text)
    this.#keptAround = new Map()
  }

  /** The text with every secret, in every encoding, replaced by `***`. */
  redact(text: string): string {
    this.#all ??= new Matcher(formsOf([...this.#masked, ...this.#hidden]))
    return this.#all.replace(text, REDACTED, (start, pattern) =>
      this.#around(pattern).some((kept) => text.startsWith(kept.text, start - kept.offset)),
    )
  }

  /** Whether a secret that was given is part of the text: then the runner blanks it, and drops job outputs. */
  contains(text: string): boolean {
    this.#maskedOnly ??= new Matcher(formsOf(this.#masked))
    return this.#maskedOnly.test(text)
  }

  /** Which secret `contains` found: the name that it was given with; undefined when it has none. */
  nameIn(text: string): string | undefined {
    for (const [value, name] of this.#names) {
      if (new Matcher(formsOf([value.trim(), ...longLines(value)])).test(text)) return name
    }
    return undefined
  }

  #add(set: Set<string>, value: string): void {
    const before = set.size
    if ([...value.trim()].length >= MIN_PATTERN) set.add(value)
    for (const line of longLines(value)) set.add(line)
    if (set.size === before) return
    this.#all = undefined
    this.#maskedOnly = undefined
  }

  /** Where in our own texts a pattern stands. */
  #around(pattern: string): readonly { readonly text: string; readonly offset: number }[] {
    const known = this.#keptAround.get(pattern)
    if (known !== undefined) return known
    const found: { text: string; offset: number }[] = []
    for (const text of this.#kept) {
      for (let offset = text.indexOf(pattern); offset >= 0; offset = text.indexOf(pattern, offset + 1)) {
        found.push({ text, offset })
      }
    }
    this.#keptAround.set(pattern, found)
    return found
  }
}

/** Lines of at least six characters, without the space at their ends, as the runner takes a mask. */
function longLines(value: string): string[] {
  return value
    .split(/\r\n|\r|\n/)
    .map((line) => line.trim())
    .filter((line) => [...line].length >= MIN_PATTERN)
}

function formsOf(values: Iterable<string>): Set<string> {
  const forms = new Set<string>()
  for (const value of values) {
    for (const form of encodings(value)) if (form.length >= MIN_PATTERN) forms.add(form)
  }
  return forms
}
