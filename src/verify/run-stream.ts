import { Answer } from '../clients/agent-server/messages.ts'
import { type RunBody, type RunStream, type StreamVerdict, streamRun } from '../clients/agent-server/runs.ts'
import { HttpError, NetworkError, ProtocolError, TimeoutError } from '../http/errors.ts'
import { unknownGraph } from './assistant.ts'
import type { Step } from './checks.ts'
import { seconds } from './explain.ts'
import { agentServer } from './server.ts'
import type { CheckContext, Outcome } from './types.ts'

/** A thread that several runs may share. */
export interface SharedThread {
  readonly id: string
  /** What the runs before said: text by message id. */
  said: ReadonlyMap<string, string>
}

/** What a run's stream left behind. */
export interface StreamedRun {
  readonly answer: Answer
  /** What the graph asked when it stopped; undefined when it did not, as far as the stream tells. */
  readonly interrupts: readonly unknown[] | undefined
  /** Data of the `feedback` event; undefined when none came. */
  readonly feedback: unknown
  readonly runId: string | undefined
  readonly verdict: StreamVerdict
}

/**
 * Makes a run and follows its stream to the end.
 * @param thread learns what the run said
 * @returns what came, or why it cannot be used: an assistant that is not there, a stream that broke or did not
 *   end
 * @throws what the client throws before the stream
 */
export async function streamStep(
  step: Step,
  thread: SharedThread,
  body: RunBody,
  context: CheckContext,
): Promise<{ readonly run: StreamedRun } | { readonly failed: Outcome }> {
  let stream: RunStream
  try {
    stream = await streamRun(agentServer(context), thread.id, body, { deadline: context.deadline })
  } catch (error) {
    const failed = await refusedAssistant(error, step, context)
    if (failed !== undefined) return { failed }
    throw error
  }
  const answer = new Answer(thread.said)
  let interrupts: readonly unknown[] | undefined
  let feedback: unknown
  try {
    for await (const event of stream.events) {
      answer.add(event)
      if (event.interrupts !== undefined) interrupts = event.interrupts
      if (event.type === 'feedback') feedback = event.urls
    }
  } catch (error) {
    context.tools.signal.throwIfAborted()
    const failed = brokenStream(error, stream.verdict(), step, context)
    if (failed === undefined) throw error
    return { failed: { ...failed, ...(answer.text === '' ? {} : { said: answer.text }) } }
  } finally {
    stream.close()
  }
  thread.said = answer.messages
  return { run: { answer, interrupts, feedback, runId: stream.runId(), verdict: stream.verdict() } }
}

/** 404 or 422 before the stream: is it the assistant? The server's words differ by version, its list does not. */
async function refusedAssistant(
  error: unknown,
  step: Step,
  context: CheckContext,
): Promise<Outcome | undefined> {
  if (!(error instanceof HttpError) || (error.status !== 404 && error.status !== 422)) return undefined
  return unknownGraph(step.assistant, context)
}

function brokenStream(
  error: unknown,
  seen: StreamVerdict,
  step: Step,
  context: CheckContext,
): Outcome | undefined {
  const heartbeats = seen.heartbeats === 0 ? '' : ` and ${count(seen.heartbeats, 'heartbeat')}`
  const came = `${count(seen.events, 'event')}${heartbeats}`
  if (error instanceof TimeoutError) {
    return {
      reason: `The run was not done within ${seconds(context.timeoutMs)}: its stream stayed open (${came} came)`,
      hint:
        step.feedback !== undefined && seen.stateEvents > 0
          ? 'Where the answer is there already, the server waits for the feedback URLs, which it asks LangSmith for: look at LANGSMITH_API_KEY and LANGSMITH_ENDPOINT of the deployment. Else the agent is slow: look at its trace, and give it more time with `within-seconds`.'
          : 'The agent waits for something, runs in a loop or is slow: look at its trace. Where it only needs more time, give it with `within-seconds` or `timeout-seconds`.',
    }
  }
  if (error instanceof NetworkError) {
    return {
      reason: `The run's stream broke after ${came}${error.code === '' ? '' : ` (${error.code})`}`,
      hint: 'The server was restarted, or a proxy in between ends long answers: look at the deployment’s log, then run the checks again.',
    }
  }
  if (error instanceof ProtocolError) {
    return {
      reason: `The run's stream cannot be read after ${came}: ${error.message}`,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
    }
  }
  return undefined
}

/** `1 event`, `3 events`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
