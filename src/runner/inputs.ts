import { LineCounter, parseDocument } from 'yaml'
import { InputError, type InputFault } from '../base/errors.ts'
import type { Environment } from '../http/proxy.ts'
import { readUrl, URL_EXPECTATION } from '../http/url.ts'
import { strip } from './neutralise.ts'

/** setTimeout takes no more than 2^31 - 1 ms: a longer one would fire at once. */
const MAX_MS = 24 * 24 * 60 * 60 * 1000

const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)$/
const TRUE = ['true', 'True', 'TRUE']
const FALSE = ['false', 'False', 'FALSE']

/** Made by the connection itself, never by the caller. */
const RESERVED_HEADERS = new Set(['connection', 'content-length', 'host', 'transfer-encoding', 'upgrade'])

/**
 * Reads the step's inputs and collects what is wrong with them, so that all of it is told at once. An empty
 * or blank value is one that was not given, because composite actions pass empty strings. Only names that
 * are asked for are read: an earlier step can set an undeclared `INPUT_…`.
 */
export class InputReader {
  readonly #env: Environment
  readonly #faults: InputFault[] = []

  constructor(env: Environment) {
    this.#env = env
  }

  /** @returns the value without the space at its ends; undefined when it was not given */
  text(name: string): string | undefined {
    const value = this.#env[`INPUT_${name.replaceAll(' ', '_').toUpperCase()}`]?.trim() ?? ''
    return value === '' ? undefined : value
  }

  /** @returns the value; '' and a fault when it was not given */
  required(name: string): string {
    const value = this.text(name)
    if (value === undefined) this.fault(name, 'is required')
    return value ?? ''
  }

  /** `true` or `false` in the toolkit's three spellings. */
  boolean(name: string, fallback: boolean): boolean {
    return this.optionalBoolean(name) ?? fallback
  }

