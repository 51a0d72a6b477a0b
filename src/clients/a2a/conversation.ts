import { collectStream, sendMessage } from './message.ts'
import { JsonRpcError, RPC } from './rpc-error.ts'
import { type A2aConnection, type Answer, type CallOptions, TERMINAL_STATES } from './types.ts'

/**
 * Several messages of one conversation (design, section 4, "A2A continuity"). The first carries neither
 * `contextId` nor `taskId`; a later one carries both of the answer before, as the interface document says.
 */
export class Conversation {
  readonly #connection: A2aConnection
  readonly #assistantId: string
  readonly #method: 'send' | 'stream'
  #last: Answer | undefined
  #contextId: string | undefined

  constructor(connection: A2aConnection, assistantId: string, method: 'send' | 'stream') {
    this.#connection = connection
    this.#assistantId = assistantId
    this.#method = method
  }

  /** The conversation's id (a thread's, too), as soon as the server told one, also when a stream then broke. */
  get contextId(): string | undefined {
    return this.#contextId
  }

  /**
   * Says one text and waits for the answer. A server that takes no more messages for a finished task (from
   * 0.14 on) gets the same text again, once, under a new `messageId` and with `contextId` alone.
   * @throws as `sendMessage` and `collectStream`
   */
  async say(text: string, options: CallOptions): Promise<Answer> {
    const before = this.#last
    const ids = before === undefined ? {} : { contextId: before.contextId, taskId: before.taskId }
    try {
      this.#last = await this.#exchange(text, ids, options)
    } catch (error) {
      if (before === undefined || !refusesFinishedTask(error, before)) throw error
      this.#last = await this.#exchange(text, { contextId: before.contextId }, options)
    }
    return this.#last
  }

  async #exchange(
    text: string,
    ids: { contextId?: string; taskId?: string },
    options: CallOptions,
  ): Promise<Answer> {
    const message = { text, messageId: this.#connection.newId(), ...ids }
    if (this.#method === 'send') {
      const answer = await sendMessage(this.#connection, this.#assistantId, message, options)
      this.#contextId = answer.contextId
      return answer
    }
    const onContext = (contextId: string): void => {
      this.#contextId = contextId
    }
    return collectStream(this.#connection, this.#assistantId, message, { ...options, onContext })
  }
}

function refusesFinishedTask(error: unknown, before: Answer): boolean {
  if (!(error instanceof JsonRpcError) || !TERMINAL_STATES.has(before.state)) return false
  return error.code === RPC.unsupported || error.code === RPC.taskNotFound
}
