import { getNextNodes } from '../clients/agent-server/threads.ts'
import { unknownGraph } from './assistant.ts'
import type { Step } from './checks.ts'
import type { StreamedRun } from './run-stream.ts'
import { agentServer } from './server.ts'
import type { CheckContext, Outcome } from './types.ts'

/** What to do, by the class of the error as the server names it; the rest is the agent's own. */
const HINTS: Readonly<Record<string, string>> = {
  EmptyInputError:
    'The graph got no input: give `input` in the check, such as { messages: [{ role: user, content: Hello }] }.',
  InvalidUpdateError:
    'The graph does not take this input: compare `input` in the check with the graph’s state.',
  GraphRecursionError:
    'The graph runs in a loop: look at its trace, or raise `config.recursion_limit` under `run` in the check.',
  UserInterrupt: 'Something cancelled the run: look at who else uses the deployment.',
}

/**
 * The outcome for an `error` event: HTTP stays 200 when a run fails inside its stream.
 * @throws what the client throws while the thread is read
 */
export async function explainRunError(
  step: Step,
  threadId: string,
  run: StreamedRun,
  context: CheckContext,
): Promise<Outcome> {
  const { kind, message } = run.verdict.error ?? { kind: '', message: '' }
  const said = [kind, message].filter((part) => part !== '').join(': ')
  if (step.feedback !== undefined && (await failedAfterItsAnswer(kind, message, threadId, run, context))) {
    return {
      reason: 'The server cannot make feedback URLs: the run failed after its answer, when it asked for them',
      hint: 'The server needs an API key of its own for that: set LANGSMITH_API_KEY among the secrets of the deployment, and look at LANGSMITH_ENDPOINT. Without feedback, leave `feedback` out of the check.',
      said,
    }
  }
  if (step.assistant.kind === 'new' && run.verdict.stateEvents === 0) {
    const unknown = await unknownGraph(step.assistant, context)
    if (unknown !== undefined) return { ...unknown, said }
  }
  return {
    reason: 'The run failed inside its stream, which carried an error event',
    hint:
      HINTS[kind] ??
      'The agent’s own code, its model or its keys failed: look at the trace of the run and at the deployment’s log.',
    said,
  }
}

/**
 * Whether the run failed when its feedback URLs were minted. The server says so in many words (a LangSmith error
 * class, a sentence about a presigned token, a JSON error); what they have in common is a graph at its end.
 */
async function failedAfterItsAnswer(
  kind: string,
  message: string,
  threadId: string,
  run: StreamedRun,
  context: CheckContext,
): Promise<boolean> {
  if (run.verdict.stateEvents === 0) return false
  if (/^LangSmith\w*$/.test(kind) || /presigned feedback token/i.test(message)) return true
  try {
    return (await getNextNodes(agentServer(context), threadId, { deadline: context.deadline })) === 0
  } catch {
    context.tools.signal.throwIfAborted()
    return false
  }
}
