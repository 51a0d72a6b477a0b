import { getAgentCard } from '../clients/a2a/card.ts'
import { Conversation } from '../clients/a2a/conversation.ts'
import { JsonRpcError, RPC } from '../clients/a2a/rpc-error.ts'
import { getTask } from '../clients/a2a/task.ts'
import type { A2aConnection, Answer, CallOptions, Task } from '../clients/a2a/types.ts'
import { deleteThread, getThread } from '../clients/agent-server/threads.ts'
import { HttpError, NetworkError, RedirectError } from '../http/errors.ts'
import { join } from '../http/url.ts'
import { callFault, cardFault, NO_MESSAGES_KEY } from './a2a-faults.ts'
import { judgeEarlier, judgeLast } from './a2a-judge.ts'
import { type Found, findAssistant } from './assistant.ts'
import type { A2aCheck } from './checks.ts'
import { explain } from './explain.ts'
import { agentServer, withTimeout } from './server.ts'
import type { CheckContext, Outcome } from './types.ts'

/** A task may be told as `working` for a moment after its answer was sent; so long is it asked again. */
const SETTLE_MS = 10_000
const SETTLE_POLL_MS = 500

/**
 * Runs an `a2a` check: the agent card, the messages in turn, then `tasks/get` of the last task, whose state
 * must agree (design, 2.3). The thread of the conversation is deleted afterwards, as an assistant is that was
 * made for the check.
 * @throws only when the job was cancelled
 */
export async function checkA2a(check: A2aCheck, outer: CheckContext): Promise<Outcome> {
  const context = withTimeout(outer, check.expect.withinMs)
  let found: Found
  try {
    found = await findAssistant(check.assistant, context)
  } catch (error) {
    return explain(error, context, 'looking for the assistant')
  }
  if ('failed' in found) return found.failed
  const run = new A2aRun(check, found.assistant.id, context)
  context.afterwards('the thread of the A2A conversation', (deadline) =>
    deleteConversation(run.threadId, context, deadline),
  )
  const raw = await run.outcome()
  const outcome = { ...raw, reason: raw.reason.charAt(0).toUpperCase() + raw.reason.slice(1) }
  if (run.warnings.length === 0) return outcome
  return { ...outcome, warnings: [...(outcome.warnings ?? []), ...run.warnings] }
}

/** The conversation's `contextId` is its thread's id. */
async function deleteConversation(
  threadId: string | undefined,
  context: CheckContext,
  deadline: number,
): Promise<void> {
  if (threadId === undefined) return
  try {
    await deleteThread(agentServer(context), threadId, { deadline })
  } catch (error) {
    // Servers of the 0.5 line have deleted the thread of a stream by themselves.
    if (!(error instanceof HttpError) || error.status !== 404) throw error
  }
}

class A2aRun {
  readonly warnings: string[] = []
  /** The first `contextId` that an answer had. */
  #contextId: string | undefined
  readonly #check: A2aCheck
  readonly #assistantId: string
  readonly #connection: A2aConnection
  readonly #conversation: Conversation
  readonly #options: CallOptions
  readonly #context: CheckContext
  /** The server speaks A2A 0.3, whose streams without a `contextId` leave nothing behind. */
  #old = false

