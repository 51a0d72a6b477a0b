import { HttpError } from '../http/errors.ts'
import { checkA2a } from './a2a-check.ts'
import type { Check, CheckPlan } from './checks.ts'
import { explain } from './explain.ts'
import { waitUntilReachable } from './reachable.ts'
import { checkReady } from './ready-check.ts'
import { runStep } from './run-step.ts'
import { checkSandbox } from './sandbox-check.ts'
import { withTimeout } from './server.ts'
import { checkThread } from './thread-check.ts'
import type {
  CheckContext,
  Finding,
  Outcome,
  Report,
  ServerInfo,
  VerifyTarget,
  VerifyTools,
} from './types.ts'

export interface VerifyOptions {
  /** Per check, in milliseconds, where the plan has none. */
  readonly timeoutMs: number
  /** How long the server may take until it is reachable, in milliseconds. */
  readonly reachableMs: number
  /** Checks at once, where the plan has none. */
  readonly concurrency: number
}

/** How long the clean-up of one thing may take, in milliseconds. */
const CLEANUP_MS = 10_000

/**
 * Verifies a live agent server: waits until it is reachable, then runs the checks side by side.
 * @returns a finding for each check, in the order of the plan; when the server cannot be reached, every check
 *   has failed
 * @throws only the signal's reason, when the job is cancelled
 */
export async function verify(
  target: VerifyTarget,
  plan: CheckPlan,
  options: VerifyOptions,
  tools: VerifyTools,
): Promise<Report> {
  const checks: readonly NamedCheck[] =
    plan.ready === true ? [{ kind: 'ready', name: 'ready' }, ...plan.checks] : plan.checks
  const started = tools.clock.now()
  const reached = await waitUntilReachable(target, options.reachableMs, tools)
  if ('failed' in reached) {
    const elapsed = tools.clock.now() - started
    return reportOf(checks.map((check) => toFinding(check.name, reached.failed, elapsed)))
  }
  const timeoutMs = plan.timeoutMs ?? options.timeoutMs
  const findings = await sideBySide(checks, plan.concurrency ?? options.concurrency, (check) =>
    settle(check, target, reached.info, timeoutMs, tools),
  )
  return reportOf(findings)
}

/** The outputs `report` and `verification`: JSON of our own making, without what the agent said. */
export function reportJson(report: Report): string {
  const checks = report.checks.map(({ name, verdict, reason, seconds }) => ({
    name,
    verdict,
    reason,
    seconds,
  }))
  return JSON.stringify({ passed: report.passed, failed: report.failed, checks })
}

type NamedCheck = Check | { readonly kind: 'ready'; readonly name: string }

interface Leftover {
  readonly what: string
  readonly work: (deadline: number) => Promise<void>
}

/** Runs one check and cleans up after it; its time does not count the cleaning. */
async function settle(
  check: NamedCheck,
  target: VerifyTarget,
  info: ServerInfo,
  timeoutMs: number,
  tools: VerifyTools,
): Promise<Finding> {
  const leftovers: Leftover[] = []
  const started = tools.clock.now()
  const context: CheckContext = {
    target,
    tools,
    info,
    deadline: started + timeoutMs,
    timeoutMs,
    afterwards: (what, work) => leftovers.push({ what, work }),
  }
  let outcome: Outcome
  try {
    outcome = await run(check, context)
  } catch (error) {
    outcome = explain(error, context, 'running the check')
  }
  const elapsed = tools.clock.now() - started
  const warnings = await cleanUp(leftovers.reverse(), tools)
  return toFinding(check.name, { ...outcome, warnings: [...(outcome.warnings ?? []), ...warnings] }, elapsed)
}

function run(check: NamedCheck, context: CheckContext): Promise<Outcome> {
  switch (check.kind) {
    case 'ready':
      return checkReady(context)
    case 'run':
      return runStep(check.step, undefined, withTimeout(context, check.step.expect.withinMs))
    case 'thread':
      return checkThread(check, context)
    case 'a2a':
      return checkA2a(check, context)
    case 'sandbox':
      return checkSandbox(check, context)
  }
}

/** @returns a warning for each thing that is left behind; one that is gone already is none */
async function cleanUp(leftovers: readonly Leftover[], tools: VerifyTools): Promise<string[]> {
  const warnings: string[] = []
  for (const { what, work } of leftovers) {
    try {
      await work(tools.clock.now() + CLEANUP_MS)
    } catch (error) {
      tools.signal.throwIfAborted()
      if (error instanceof HttpError && error.status === 404) continue
      const why = error instanceof HttpError ? `the server answered ${error.status}` : 'no answer came'
      warnings.push(`Could not delete ${what}, which the check made: ${why}.`)
    }
  }
  return warnings
}

/** Runs the work for each item, at most `limit` at once; results in the order of the items. */
async function sideBySide<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  const queue = items.entries()
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker))
  return results
}

function toFinding(name: string, outcome: Outcome, elapsedMs: number): Finding {
  const { reason, hint, said, warnings } = outcome
  const passed = reason === ''
  return {
    name,
    verdict: passed ? 'passed' : 'failed',
    reason: sentence(reason),
    ...(passed || hint === undefined ? {} : { hint }),
    seconds: Math.max(0, Math.round(elapsedMs) / 1000),
    ...(said === undefined || said === '' ? {} : { said }),
    ...(warnings === undefined || warnings.length === 0 ? {} : { warnings }),
  }
}

/** One line, with a capital. */
function sentence(reason: string): string {
  const line = reason.replace(/\s+/g, ' ').trim()
  return line.charAt(0).toUpperCase() + line.slice(1)
}

function reportOf(checks: readonly Finding[]): Report {
  const failed = checks.filter(({ verdict }) => verdict === 'failed').length
  return { passed: checks.length - failed, failed, checks }
}