  optionalBoolean(name: string): boolean | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    if (TRUE.includes(value)) return true
    if (FALSE.includes(value)) return false
    this.#wrong(name, value, 'true or false')
    return undefined
  }

  /** A decimal number: `30`, `0.5`, `-1`. */
  number(
    name: string,
    fallback: number,
    range: { min?: number; max?: number; positive?: boolean } = {},
  ): number {
    const value = this.text(name)
    if (value === undefined) return fallback
    const number = DECIMAL.test(value) ? Number(value) : Number.NaN
    const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY, positive = false } = range
    if (Number.isFinite(number) && number >= min && number <= max && !(positive && number <= 0)) return number
    const limits = [
      positive ? 'greater than 0' : '',
      range.min === undefined ? '' : `at least ${min}`,
      range.max === undefined ? '' : `at most ${max}`,
    ].filter((limit) => limit !== '')
    this.#wrong(name, value, ['a decimal number', limits.join(' and ')].join(' ').trim())
    return fallback
  }

  /** @param fallback in minutes @returns milliseconds */
  minutes(name: string, fallback: number): number {
    return Math.round(this.number(name, fallback, { positive: true, max: MAX_MS / 60_000 }) * 60_000)
  }

  /** @param fallback in seconds @param min in seconds @returns milliseconds */
  seconds(name: string, fallback: number, min?: number): number {
    const range = { positive: true, max: MAX_MS / 1000, ...(min === undefined ? {} : { min }) }
    return Math.round(this.number(name, fallback, range) * 1000)
  }

  /** One of a few words, spelled exactly. */
  oneOf<T extends string>(name: string, allowed: readonly T[]): T | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    const found = allowed.find((word) => word === value)
    if (found === undefined) this.#wrong(name, value, `one of ${allowed.join(', ')}`)
    return found
  }

  /** A URL without user name and password: `https:`, or `http:` for loopback or with `allowHttp`. */
  url(name: string, fallback: string | undefined, allowHttp: boolean): URL | undefined {
    const value = this.text(name) ?? fallback
    if (value === undefined) return undefined
    const url = readUrl(value, allowHttp)
    if (url instanceof URL) return url
    this.fault(name, `is ${shownUrl(value)}, expected ${URL_EXPECTATION[url]}`)
    return undefined
  }

  /** A YAML or JSON mapping. */
  mapping(name: string): Record<string, unknown> | undefined {
    const value = this.#yaml(name, 'a YAML or JSON mapping such as "key: value"')
    if (value === undefined) return undefined
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>
    this.fault(name, `is ${kindOf(value)}, expected a YAML or JSON mapping such as "key: value"`)
    return undefined
  }

  /** A YAML or JSON list. */
  list(name: string): unknown[] | undefined {
    const value = this.#yaml(name, 'a YAML or JSON list')
    if (value === undefined) return undefined
    if (Array.isArray(value)) return value as unknown[]
    this.fault(name, `is ${kindOf(value)}, expected a YAML or JSON list such as "- item"`)
    return undefined
  }

  /**
   * Lines `Name: value`. Values are secret: no fault shows one.
   * @returns by lower-case name, so that a name can stand in place of one of ours
   */
  headers(name: string): Record<string, string> {
    const headers: Record<string, string> = {}
    const lines = (this.text(name) ?? '').split(/\r\n|\r|\n/)
    for (const [index, line] of lines.entries()) {
      if (line.trim() === '') continue
      const fault = (message: string): void => this.fault(name, `line ${index + 1} ${message}`)
      const match = /^\s*([!#$%&'*+\-.^_`|~0-9A-Za-z]+):(.*)$/.exec(line)
      const header = match?.[1]?.toLowerCase()
      const value = match?.[2]?.trim() ?? ''
      if (header === undefined) fault('is not of the form "Name: value"')
      else if (RESERVED_HEADERS.has(header)) fault(`sets ${header}, which the connection sets itself`)
      else if (Object.hasOwn(headers, header)) fault(`gives ${header} again; expected each name once`)
      else if (value === '') fault(`gives ${header} no value`)
      else if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
        fault(`has a character in ${header} that a header cannot carry; expected ASCII`)
      else headers[header] = value
    }
    return headers
  }

  /** Notes a fault that the caller found: `message` goes on after the input's name ("is …, expected …"). */
  fault(input: string, message: string): void {
    this.#faults.push({ input, message })
  }

  get faults(): readonly InputFault[] {
    return this.#faults
  }

  /** @throws InputError with every fault so far */
  check(hint?: string): void {
    if (this.#faults.length > 0) throw new InputError([...this.#faults], { hint })
  }

  #wrong(name: string, value: string, expected: string): void {
    const clean = strip(value).replaceAll('\n', ' ')
    const shown = clean.length > 100 ? `${clean.slice(0, 100)}…` : clean
    this.fault(name, `is ${JSON.stringify(shown)}, expected ${expected}`)
  }

  /** Where it is wrong is told by line and column, never by its text, which may hold secrets. */
  #yaml(name: string, expected: string): unknown {
    const text = this.text(name)
    if (text === undefined) return undefined
    const lines = new LineCounter()
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'silent' })
    const error = document.errors[0]
    if (error !== undefined) {
      const { line, col } = lines.linePos(error.pos[0])
      this.fault(
        name,
        `cannot be read at line ${line}, column ${col} (${describeCode(error.code)}), expected ${expected}`,
      )
      return undefined
    }
    try {
      return (document.toJS() as unknown) ?? undefined
    } catch {
      this.fault(name, `has aliases without an anchor, or far too many, expected ${expected}`)
      return undefined
    }
  }
}

/** yaml's code in words: `BAD_INDENT` is "bad indent". */
function describeCode(code: string): string {
  return code.toLowerCase().replaceAll('_', ' ')
}

/** The path of a URL can be a secret, and so can what stands before the host. */
function shownUrl(value: string): string {
  if (URL.canParse(value)) {
    const { origin, protocol } = new URL(value)
    return origin === 'null' ? protocol : origin
  }
  return /^[\w.:/-]{1,100}$/.test(value) ? `"${value}"` : 'no URL'
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`
}
