import type { Clock } from '../../base/clock.ts'
import { AgentDeployError } from '../../base/errors.ts'
import { HttpError, NetworkError, TimeoutError } from '../../http/errors.ts'
import { isPermanent } from '../../http/fault.ts'
import { getSandbox, type Sandbox, type SandboxService } from './sandboxes.ts'

/** Statuses from which a sandbox does not become ready by itself. */
const DEAD_ENDS = new Set(['failed', 'stopped', 'deleting'])

const MIN_POLL_MS = 500
const MAX_POLL_MS = 5_000
/** Failed polls in a row, each with its own retries, before the wait gives up. */
const ERROR_BUDGET = 5

/** The sandbox came to an end that was not asked for, or not in time. */
export class SandboxError extends AgentDeployError {
  /** As it was read last; undefined when it never was. */
  readonly sandbox: Sandbox | undefined
  /** Our own sentence, without what the service said. */
  readonly reason: string

  constructor(reason: string, sandbox: Sandbox | undefined, hint: string, cause?: unknown) {
    const told = sandbox?.statusMessage ?? ''
    super(told === '' ? reason : `${reason}: ${told}`, { hint, cause })
    this.reason = reason
    this.sandbox = sandbox
  }
}

export interface SandboxWait {
  /** The status to wait for. */
  readonly wanted: string
  /** Milliseconds since 1970, on `clock`. */
  readonly deadline: number
  /** What the deadline was made of, in milliseconds, for the message. */
  readonly timeoutMs: number
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Told of each change of status, and of the first one. */
  readonly onStatus?: (sandbox: Sandbox) => void
}

/**
 * Reads a sandbox until it has the wanted status. `failed`, `stopped` and `deleting` end the wait at once,
 * unless they are wanted; so does 404. `provisioning` and words that nobody here knows wait.
 * @throws SandboxError, HttpError (404, a refused key), and what else the transport throws; the signal's reason
 */
export async function waitForSandbox(
  service: SandboxService,
  name: string,
  wait: SandboxWait,
): Promise<Sandbox> {
  const { clock, deadline, signal } = wait
  let last: Sandbox | undefined
  let lastError: unknown
  let failures = 0
  let pauseMs = MIN_POLL_MS
  while (clock.now() < deadline) {
    try {
      const sandbox = await getSandbox(service, name, { deadline, signal })
      failures = 0
      if (sandbox.status !== last?.status) {
        pauseMs = MIN_POLL_MS
        wait.onStatus?.(sandbox)
      }
      last = sandbox
      if (sandbox.status === wait.wanted) return sandbox
      refuseDeadEnd(name, sandbox)
    } catch (error) {
      if (signal.aborted || !isPassing(error)) throw error
      lastError = error
      failures++
      if (failures >= ERROR_BUDGET) throw error
    }
    const leftMs = deadline - clock.now()
    if (leftMs <= 0) break
    await clock.sleep(Math.min(pauseMs, leftMs), signal)
    pauseMs = Math.min(pauseMs * 1.5, MAX_POLL_MS)
  }
  if (last === undefined && lastError !== undefined) throw lastError
  throw new SandboxError(
    `Sandbox ${quoted(name)} was not ${wait.wanted} within ${wait.timeoutMs / 1000} s; its status is ${statusWord(last?.status)}`,
    last,
    'Give it more time, or look at the sandbox in LangSmith: its template may be large, or its size not available.',
    lastError,
  )
}

/** @throws SandboxError when the sandbox is `failed`, `stopped` or `deleting` */
export function refuseDeadEnd(name: string, sandbox: Sandbox): void {
  if (!DEAD_ENDS.has(sandbox.status)) return
  const hint = {
    failed: 'Look at the template (or snapshot) that it is made from, then delete it and create it again.',
    stopped: 'Start the sandbox before this step: a stopped one does not become ready by itself.',
    deleting: 'It is on its way out: create it again under this name, or name another one.',
  }[sandbox.status as 'failed' | 'stopped' | 'deleting']
  throw new SandboxError(`Sandbox ${quoted(name)} is ${sandbox.status}`, sandbox, hint)
}

/** A fault that another poll may mend. */
function isPassing(error: unknown): boolean {
  if (error instanceof HttpError) return error.status === 429 || error.status >= 500
  if (error instanceof NetworkError) return !isPermanent(error)
  return error instanceof TimeoutError
}

/** The service's word where it is one, never its sentences. */
export function statusWord(status: string | undefined): string {
  if (status === undefined) return 'not known'
  return /^[a-z][a-z_-]{0,29}$/i.test(status) ? status : 'a word that nobody here knows'
}

function quoted(name: string): string {
  return JSON.stringify(name)
}