  constructor(check: A2aCheck, assistantId: string, context: CheckContext) {
    const { target, tools } = context
    this.#check = check
    this.#assistantId = assistantId
    this.#context = context
    this.#connection = {
      transport: tools.transport,
      url: target.url,
      headers: target.headers,
      newId: tools.newId,
    }
    this.#options = { deadline: context.deadline, signal: tools.signal }
    this.#conversation = new Conversation(this.#connection, assistantId, check.method)
  }

  /** The thread of the conversation, once the server told its id. */
  get threadId(): string | undefined {
    return this.#conversation.contextId
  }

  async outcome(): Promise<Outcome> {
    return (await this.#readCard()) ?? (await this.#talk())
  }

  /** @returns what is wrong with the card; undefined when it is in order */
  async #readCard(): Promise<Outcome | undefined> {
    let card: Awaited<ReturnType<typeof getAgentCard>>
    try {
      card = await getAgentCard(this.#connection, this.#assistantId, this.#options)
    } catch (error) {
      this.#rethrowCancel()
      return cardFault(error, this.#connection, this.#assistantId, this.#context)
    }
    if (card.missing.length > 0) {
      return {
        reason: `the agent card lacks ${card.missing.join(', ')}`,
        hint: 'Other agents need all of a card. Look at whether a route of the agent’s own stands under /.well-known/agent-card.json, else upgrade the agent server.',
      }
    }
    if (card.takesText === false) return NO_MESSAGES_KEY
    this.#old = card.protocolVersion?.startsWith('0.') === true
    this.#compareUrl(card.url ?? '')
    return undefined
  }

  /** A card's URL is for other agents; the checks go on at the URL that is known. */
  #compareUrl(told: string): void {
    const own = join(this.#connection.url, `/a2a/${this.#assistantId}`)
    if (!URL.canParse(told)) {
      this.warnings.push('the agent card’s endpoint is not a URL, so other agents cannot find it.')
      return
    }
    const { host, protocol } = new URL(told)
    if (host === own.host && (protocol === own.protocol || protocol === 'https:')) return
    this.warnings.push(
      `the agent card sends other agents to ${protocol}//${host}, not to ${own.origin}: set LANGGRAPH_API_URL at the server.`,
    )
  }

  async #talk(): Promise<Outcome> {
    const { messages } = this.#check
    for (const [index, text] of messages.entries()) {
      const what = messages.length === 1 ? 'the message' : `message ${index + 1} of ${messages.length}`
      let answer: Answer
      try {
        answer = await this.#conversation.say(text, this.#options)
      } catch (error) {
        this.#rethrowCancel()
        this.#warnOfThread(error)
        return callFault(error, what, this.#context)
      }
      if (this.#contextId !== undefined && answer.contextId !== this.#contextId) {
        return {
          reason: `${what} was answered under another contextId: the conversation was not kept`,
          hint: 'The server does not go on with the conversation that it began: look at its version, and at whether several servers answer under this URL.',
          said: answer.text,
        }
      }
      this.#contextId = answer.contextId
      if (index === messages.length - 1) return this.#finish(answer, what)
      const verdict =
        judgeEarlier(answer, what) ?? (answer.ended ? undefined : await this.#unfinished(answer, what))
      if (verdict !== undefined) return verdict
    }
    throw new RangeError('an a2a check without messages')
  }

  /** `message/send` tells its thread only with the answer: where none came, the thread cannot be deleted. */
  #warnOfThread(error: unknown): void {
    const refused =
      error instanceof JsonRpcError || error instanceof HttpError || error instanceof RedirectError
    const sent = !refused && !(error instanceof NetworkError && error.neverSent)
    if (!sent || this.threadId !== undefined) return
    this.warnings.push(
      'the thread of the message that was not answered stays at the server, which tells its id only with the answer.',
    )
  }

  /** The last answer: its own end, what `tasks/get` says of it, then what was expected. */
  async #finish(answer: Answer, what: string): Promise<Outcome> {
    if (!answer.ended) return this.#unfinished(answer, what)
    if (this.#old && answer.state === 'completed' && (await this.#stoppedToAsk(answer))) {
      return {
        reason: `${what}: the agent stopped to ask, and the server tells its task as completed`,
        hint: 'Servers of the 0.5 line have no input-required: upgrade the agent server, or check this assistant with `input:` and `expect: { interrupt: true }` in place of `a2a:`.',
        said: answer.text,
      }
    }
    const verdict = judgeLast(answer, this.#check.expect, what, this.#oldStreamNote())
    // A failed answer is told as what it is; tasks/get could only say it again.
    if (verdict.reason !== '' && answer.state !== 'completed') return verdict
    const disagreement = await this.#compareTask(answer)
    return disagreement ?? verdict
  }

  /** What the conversation's thread tells; false where it tells nothing. */
  async #stoppedToAsk(answer: Answer): Promise<boolean> {
    const options = { deadline: this.#options.deadline, once: true }
    try {
      const { status } = await getThread(agentServer(this.#context), answer.contextId, options)
      return status === 'interrupted'
    } catch {
      this.#rethrowCancel()
      return false
    }
  }

  /** What streams of the 0.5 line keep back. */
  #oldStreamNote(): string {
    if (!this.#old || this.#check.method !== 'stream') return ''
    const lost =
      this.#check.messages.length > 1
        ? 'forget what a first streamed message said'
        : 'stream no text of an answer that is a list of content blocks'
    return ` Servers of the 0.5 line ${lost}: use \`method: send\`, or upgrade the agent server.`
  }

  /** @returns what is wrong with the task as `tasks/get` tells it; undefined when it agrees */
  async #compareTask(answer: Answer): Promise<Outcome | undefined> {
    let task: Task
    try {
      task = await this.#getSettledTask(answer)
    } catch (error) {
      this.#rethrowCancel()
      if (this.#isForgotten(error, answer)) {
        this.warnings.push(
          'the server does not know the streamed task any more (tasks/get): servers of the 0.5 line keep nothing of a stream that began without a contextId.',
        )
        return undefined
      }
      return callFault(error, 'tasks/get of the last task', this.#context)
    }
    if (task.state === answer.state) return undefined
    return {
      reason: `the answer said that the task is ${word(answer.state)}, and tasks/get says ${word(task.state)}`,
      hint:
        task.state === 'canceled'
          ? 'Somebody canceled the task while it ran: run the check again, and look at what else uses this deployment.'
          : 'Look at the run in the agent’s trace: it did not end as the answer says.',
      said: answer.text,
    }
  }

  #isForgotten(error: unknown, answer: Answer): boolean {
    if (!(error instanceof JsonRpcError)) return false
    const unknown = error.code === RPC.taskNotFound || error.code === RPC.invalidParams
    return unknown && this.#check.method === 'stream' && answer.state === 'completed'
  }

  async #getSettledTask(answer: Answer): Promise<Task> {
    const { clock } = this.#connection.transport
    const until = Math.min(clock.now() + SETTLE_MS, this.#options.deadline)
    for (;;) {
      const ids = { id: answer.taskId, contextId: answer.contextId }
      const task = await getTask(this.#connection, this.#assistantId, ids, this.#options)
      const open = task.state === 'working' || task.state === 'submitted'
      if (!open || clock.now() + SETTLE_POLL_MS >= until) return task
      await clock.sleep(SETTLE_POLL_MS, this.#options.signal)
    }
  }

  /** The answer came before the task's end: a stream that closed without an error (a canceled run does that). */
  async #unfinished(answer: Answer, what: string): Promise<Outcome> {
    let state = answer.state
    try {
      const ids = { id: answer.taskId, contextId: answer.contextId }
      state = (await getTask(this.#connection, this.#assistantId, ids, this.#options)).state
    } catch {
      this.#rethrowCancel()
    }
    return {
      reason:
        this.#check.method === 'stream'
          ? `the stream of ${what} closed before the task came to its end; the task is ${word(state)}`
          : `${what} was answered before the task came to its end; the task is ${word(state)}`,
      hint:
        state === 'canceled'
          ? 'Somebody canceled the run: a canceled run closes its stream without an error. Run the check again.'
          : 'The server was restarted, or a proxy in between ends long answers: look at the deployment’s log.',
      said: answer.text,
    }
  }

  #rethrowCancel(): void {
    this.#options.signal?.throwIfAborted()
  }
}

/** A state is the server's word: shown only when it looks like one. */
function word(state: string): string {
  return /^[a-z][a-z-]{0,29}$/.test(state) ? `"${state}"` : 'in a state that nobody here knows'
}
