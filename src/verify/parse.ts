import { isMap, parseDocument } from 'yaml'
import type * as z from 'zod/mini'
import { InputError, type InputFault } from '../base/errors.ts'
import type { AssistantChoice, Check, CheckPlan, FeedbackWish, Step, TextMatcher } from './checks.ts'
import { type CheckInput, planSchema, type StepInput } from './schema.ts'
import { regexParts } from './schema-parts.ts'

/** What every fault's hint says. */
const HINT =
  'The README’s section about checks has an example of every kind. Nothing was sent: checks are read before the first request.'

/** With dashes or without, as the Python server takes them. */
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i

/**
 * Reads the `checks` text (YAML or JSON).
 * @param text a mapping with the list `checks`, and perhaps `timeout-seconds` and `concurrency`
 * @param where the input it came from, for the error
 * @param file the file it was read from, for the error
 * @throws InputError that lists every fault with its place, such as `checks[1].expect.text`
 */
export function parseChecks(text: string, where: string, file?: string): CheckPlan {
  const inFile = file === undefined ? '' : `file "${file}": `
  const fail = (messages: readonly string[]): never => {
    const faults: InputFault[] = messages.map((message) => ({ input: where, message: `${inFile}${message}` }))
    throw new InputError(faults, { hint: HINT })
  }
  const value = readYaml(text, fail)
  const result = planSchema.safeParse(value)
  if (!result.success) return fail(result.error.issues.flatMap((issue) => faultsOf(issue, value)))
  const given = result.data
  return {
    checks: given.checks.map((check, index) => toCheck(check, index)),
    ...(given['timeout-seconds'] === undefined ? {} : { timeoutMs: given['timeout-seconds'] * 1000 }),
    ...(given.concurrency === undefined ? {} : { concurrency: given.concurrency }),
  }
}

/** Whether YAML reads the text as a mapping: then it is the checks themselves, else a file's path. */
export function isChecksText(text: string): boolean {
  const document = parseDocument(text, { logLevel: 'silent' })
  // A mapping with a mistake in it is still a mapping: its mistake is told, not a missing file.
  return isMap(document.contents)
}

function readYaml(text: string, fail: (messages: readonly string[]) => never): unknown {
  const document = parseDocument(text, { logLevel: 'silent', prettyErrors: false })
  if (document.errors.length > 0) {
    return fail(
      document.errors.map((error) => {
        const before = text.slice(0, error.pos[0])
        const line = before.split('\n').length
        const column = before.length - before.lastIndexOf('\n')
        return `not YAML: line ${line}, column ${column}: ${error.message}`
      }),
    )
  }
  try {
    return document.toJS({ maxAliasCount: 100 })
  } catch {
    return fail(['not YAML that can be used: its aliases refer to each other, or unfold to too much'])
  }
}

/** One line for each fault: the place, what came, and what was expected. */
function faultsOf(issue: z.core.$ZodIssue, value: unknown): string[] {
  const place = issue.path.reduce<string>(
    (at, part) =>
      typeof part === 'number' ? `${at}[${part}]` : at === '' ? String(part) : `${at}.${String(part)}`,
    '',
  )
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${place === '' ? key : `${place}.${key}`}: unknown key`)
  }
  if (issue.code === 'invalid_key') return [`${place}: expected a key that is not empty`]
  const message = issue.message === 'Invalid input' ? 'expected a mapping' : issue.message
  return [`${place === '' ? 'the text' : place}: ${quoted(valueAt(value, issue.path))}${message}`]
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, part) =>
      typeof at === 'object' && at !== null ? (at as Record<PropertyKey, unknown>)[part] : undefined,
    value,
  )
}

/** What came, where it is short; a longer text is its own best quote. */
function quoted(value: unknown): string {
  if (typeof value === 'string') return value.length > 60 ? '' : `"${value}": `
  return typeof value === 'number' || typeof value === 'boolean' ? `${value}: ` : ''
}

function toCheck(given: CheckInput, index: number): Check {
  const name = given.name ?? `check ${index + 1}`
  if ('thread' in given) return { kind: 'thread', name, steps: given.thread.map(toStep) }
  if ('a2a' in given) {
    const { assistant, method, messages, expect } = given.a2a
    return {
      kind: 'a2a',
      name,
      assistant: toAssistant(assistant),
      method: method ?? 'send',
      messages,
      expect: {
        ...matcherOf(expect?.text),
        interrupt: expect?.interrupt ?? false,
        ...withinOf(expect?.['within-seconds']),
      },
    }
  }
  if ('sandbox' in given) {
    const { name: sandbox, expect } = given.sandbox
    return {
      kind: 'sandbox',
      name,
      sandbox,
      expect: { status: expect?.status ?? 'ready', ...withinOf(expect?.['within-seconds']) },
    }
  }
  return { kind: 'run', name, step: toStep(given) }
}

function toStep(given: StepInput): Step {
  const modes = given['stream-mode'] ?? 'updates'
  const { expect } = given
  return {
    assistant: toAssistant(given.assistant),
    ...(given.input === undefined ? {} : { input: given.input }),
    streamModes: typeof modes === 'string' ? [modes] : modes,
    ...(given.run === undefined ? {} : { run: given.run }),
    expect: {
      ...matcherOf(expect?.text),
      ...(expect?.node === undefined ? {} : { node: expect.node }),
      interrupt: expect?.interrupt ?? false,
      ...withinOf(expect?.['within-seconds']),
    },
    ...(given.feedback === undefined ? {} : { feedback: toWish(given.feedback) }),
  }
}

function toAssistant(given: StepInput['assistant']): AssistantChoice {
  if (given === undefined) return { kind: 'default' }
  if (typeof given === 'string')
    return UUID.test(given) ? { kind: 'id', id: given } : { kind: 'graph', graph: given }
  const { graph, ...fields } = given
  return { kind: 'new', graph, fields: { graph_id: graph, ...fields } }
}

function toWish(given: NonNullable<StepInput['feedback']>): FeedbackWish {
  if (Array.isArray(given)) return [...new Set(given)].map((key) => ({ key }))
  return Object.entries(given).map(([key, value]) => {
    const submit = typeof value === 'object' && value !== null ? value : { score: value as number | boolean }
    return { key, submit }
  })
}

function matcherOf(source: string | undefined): { text?: TextMatcher } {
  if (source === undefined) return {}
  const parts = regexParts(source)
  if (parts === undefined) return { text: { source, matches: (text) => text.includes(source) } }
  // Without g and y, which make a match depend on the one before.
  const regex = new RegExp(parts.pattern, parts.flags.replace(/[gy]/g, ''))
  return { text: { source, matches: (text) => regex.test(text) } }
}

function withinOf(seconds: number | undefined): { withinMs?: number } {
  return seconds === undefined ? {} : { withinMs: seconds * 1000 }
}
