import { parse as parseDotenv } from 'dotenv'
import { isShowable, NAME, place } from './entry.ts'

/** One entry as it stands in the text, before it is judged. */
export interface RawEntry {
  /** Counted from 1. */
  readonly line: number
  readonly name: string
  /** Absent: no value was written (a name alone, or a YAML null). */
  readonly value: string | undefined
  /** An empty value in quotes was meant to be empty. */
  readonly quoted: boolean
}

export interface RawFault {
  readonly line: number
  readonly message: string
}

export interface Raw {
  readonly entries: readonly RawEntry[]
  readonly faults: readonly RawFault[]
}

/**
 * Reads lines of `NAME=value` or `NAME`. An unquoted value is the rest of its line as it is; one in single or
 * double quotes may span lines and has dotenv's escapes (`\n`, `\r` in double quotes).
 * @param text with `\n` as line end
 * @param env looked up for a name alone
 */
export function readLines(text: string, env: Readonly<Record<string, string | undefined>>): Raw {
  const lines = text.split('\n')
  const entries: RawEntry[] = []
  const faults: RawFault[] = []
  const strange: number[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = at + 1
    const written = (lines[at] ?? '').trimStart()
    if (written.trim() === '' || written.startsWith('#')) continue
    const equals = written.indexOf('=')
    const name = equals < 0 ? written.trimEnd() : written.slice(0, equals)
    if (!NAME.test(name)) {
      strange.push(line)
    } else if (equals < 0) {
      const value = env[name]
      if (typeof value === 'string') entries.push({ line, name, value, quoted: false })
      else if (isShowable(name)) faults.push({ line, message: missing(line, name) })
      else strange.push(line)
    } else {
      const rest = written.slice(equals + 1)
      const quote = rest.trimStart()[0]
      if (quote !== '"' && quote !== "'") {
        entries.push({ line, name, value: rest, quoted: false })
        continue
      }
      const read = readQuoted(quote, [rest.trimStart(), ...lines.slice(at + 1)].join('\n'), line)
      if (read.fault === undefined) entries.push({ line, name, value: read.value, quoted: true })
      else faults.push({ line, message: `${place(line, name)}: ${read.fault}` })
      at += read.lines - 1
    }
  }
  return { entries, faults: [...faults, ...ranges(strange)].sort((a, b) => a.line - b.line) }
}

function missing(line: number, name: string): string {
  return `line ${line} is the name ${name} alone, and there is no environment variable ${name}: set it in \`env:\` of the step, or write ${name}=value`
}

interface Quoted {
  readonly value: string
  /** How many lines the value takes; after a fault, the lines that cannot be read as entries. */
  readonly lines: number
  readonly fault?: string
}

/**
 * Finds the end of a quoted value as dotenv does: a quote with only a comment after it on its line. A quote
 * behind a backslash ends the value only when no later one does (`"C:\dir\"`).
 * @param text begins with the quote
 * @param line where that is, for the fault
 */
function readQuoted(quote: string, text: string, line: number): Quoted {
  const ends: number[] = []
  let closed = false
  for (let at = text.indexOf(quote, 1); at >= 0; at = text.indexOf(quote, at + 1)) {
    ends.push(at)
    closed = text[at - 1] !== '\\' || at === 1
    if (closed) break
  }
  const end = ends.reverse().find((at) => /^[^\S\n]*(#.*)?(\n|$)/.test(text.slice(at + 1)))
  if (end !== undefined) {
    const raw = text.slice(0, end + 1)
    return { value: parseDotenv(`V=${raw}`)['V'] ?? '', lines: raw.split('\n').length }
  }
  if (closed) {
    const lines = text.slice(0, ends[0]).split('\n').length
    const where = lines === 1 ? 'the next one' : `the next one, on line ${line + lines - 1},`
    return {
      value: '',
      lines,
      fault: `the value begins with ${quote}, and ${where} has text after it, so it does not end the value (put a value that has ${quote} in it into the other quotes)`,
    }
  }
  return {
    value: '',
    lines: text.split('\n').length,
    fault: `the value begins with ${quote}, and no ${quote} ends it`,
  }
}

/** Consecutive strange lines are one fault: mostly they are one value that nobody quoted. */
function ranges(lines: readonly number[]): RawFault[] {
  const found: { from: number; to: number }[] = []
  for (const line of lines) {
    const last = found.at(-1)
    if (last !== undefined && last.to === line - 1) last.to = line
    else found.push({ from: line, to: line })
  }
  return found.map(({ from, to }) => ({
    line: from,
    message:
      from === to
        ? `line ${from} is neither NAME=value nor NAME (a value of several lines needs quotes: NAME="…")`
        : `line ${from} to line ${to}: neither NAME=value nor NAME (a value of several lines needs quotes: NAME="…")`,
  }))
}
