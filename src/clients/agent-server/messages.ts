import type { RunEvent } from './events.ts'

const AI_TYPES = new Set(['ai', 'AIMessage', 'AIMessageChunk', 'assistant'])
const ROLES = new Set(['ai', 'assistant', 'human', 'user', 'system', 'tool', 'developer', 'function'])

interface Message {
  readonly id: string | undefined
  readonly ai: boolean
  readonly chunk: boolean
  readonly text: string
}

/**
 * Collects what a run said: the text of all AI messages that it produced, chunks joined by message id. A graph
 * without messages has said what its nodes wrote, as JSON.
 */
export class Answer {
  /** Text by message id, in the order of appearance; messages without an id have a made-up key. */
  readonly #texts = new Map<string, string>()
  readonly #nodes: string[] = []
  readonly #updates: unknown[] = []
  #values: Message[] | undefined
  /** Ids in the first `values` event: the thread's earlier messages and the user's own. */
  #earlier: Set<string> | undefined
  #hasMessages = false
  #unnamed = 0

  add(event: RunEvent): void {
    if (event.type === 'messages') this.#take(event.messages, event.tuple)
    if (event.type === 'updates') {
      for (const [node, written] of Object.entries(event.nodes)) {
        if (!this.#nodes.includes(node)) this.#nodes.push(node)
        this.#updates.push({ [node]: written })
        this.#take(messagesIn(written), false)
      }
      if (event.interrupts !== undefined) this.#updates.push({ __interrupt__: event.interrupts })
    }
    if (event.type === 'values') {
      const messages = messagesIn(event.values).map(read).filter(isMessage)
      this.#earlier ??= new Set(messages.map(({ id }) => id ?? ''))
      this.#values = messages
    }
  }

  /** Names of the nodes that wrote, in order. */
  get nodes(): readonly string[] {
    return this.#nodes
  }

  /** Messages joined by line ends, or the updates as JSON, one per line; "" when nothing was said. */
  get text(): string {
    if (this.#hasMessages) return [...this.#texts.values()].filter((text) => text !== '').join('\n')
    // A state key of another name can hold the messages; then only `values` shows them as such.
    const later = (this.#values ?? []).filter(
      ({ ai, id }) => ai && id !== undefined && !this.#earlier?.has(id),
    )
    if (later.length > 0) return later.map(({ text }) => text).join('\n')
    return this.#updates.map((update) => JSON.stringify(update)).join('\n')
  }

  #take(messages: readonly unknown[], tuple: boolean): void {
    for (const message of messages.map(read).filter(isMessage)) {
      this.#hasMessages = true
      if (!message.ai) continue
      const key = message.id ?? `unnamed ${this.#unnamed++}`
      const before = this.#texts.get(key)
      this.#texts.set(
        key,
        tuple && message.chunk && before !== undefined ? before + message.text : message.text,
      )
    }
  }
}

/** Everything message-like that a node wrote: under any key, as one or as a list, or as the state itself. */
function messagesIn(written: unknown, depth = 0): unknown[] {
  if (depth > 2) return []
  // A node that ran several times in one step gives a list of what it wrote.
  if (Array.isArray(written))
    return written.flatMap((item) => (read(item) === undefined ? messagesIn(item, depth + 1) : [item]))
  if (!isRecord(written)) return []
  if (read(written) !== undefined) return [written]
  return Object.entries(written).flatMap(([key, value]) => {
    const items = Array.isArray(value) ? value : [value]
    return items.filter((item) => (isPair(item) ? key === 'messages' : read(item) !== undefined))
  })
}

/** A message as the server writes it, or as a node did: `{role, content}`, or a pair of role and text. */
function read(value: unknown): Message | undefined {
  if (isPair(value)) return { id: undefined, ai: AI_TYPES.has(value[0]), chunk: false, text: value[1] }
  if (!isRecord(value) || !('content' in value)) return undefined
  const kind = [value['type'], value['role']].find((part) => typeof part === 'string')
  if (kind === undefined || !isContent(value['content'])) return undefined
  const id = typeof value['id'] === 'string' && value['id'] !== '' ? value['id'] : undefined
  // The JavaScript server calls its chunks `ai`, like whole messages.
  const chunk = kind.endsWith('Chunk') || Array.isArray(value['tool_call_chunks'])
  return { id, ai: AI_TYPES.has(kind), chunk, text: textOf(value['content']) }
}

/** Content is a string, or a list of blocks of which those with `text` count. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((block) => {
      if (typeof block === 'string') return block
      return isRecord(block) && typeof block['text'] === 'string' ? block['text'] : ''
    })
    .join('')
}

function isContent(content: unknown): boolean {
  return typeof content === 'string' || Array.isArray(content) || content === null
}

function isMessage(message: Message | undefined): message is Message {
  return message !== undefined
}

function isPair(value: unknown): value is [string, string] {
  return (
    Array.isArray(value) &&
    value.length === 2 &&
    ROLES.has(value[0] as string) &&
    typeof value[1] === 'string'
  )
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
