import { getRunStatus } from '../clients/agent-server/runs.ts'
import { getThread } from '../clients/agent-server/threads.ts'
import { HttpError } from '../http/errors.ts'
import { explain } from './explain.ts'
import type { StreamedRun } from './run-stream.ts'
import { agentServer } from './server.ts'
import type { CheckContext, Outcome } from './types.ts'

/** A status may lag behind the end of the stream by so much, in milliseconds. */
const GRACE_MS = 5000
const POLL_MS = 250

export type RunEnd = { readonly interrupted: boolean } | { readonly failed: Outcome }

/**
 * How a run ended, by its status and its thread's. The stream alone proves nothing: that of a cancelled run
 * closes without an error too (design, section 4, "Runs").
 * @returns `interrupted`: it stopped to ask; `failed`: it was no success
 * @throws what the client throws, but for a run that is not there
 */
export async function endOf(threadId: string, run: StreamedRun, context: CheckContext): Promise<RunEnd> {
  const said = run.answer.text === '' ? {} : { said: run.answer.text }
  if (run.runId === undefined) {
    return {
      failed: {
        reason:
          'The run’s stream closed without naming a run: neither a metadata event nor a Content-Location came',
        hint: 'Look at the deployment URL, and at a proxy in between: this is not how an agent server answers.',
        ...said,
      },
    }
  }
  const server = agentServer(context)
  const options = { deadline: context.deadline }
  const id = run.runId
  let status: string
  try {
    status = await settled(context, () => getRunStatus(server, threadId, id, options), ['pending', 'running'])
  } catch (error) {
    if (!(error instanceof HttpError) || error.status !== 404) throw error
    return { failed: { ...explain(error, context, 'reading how the run ended'), ...goneRun(id), ...said } }
  }
  if (status !== 'success') return { failed: { ...unsuccessful(status), ...said } }
  const thread = await settled(context, async () => (await getThread(server, threadId, options)).status, [
    'busy',
  ])
  return { interrupted: thread === 'interrupted' || (run.interrupts !== undefined && thread !== 'idle') }
}

/** Reads a status until it is none of the passing ones, as long as the grace lasts. */
async function settled(
  context: CheckContext,
  read: () => Promise<string>,
  passing: readonly string[],
): Promise<string> {
  const { clock, signal } = context.tools
  const end = Math.min(context.deadline, clock.now() + GRACE_MS)
  for (;;) {
    const status = await read()
    if (!passing.includes(status) || clock.now() + POLL_MS >= end) return status
    await clock.sleep(POLL_MS, signal)
  }
}

function goneRun(id: string): Outcome {
  return {
    reason: `The run ${id} is gone: it was rolled back or its thread was deleted while it ran`,
    hint: 'Something else works on the same thread or deployment: look at who uses it, then run the checks again.',
  }
}

function unsuccessful(status: string): Outcome {
  const look = 'Look at the trace of the run and at the deployment’s log.'
  switch (status) {
    case 'error':
      return {
        reason: 'The run failed: its status is error, though its stream carried no error event',
        hint: look,
      }
    case 'timeout':
      return {
        reason: 'The run was ended by the server’s own time limit: its status is timeout',
        hint: `${look} The limit is a setting of the server (BG_JOB_TIMEOUT_SECS).`,
      }
    case 'interrupted':
      return {
        reason: 'The run was cancelled: its status is interrupted',
        hint: 'Something else cancelled it, or another run took its thread: look at who uses the deployment, then run the checks again.',
      }
    case 'pending':
    case 'running':
      return {
        reason: `The run's stream closed too early: the run's status is still ${status}`,
        hint: 'The stream was cut: look for a proxy in between that ends long answers, or a server that was restarted.',
      }
    default:
      return {
        reason: 'The run ended with a status that is none of success, error, timeout, interrupted',
        hint: look,
      }
  }
}
