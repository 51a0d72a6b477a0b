import { createThread, deleteThread } from '../clients/agent-server/threads.ts'
import { assistantForRun } from './assistant.ts'
import type { Step } from './checks.ts'
import { explain } from './explain.ts'
import { feedbackOutcome } from './feedback-check.ts'
import { runBody } from './run-body.ts'
import { explainRunError } from './run-error.ts'
import { endOf } from './run-status.ts'
import { type SharedThread, streamStep } from './run-stream.ts'
import { agentServer } from './server.ts'
import type { CheckContext, Outcome } from './types.ts'
import { judge } from './verdict.ts'

/** A new thread, deleted after the check. */
export async function makeThread(context: CheckContext): Promise<SharedThread> {
  const server = agentServer(context)
  const { id } = await createThread(server, { deadline: context.deadline })
  context.afterwards(`the thread ${id}`, (deadline) => deleteThread(server, id, { deadline }))
  return { id, said: new Map() }
}

/**
 * One run: finds the assistant, streams the run, reads how it and its thread ended, looks at what was expected,
 * and submits the feedback that was asked for.
 * @param shared the thread; absent: the run gets a thread of its own
 * @returns the outcome; `said` is the answer, also when it passed
 * @throws only the cancel
 */
export async function runStep(
  step: Step,
  shared: SharedThread | undefined,
  context: CheckContext,
): Promise<Outcome> {
  let doing = 'looking for the assistant'
  try {
    const assistant = await assistantForRun(step.assistant, context)
    if ('failed' in assistant) return assistant.failed
    doing = 'making a thread'
    const thread = shared ?? (await makeThread(context))
    doing = 'running the agent'
    const streamed = await streamStep(step, thread, runBody(step, assistant.id), context)
    if ('failed' in streamed) return streamed.failed
    const { run } = streamed
    doing = 'reading how the run ended'
    if (run.verdict.error !== undefined) return await explainRunError(step, thread.id, run, context)
    const end = await endOf(thread.id, run, context)
    if ('failed' in end) return end.failed
    const judged = judge(step.expect, run, end.interrupted)
    if (judged.reason !== '' || step.feedback === undefined) return judged
    doing = 'submitting feedback'
    return { ...judged, ...(await feedbackOutcome(step.feedback, run.feedback, context)) }
  } catch (error) {
    return explain(error, context, doing)
  }
}
