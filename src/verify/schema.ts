import * as z from 'zod/mini'
import { either, issueText, literalTimes, seconds, text, textMatcher } from './schema-parts.ts'

/**
 * The shape of the `checks` text (design 2.3). Every object is strict: an unknown key is a typing mistake, and a
 * check that silently does less than it says would be green for the wrong reason.
 */
const mapping = z.record(z.string(), z.unknown(), { error: 'expected a mapping' })

const assistantFields = z.strictObject({
  graph: text,
  config: z.optional(mapping),
  context: z.optional(mapping),
  metadata: z.optional(mapping),
  name: z.optional(text),
})

const assistant = either((value) => {
  if (typeof value === 'string') return text
  return isRecord(value)
    ? assistantFields
    : 'expected a graph name, an assistant id, or a mapping with `graph`'
})

const submission = z
  .strictObject({
    score: z.optional(z.union([z.number(), z.boolean()], { error: 'expected a number' })),
    value: z.optional(z.unknown()),
    comment: z.optional(z.string({ error: issueText('a text') })),
    correction: z.optional(z.union([mapping, z.string()], { error: 'expected a mapping or a text' })),
    metadata: z.optional(mapping),
  })
  .check(
    z.refine((given) => Object.keys(given).length > 0, {
      error: 'expected at least one of score, value, comment, correction, metadata',
    }),
  )

const wish = either((value) => {
  if (typeof value === 'number' || typeof value === 'boolean') return z.unknown()
  return isRecord(value)
    ? submission
    : 'expected a score (a number), or a mapping with score, value, comment, correction or metadata'
})

const feedback = either((value) => {
  if (Array.isArray(value)) return z.array(text).check(z.minLength(1, 'expected at least one feedback key'))
  if (!isRecord(value)) return 'expected a mapping of feedback keys to scores, or a list of keys'
  return z
    .record(text, wish)
    .check(z.refine((keys) => Object.keys(keys).length > 0, { error: 'expected at least one feedback key' }))
})

const expectation = z.strictObject({
  text: z.optional(textMatcher),
  node: z.optional(text),
  interrupt: z.optional(z.boolean({ error: issueText('true or false') })),
  'within-seconds': z.optional(seconds),
})

const stepShape = {
  assistant: z.optional(assistant),
  input: z.optional(mapping),
  'stream-mode': z.optional(
    either((value) =>
      Array.isArray(value)
        ? z.array(text).check(z.minLength(1, 'expected at least one stream mode'))
        : typeof value === 'string'
          ? text
          : 'expected a stream mode, or a list of them',
    ),
  ),
  run: z.optional(mapping),
  expect: z.optional(expectation),
  feedback: z.optional(feedback),
}

const name = z.optional(text)
const step = z.strictObject(stepShape)
const runCheck = z.strictObject({ name, ...stepShape })

const threadCheck = z.strictObject({
  name,
  thread: z
    .array(step, { error: issueText('a list of runs') })
    .check(z.minLength(1, 'expected at least one run')),
})

const a2aCheck = z.strictObject({
  name,
  a2a: z.strictObject({
    assistant: z.optional(assistant),
    method: z.optional(z.enum(['send', 'stream'], { error: 'expected send or stream' })),
    messages: z
      .array(text, { error: issueText('a list of texts') })
      .check(z.minLength(1, 'expected at least one message')),
    expect: z.optional(
      z.strictObject({
        text: z.optional(textMatcher),
        interrupt: z.optional(z.boolean({ error: issueText('true or false') })),
        'within-seconds': z.optional(seconds),
      }),
    ),
  }),
})

const sandboxCheck = z.strictObject({
  name,
  sandbox: z.strictObject({
    name: text,
    expect: z.optional(z.strictObject({ status: z.optional(text), 'within-seconds': z.optional(seconds) })),
  }),
})

/** Keys that say which kind of check an entry is; one without any of them is a single run. */
const KINDS = { thread: threadCheck, a2a: a2aCheck, sandbox: sandboxCheck }

const check = either((value) => {
  if (!isRecord(value)) return 'expected a mapping, such as { name: …, input: … }'
  const kinds = (Object.keys(KINDS) as (keyof typeof KINDS)[]).filter((kind) => kind in value)
  if (kinds.length > 1) return `expected one of ${kinds.join(', ')}, not several: make it several checks`
  return kinds[0] === undefined ? runCheck : KINDS[kinds[0]]
})

export const planSchema = z.strictObject({
  checks: z
    .array(check, { error: issueText('a list of checks') })
    .check(z.minLength(1, 'expected at least one check')),
  'timeout-seconds': z.optional(seconds),
  concurrency: z.optional(literalTimes),
})

export type StepInput = z.output<typeof step>
export type CheckInput =
  | z.output<typeof runCheck>
  | z.output<typeof threadCheck>
  | z.output<typeof a2aCheck>
  | z.output<typeof sandboxCheck>

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
