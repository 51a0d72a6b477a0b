import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Transport } from '../http/transport.ts'

/** What one check found out. A wrong answer of the agent is a finding, never an exception. */
export interface Finding {
  readonly name: string
  readonly verdict: 'passed' | 'failed'
  /** Our own sentence: no agent words, no remote text but ids; "" when passed. */
  readonly reason: string
  /** What the reader can do about it; only when failed. */
  readonly hint?: string
  readonly seconds: number
  /** What the agent or server said: remote text, to be neutralised and shortened by `runner/`. */
  readonly said?: string
  /** Our own sentences about something that is odd and no failure. */
  readonly warnings?: readonly string[]
}

export interface Report {
  readonly passed: number
  readonly failed: number
  /** In the order of the plan. */
  readonly checks: readonly Finding[]
}

/** Where the live agent is, and what is sent there. */
export interface VerifyTarget {
  /** The deployment URL; a path prefix is kept. */
  readonly url: URL
  /** x-api-key, x-tenant-id and agent-headers, merged; sent to `url` only. */
  readonly headers: Readonly<Record<string, string>>
  /** The sandbox service; absent: a `sandbox` check is a failed finding. */
  readonly sandbox?: { readonly url: URL; readonly headers: Readonly<Record<string, string>> }
  /** `http:` is accepted for hosts other than loopback. */
  readonly allowHttp: boolean
  /** The revision that must answer; where `/info` names another one, the server is not yet reachable. */
  readonly expectedRevisionId?: string
}

export interface VerifyTools {
  readonly transport: Transport
  readonly clock: Clock
  readonly log: Log
  /** Aborted when the job is cancelled; its reason is the only thing that `verify` throws. */
  readonly signal: AbortSignal
  /** A new UUID. */
  readonly newId: () => string
  /** Registers a secret that came from the server (a feedback URL). */
  mask(secret: string): void
}

/** How a check, or a part of one, ended; `verify.ts` adds name and time. `reason` is "" when it passed. */
export interface Outcome {
  readonly reason: string
  readonly hint?: string
  readonly said?: string
  readonly warnings?: readonly string[]
}

/** What `/info` told of the server, as far as it did. */
export interface ServerInfo {
  /** The agent server's version, e.g. `0.16.7`. */
  readonly version?: string
  readonly revisionId?: string
}

/** What one check works with. */
export interface CheckContext {
  readonly target: VerifyTarget
  readonly tools: VerifyTools
  readonly info: ServerInfo
  /** When the check has to be done: milliseconds by `tools.clock`. */
  readonly deadline: number
  /** The time that ends at `deadline`, in milliseconds, for messages. */
  readonly timeoutMs: number
  /**
   * Registers what is done after the check, also when it fails or its time is over: deleting what it made.
   * @param what named in a warning when it fails, e.g. `the thread 0198…`
   */
  afterwards(what: string, work: (deadline: number) => Promise<void>): void
}

/** The outcome of something that passed. */
export const PASSED: Outcome = { reason: '' }
