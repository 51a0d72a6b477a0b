/** The checks of design 2.3 as they stand after parsing: every default is filled in, names are camelCase. */
export type Check = RunCheck | ThreadCheck | A2aCheck | SandboxCheck

export interface CheckPlan {
  readonly checks: readonly Check[]
  /** `ready`: one check of its own; then `checks` is empty. */
  readonly ready?: true
  /** Per check, in milliseconds; absent: the action's `timeout-seconds`. */
  readonly timeoutMs?: number
  readonly concurrency?: number
}

/** One run on a thread of its own. */
export interface RunCheck {
  readonly kind: 'run'
  readonly name: string
  readonly step: Step
}

/** Several runs on one thread. */
export interface ThreadCheck {
  readonly kind: 'thread'
  readonly name: string
  readonly steps: readonly Step[]
}

export interface A2aCheck {
  readonly kind: 'a2a'
  readonly name: string
  readonly assistant: AssistantChoice
  readonly method: 'send' | 'stream'
  /** At least one. */
  readonly messages: readonly string[]
  readonly expect: A2aExpectation
}

export interface SandboxCheck {
  readonly kind: 'sandbox'
  readonly name: string
  readonly sandbox: string
  readonly expect: { readonly status: string; readonly withinMs?: number }
}

export interface Step {
  readonly assistant: AssistantChoice
  readonly input?: Readonly<Record<string, unknown>>
  /** As given, without the `updates` that a run always adds. */
  readonly streamModes: readonly string[]
  /** Merged last into the run's body by RFC 7396. */
  readonly run?: Readonly<Record<string, unknown>>
  readonly expect: Expectation
  readonly feedback?: FeedbackWish
}

export interface Expectation {
  readonly text?: TextMatcher
  readonly node?: string
  readonly interrupt: boolean
  /** Stands in place of the check's timeout for its step. */
  readonly withinMs?: number
}

export interface A2aExpectation {
  readonly text?: TextMatcher
  /** `input-required` is wanted; otherwise it is a failure. */
  readonly interrupt: boolean
  readonly withinMs?: number
}

/** A substring, or a regular expression. */
export interface TextMatcher {
  /** As the user wrote it. */
  readonly source: string
  matches(text: string): boolean
}

export type AssistantChoice =
  | { readonly kind: 'default' }
  | { readonly kind: 'graph'; readonly graph: string }
  | { readonly kind: 'id'; readonly id: string }
  /** Created for the check with these fields (`graph_id` among them) and deleted afterwards. */
  | { readonly kind: 'new'; readonly graph: string; readonly fields: Readonly<Record<string, unknown>> }

/** Feedback keys to ask for, in order; those with a submission are used. */
export type FeedbackWish = readonly { readonly key: string; readonly submit?: FeedbackSubmission }[]

/** At least one field; exactly these are sent, in this order of keys as given. */
export interface FeedbackSubmission {
  readonly score?: number | boolean
  readonly value?: unknown
  readonly comment?: string
  readonly correction?: unknown
  readonly metadata?: Readonly<Record<string, unknown>>
}

export { parseChecks } from './parse.ts'
