import type { ThreadCheck } from './checks.ts'
import { explain } from './explain.ts'
import { makeThread, runStep } from './run-step.ts'
import type { SharedThread } from './run-stream.ts'
import { withTimeout } from './server.ts'
import { type CheckContext, type Outcome, PASSED } from './types.ts'

/**
 * Several runs on one thread, in turn: a later one sees what an earlier one saved, whichever assistant made it.
 * The check's time is shared by its runs; one with a `within-seconds` has that instead, and its time is not
 * taken from the others.
 * @throws only the cancel
 */
export async function checkThread(check: ThreadCheck, context: CheckContext): Promise<Outcome> {
  const { clock } = context.tools
  let thread: SharedThread
  try {
    thread = await makeThread(context)
  } catch (error) {
    return explain(error, context, 'making a thread')
  }
  let { deadline } = context
  const said: string[] = []
  const warnings: string[] = []
  for (const [index, step] of check.steps.entries()) {
    const { withinMs } = step.expect
    const started = clock.now()
    const outcome = await runStep(step, thread, withTimeout({ ...context, deadline }, withinMs))
    if (withinMs !== undefined) deadline += clock.now() - started
    if (outcome.said !== undefined && outcome.said !== '') said.push(outcome.said)
    warnings.push(...(outcome.warnings ?? []))
    if (outcome.reason !== '') {
      return { ...outcome, reason: `Run ${index + 1} of ${check.steps.length}: ${outcome.reason}`, warnings }
    }
  }
  return { ...PASSED, said: said.join('\n'), warnings }
}
