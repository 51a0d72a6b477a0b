import * as z from 'zod/mini'

/** "is missing" for a required field that is not there, else what was expected. */
export function issueText(expected: string): (issue: { readonly input?: unknown }) => string {
  return (issue) => (issue.input === undefined ? `is missing: expected ${expected}` : `expected ${expected}`)
}

/** A text that is not blank. Numbers are not taken for texts: YAML would have changed `0123` or `1e3` already. */
export const text = z
  .string({ error: issueText('a text (quote it where YAML reads something else)') })
  .check(z.refine((value) => value.trim() !== '', { error: 'expected a text that is not empty' }))

/** Longest timer of Node, in seconds: beyond it a timer fires at once. */
const MAX_SECONDS = 2_147_483

export const seconds = z.number({ error: issueText('a number of seconds') }).check(
  z.refine((value) => value > 0 && value <= MAX_SECONDS, {
    error: `expected a number of seconds above 0 and at most ${MAX_SECONDS}`,
  }),
)

/** How many checks run at once. */
export const literalTimes = z.number({ error: issueText('a whole number from 1 to 64') }).check(
  z.refine((value) => Number.isInteger(value) && value >= 1 && value <= 64, {
    error: 'expected a whole number from 1 to 64',
  }),
)

/** `expect.text`: a substring, or `/regular expression/flags`; the empty text always matches. */
export const textMatcher = z
  .string({ error: issueText('a text, or /a regular expression/') })
  .check((ctx) => {
    const fault = regexFault(ctx.value)
    if (fault !== undefined) ctx.issues.push({ code: 'custom', message: fault, input: ctx.value })
  })

/** The parts of `/pattern/flags`; undefined for a plain text. */
export function regexParts(source: string): { pattern: string; flags: string } | undefined {
  const match = /^\/(.+)\/([a-z]*)$/s.exec(source)
  return match === null ? undefined : { pattern: match[1] ?? '', flags: match[2] ?? '' }
}

function regexFault(source: string): string | undefined {
  const parts = regexParts(source)
  if (parts === undefined) return undefined
  try {
    new RegExp(parts.pattern, parts.flags)
    return undefined
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it cannot be read'
    return `not a regular expression: ${why} (a text that begins with / and ends with /, or /flags, is read as one)`
  }
}

/**
 * Chooses the schema by the value, so that a fault deep inside keeps its place; a union would only say that
 * nothing fits. Keys keep the order in which they were given: a strict object has that of its schema.
 * @param choose the schema, or the fault
 */
export function either<T extends z.ZodMiniType>(choose: (value: unknown) => T | string) {
  return z.pipe(
    z.unknown(),
    z.transform((value, ctx): z.output<T> => {
      const schema = choose(value)
      if (typeof schema === 'string') {
        const message = value === undefined ? `is missing: ${schema}` : schema
        ctx.issues.push({ code: 'custom', message, input: value })
        return z.NEVER
      }
      const result = schema.safeParse(value)
      if (result.success) return inOrderOf(value, result.data)
      for (const issue of result.error.issues) ctx.issues.push({ ...issue, input: value } as never)
      return z.NEVER
    }),
  )
}

function inOrderOf<T>(given: unknown, parsed: T): T {
  if (!isRecord(given) || !isRecord(parsed)) return parsed
  const keys = Object.keys(given).filter((key) => Object.hasOwn(parsed, key))
  return Object.fromEntries(keys.map((key) => [key, parsed[key]])) as T
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
