import type { RunEvent } from './events.ts'

const AI_TYPES = new Set(['ai', 'AIMessage', 'AIMessageChunk', 'assistant'])
const HUMAN_TYPES = new Set(['human', 'HumanMessage', 'user'])
const ROLES = new Set(['ai', 'assistant', 'human', 'user', 'system', 'tool', 'developer', 'function'])

/** Begins the made-up key of a message without an id. */
const UNNAMED = '\0'

interface Message {
  readonly id: string | undefined
  readonly ai: boolean
  readonly human: boolean
  readonly chunk: boolean
  readonly text: string
}

/**
 * Collects what a run said: the text of all AI messages that it produced, chunks joined by message id. A graph
 * without messages has said what its nodes wrote, as JSON.
 *
 * A node that returns the whole list again writes the thread's earlier messages, too. Those were not produced by
 * this run: their ids are known, of the runs before or of the first `values`, and a message of the user follows.
 */
export class Answer {
  /** Text by message id of what earlier runs on the thread said. */
  readonly #before: Map<string, string>
  /** Text by message id, in the order of appearance; messages without an id have a made-up key. */
  readonly #texts = new Map<string, string>()
  readonly #nodes: string[] = []
  readonly #updates: Record<string, unknown>[] = []
  #values: Message[] | undefined
  /** Ids in the first `values` event: the thread's earlier messages and the user's own. */
  #earlier: Set<string> | undefined
  #hasMessages = false
  #unnamed = 0

  /** @param before `messages` of the runs before on the same thread */
  constructor(before: ReadonlyMap<string, string> = new Map()) {
    this.#before = new Map(before)
  }

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
      if (this.#earlier === undefined) {
        this.#earlier = new Set(messages.map(({ id }) => id ?? ''))
        for (const { id, ai, text } of messages) if (ai && id !== undefined) this.#before.set(id, text)
      }
      this.#values = messages
    }
  }

  /** Names of the nodes that wrote, in order. */
  get nodes(): readonly string[] {
    return this.#nodes
  }

  /** AI messages with an id, those of the runs before among them: text by id, for the next run on the thread. */
  get messages(): ReadonlyMap<string, string> {
    const named = [...this.#texts].filter(([id]) => !id.startsWith(UNNAMED))
    return new Map([...this.#before, ...named])
  }

  /** Nothing was said: no message has text and, without messages, no node wrote anything. */
  get empty(): boolean {
    if (this.text.trim() === '') return true
    return !this.#hasMessages && this.#updates.every((update) => Object.values(update).every(isNothing))
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
    const list = messages.map(read).filter(isMessage)
    const lastHuman = list.findLastIndex(({ human }) => human)
    for (const [index, message] of list.entries()) {
      this.#hasMessages = true
      if (!message.ai || (index < lastHuman && this.#isOld(message))) continue
      const key = message.id ?? `${UNNAMED}${this.#unnamed++}`
      const before = this.#texts.get(key)
      this.#texts.set(
        key,
        tuple && message.chunk && before !== undefined ? before + message.text : message.text,
      )
    }
  }

  #isOld({ id, text }: Message): boolean {
    return id !== undefined && this.#before.get(id) === text
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
  if (isPair(value)) {
    const [role, text] = value
    return { id: undefined, ai: AI_TYPES.has(role), human: HUMAN_TYPES.has(role), chunk: false, text }
  }
  if (!isRecord(value) || !('content' in value)) return undefined
  const kind = [value['type'], value['role']].find((part) => typeof part === 'string')
  if (kind === undefined || !isContent(value['content'])) return undefined
  const id = typeof value['id'] === 'string' && value['id'] !== '' ? value['id'] : undefined
  // The JavaScript server calls its chunks `ai`, like whole messages.
  const chunk = kind.endsWith('Chunk') || Array.isArray(value['tool_call_chunks'])
  return { id, ai: AI_TYPES.has(kind), human: HUMAN_TYPES.has(kind), chunk, text: textOf(value['content']) }
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

/** Null of a node that returned nothing, an empty text, and lists and mappings that hold nothing else. */
function isNothing(written: unknown): boolean {
  if (typeof written === 'object' && written !== null) return Object.values(written).every(isNothing)
  return written === null || written === ''
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
