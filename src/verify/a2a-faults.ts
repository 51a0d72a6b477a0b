import { JsonRpcError, RPC } from '../clients/a2a/rpc-error.ts'
import { getInputKeys, getServerKind } from '../clients/a2a/server-kind.ts'
import type { A2aConnection, CallOptions } from '../clients/a2a/types.ts'
import { HttpError, NetworkError } from '../http/errors.ts'
import { explain } from './explain.ts'
import type { CheckContext, Outcome } from './types.ts'

/** Texts of both recorded generations for an input schema without `messages` (-32602, like much else). */
const NO_MESSAGES = /'messages' field|no input schema/i

/** The agent server has A2A from this version on (interface document, "Versioning"). */
const FIRST_WITH_A2A = [0, 4, 21] as const

export const NO_MESSAGES_KEY: Outcome = {
  reason: 'the assistant’s state has no `messages` key, so A2A text parts cannot work',
  hint: 'Give the graph’s state a `messages` list (MessagesState), or check this assistant with `input:` in place of `a2a:`.',
}

/** The outcome of an error while the agent card was read. */
export async function cardFault(
  error: unknown,
  connection: A2aConnection,
  assistantId: string,
  context: CheckContext,
): Promise<Outcome> {
  const options = { deadline: context.deadline, signal: context.tools.signal }
  if (error instanceof HttpError && error.status === 404) return notOffered(connection, options)
  if (error instanceof HttpError && error.status === 400) {
    return {
      reason: 'the server makes no agent card for this assistant (400)',
      hint: 'Look at `assistant:` of the check: it has to be a graph of this deployment, or the id of an assistant there.',
      said: error.detail,
    }
  }
  if (
    error instanceof HttpError &&
    error.status >= 500 &&
    !(await takesMessages(connection, assistantId, options))
  ) {
    // Servers of the 0.5 line cannot make the card of such a graph: 500 "'NoneType' object has no attribute".
    return { ...NO_MESSAGES_KEY, said: error.detail }
  }
  return explain(error, context, 'reading the agent card')
}

/**
 * The outcome of an error of `message/send`, `message/stream` or `tasks/get`.
 * @param what the thing that was asked for, e.g. `message 1 of 2`
 */
export function callFault(error: unknown, what: string, context: CheckContext): Outcome {
  if (error instanceof JsonRpcError) return refusal(error, what)
  if (error instanceof NetworkError && !error.neverSent) {
    const code = error.code === '' ? '' : ` (${error.code})`
    return {
      reason: `the connection broke before ${what} was answered${code}`,
      hint: 'The server was restarted, or a proxy in between ends long answers: look at the deployment’s log, then run the check again.',
    }
  }
  return explain(error, context, `waiting for the answer to ${what}`)
}

function refusal(error: JsonRpcError, what: string): Outcome {
  if (error.code === RPC.invalidParams && NO_MESSAGES.test(error.remoteMessage)) {
    return { ...NO_MESSAGES_KEY, said: error.remoteMessage }
  }
  const hints: Record<number, string> = {
    [RPC.methodNotFound]:
      'The server does not know this A2A method: it may be older than 0.4.21, or not the agent server.',
    [RPC.invalidParams]:
      'Look at what the server said: an unknown assistant, a run that could not be made, or a rule of the agent’s own authentication.',
    [RPC.internal]: 'The server failed inside: look at the deployment’s log.',
    [RPC.taskNotFound]:
      'The server lost the task that it answered before: look at its storage, and at whether several servers answer under this URL.',
    [RPC.unsupported]: 'The server takes no more messages for this task: look at what it said.',
  }
  return {
    reason: `${what} was refused with JSON-RPC error ${error.code}`,
    hint: hints[error.code] ?? 'Look at what the server said, and at the deployment’s log.',
    said: error.remoteMessage,
  }
}

/** The card is 404: nobody tells why, but `/info` narrows it down. */
async function notOffered(connection: A2aConnection, options: CallOptions): Promise<Outcome> {
  const { version, javascript } = await getServerKind(connection, options)
  if (javascript) {
    return {
      reason: 'A2A is not offered: this is the JavaScript agent server, which has none',
      hint: 'Check this deployment with runs (`input:`) in place of `a2a:`.',
    }
  }
  if (version !== undefined && isOlder(version, FIRST_WITH_A2A)) {
    return {
      reason: `A2A is not offered: the agent server is version ${version.join('.')}, and A2A needs ${FIRST_WITH_A2A.join('.')} or later`,
      hint: 'Build with a newer base image (`api_version` in langgraph.json) or a newer langgraph-api, and deploy again.',
    }
  }
  return {
    reason: 'A2A is not offered: the agent card answers 404, so it is probably switched off',
    hint: 'Remove `"disable_a2a": true` from `http` in langgraph.json and deploy again; A2A needs agent server 0.4.21 or later.',
  }
}

function isOlder(version: readonly number[], than: readonly number[]): boolean {
  for (const [index, part] of than.entries()) {
    const own = version[index] ?? 0
    if (own !== part) return own < part
  }
  return false
}

/** Whether the assistant's input has `messages`; true when the server does not tell. */
async function takesMessages(
  connection: A2aConnection,
  assistantId: string,
  options: CallOptions,
): Promise<boolean> {
  return (await getInputKeys(connection, assistantId, options))?.includes('messages') ?? true
}
