import { isAlias, isCollection, isMap, isScalar, LineCounter, type Pair, parseDocument } from 'yaml'
import { NAME, place } from './entry.ts'
import type { Raw, RawEntry, RawFault } from './lines.ts'

/** What YAML reads as null when nobody quoted it. */
const NULL = /^(~|null|Null|NULL)?$/

/**
 * Whether the text is a YAML or JSON mapping rather than lines: its first line that is neither blank nor a
 * comment begins with `NAME:` or `{`.
 */
export function looksLikeMapping(text: string): boolean {
  const first = text
    .split('\n')
    .map((line) => line.trimStart())
    .find((line) => line !== '' && !line.startsWith('#'))
  return first !== undefined && /^([A-Za-z_][A-Za-z0-9_]*:|\{)/.test(first)
}

/**
 * Reads a YAML or JSON mapping of scalars as they are written: `0123` stays `0123`, `1.0` stays `1.0`.
 * The parser's own messages quote the text, so none of them is passed on.
 */
export function readMapping(text: string): Raw {
  const counter = new LineCounter()
  const lineAt = (offset: number | undefined): number => counter.linePos(offset ?? 0).line
  const document = parseDocument(text, {
    schema: 'failsafe',
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: 'error',
    lineCounter: counter,
  })
  const broken = document.errors[0]
  if (broken !== undefined) {
    const line = lineAt(broken.pos[0])
    return { entries: [], faults: [{ line, message: `line ${line} is not valid YAML or JSON` }] }
  }
  if (!isMap(document.contents)) {
    return {
      entries: [],
      faults: [{ line: 1, message: 'is not a mapping of names to values (a blank must follow `NAME:`)' }],
    }
  }
  const entries: RawEntry[] = []
  const faults: RawFault[] = []
  for (const pair of document.contents.items as Pair[]) {
    const line = lineAt(rangeOf(pair.key))
    const name = isScalar(pair.key) ? String(pair.key.value) : ''
    if (!NAME.test(name)) {
      faults.push({
        line,
        message: `line ${line} has a key that is no name of an environment variable (letters, digits, _)`,
      })
      continue
    }
    if (isAlias(pair.value) && pair.value.resolve(document) === undefined) {
      faults.push({
        line,
        message: `${place(line, name)}: the value begins with * and is no alias: put it into quotes`,
      })
      continue
    }
    const value = isAlias(pair.value) ? pair.value.resolve(document) : pair.value
    if (isCollection(value)) {
      const kind = isMap(value) ? 'a mapping' : 'a list'
      faults.push({
        line,
        message: `${place(line, name)}: the value is ${kind}, and must be a single value: put JSON into quotes`,
      })
    } else if (isScalar(value)) {
      const written = String(value.value ?? '')
      const plain = value.type === 'PLAIN' || value.type === undefined || value.type === null
      entries.push({ line, name, value: plain && NULL.test(written) ? undefined : written, quoted: !plain })
    } else {
      entries.push({ line, name, value: undefined, quoted: false })
    }
  }
  return { entries, faults }
}

function rangeOf(node: unknown): number | undefined {
  return (node as { range?: readonly number[] | null } | null | undefined)?.range?.[0]
}
