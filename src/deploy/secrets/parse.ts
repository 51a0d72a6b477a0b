import type { InputFault } from '../../base/errors.ts'
import { type Entry, type EntryInput, place } from './entry.ts'
import { type RawEntry, readLines } from './lines.ts'
import { looksLikeMapping, readMapping } from './mapping.ts'

/** What a faultless text holds, in its own order; with faults, `entries` has what could be read. */
export interface ParsedEntries {
  readonly entries: readonly Entry[]
  readonly faults: readonly InputFault[]
}

/**
 * Reads the inputs `secrets` and `env-vars`: lines, or a YAML or JSON mapping (design, section 4, "Secrets").
 * Faults name line numbers and plain upper-case names, never any other text of the input.
 * @param options.input which input it is: an empty value is never right in `secrets`, and only right in
 *   `env-vars` when it stands in quotes
 * @param options.env the process environment, for a `NAME` that stands alone
 */
export function parseSecrets(
  text: string,
  options: { input: EntryInput; env: Readonly<Record<string, string | undefined>> },
): ParsedEntries {
  const { input } = options
  const plain = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n')
  const raw = looksLikeMapping(plain) ? readMapping(plain) : readLines(plain, options.env)
  const faults: { line: number; message: string }[] = [...raw.faults]
  const entries: Entry[] = []
  const seen = new Map<string, number>()
  for (const entry of raw.entries) {
    const before = seen.get(entry.name)
    if (before !== undefined) {
      const message = `${place(entry.line, entry.name)} gives the same name as line ${before}: give each name once`
      faults.push({ line: entry.line, message })
      continue
    }
    seen.set(entry.name, entry.line)
    const fault = emptyFault(entry, input)
    if (fault !== undefined) faults.push({ line: entry.line, message: fault })
    else entries.push({ name: entry.name, value: entry.value ?? '' })
  }
  faults.sort((a, b) => a.line - b.line)
  return { entries, faults: faults.map(({ message }) => ({ input, message })) }
}

/** An undefined `${{ secrets.X }}` arrives as an empty text, and would wipe what the deployment has. */
function emptyFault(entry: RawEntry, input: EntryInput): string | undefined {
  if (entry.value !== undefined && entry.value.trim() !== '') return undefined
  const where = place(entry.line, entry.name)
  if (input === 'secrets') {
    return `${where} has an empty value: a secret that is not defined in this repository or environment arrives empty. Define it, or take the line out`
  }
  // Blanks in quotes are a value that somebody meant.
  if (entry.quoted && entry.value !== undefined) return undefined
  return `${where} has an empty value: a variable that is not defined arrives empty. Define it, or write "" where an empty value is meant`
}

/** One fault for each name that stands in `secrets` and in `env-vars`: they go into one list. */
export function clashFaults(secrets: readonly Entry[], envVars: readonly Entry[]): readonly InputFault[] {
  const names = new Set(secrets.map((entry) => entry.name))
  return envVars
    .filter((entry) => names.has(entry.name))
    .map((entry) => ({
      input: 'env-vars',
      message: `${entry.name} is in \`secrets\` too: give it in one of the two`,
    }))
}
