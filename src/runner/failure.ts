import { AgentDeployError } from '../base/errors.ts'
import { shorten } from '../base/text.ts'

/** How an error is told: one annotation, then its causes in the log, then (of a bug) its stack in debug. */
export interface Failure {
  readonly title: string
  /** The whole message, and what to do about it. */
  readonly message: string
  readonly causes: readonly string[]
  /** Of an error that nobody threw on purpose. */
  readonly stack: string | undefined
}

const MAX_CAUSES = 10
/** GitHub cuts an annotation at 4096 characters: the hint must not be what falls off. */
const MAX_MESSAGE = 3000

/** @param error whatever was thrown; need not be an Error */
export function describeFailure(error: unknown): Failure {
  const known = error instanceof AgentDeployError
  const said = messageOf(error)
  const message = known ? said : `Unexpected error: ${said}`
  const hint = known
    ? error.hint
    : 'This is a bug in Agent Deploy, or a case that it does not know. Please report it, with the log of a run that has debug logging switched on.'
  const lines = [shorten(message, MAX_MESSAGE), ...(hint === undefined ? [] : [hint])]
  return {
    title: shorten(message.split('\n', 1)[0] ?? '', 200),
    message: lines.join('\n'),
    causes: causesOf(error),
    stack: known ? undefined : stackOf(error),
  }
}

function messageOf(error: unknown): string {
  try {
    if (!(error instanceof Error)) return `something was thrown that is not an Error: ${describe(error)}`
    return error.message === '' ? error.name : error.message
  } catch {
    return 'an error that cannot be described'
  }
}

/** Names of members only: a thrown object may hold anything. */
function describe(value: unknown): string {
  if (typeof value === 'object' && value !== null)
    return `an object with ${Object.keys(value).join(', ') || 'no members'}`
  return String(value)
}

function causesOf(error: unknown): string[] {
  const lines: string[] = []
  const seen = new Set<unknown>([error])
  const visit = (value: unknown): void => {
    if (value === undefined || seen.has(value) || lines.length >= MAX_CAUSES) return
    seen.add(value)
    lines.push(lineOf(value))
    follow(value)
  }
  const follow = (value: unknown): void => {
    if (value instanceof AggregateError) for (const one of value.errors) visit(one)
    if (value instanceof Error) visit(value.cause)
  }
  follow(error)
  return lines
}

function lineOf(value: unknown): string {
  if (!(value instanceof Error)) return messageOf(value)
  const { code } = value as { code?: unknown }
  const said = messageOf(value)
  const suffix = typeof code === 'string' && !said.includes(code) ? ` (${code})` : ''
  return `${value.name}${suffix}: ${said}`
}

function stackOf(error: unknown): string | undefined {
  return error instanceof Error ? error.stack : undefined
}
