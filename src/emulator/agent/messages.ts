import { RunError } from './errors.ts'
import { pythonRepr } from './python.ts'

/** A chat message as it goes over the wire. `content` is a text, or a list of `{type, text, …}` blocks. */
export interface Message {
  content: unknown
  type: string
  id: string | null
  [key: string]: unknown
}

/** The order of a message's keys differs between the two servers, and Python has `name` and `usage_metadata`. */
export type MessageDialect = 'python' | 'js'

const TYPES: Record<string, string> = {
  human: 'human',
  user: 'human',
  ai: 'ai',
  assistant: 'ai',
  system: 'system',
  developer: 'system',
  tool: 'tool',
  function: 'function',
  remove: 'remove',
}
const TROUBLESHOOTING =
  'For troubleshooting, visit: https://docs.langchain.com/oss/python/langchain/errors/MESSAGE_COERCION_FAILURE '

/** Builds a message with the keys of its type, in the order in which the server writes them. */
export function makeMessage(
  dialect: MessageDialect,
  fields: { type: string; content: unknown; id: string | null; extra?: Record<string, unknown> },
): Message {
  const { type, content, id, extra = {} } = fields
  const kwargs = extra['additional_kwargs'] ?? {}
  const response = extra['response_metadata'] ?? {}
  const calls = {
    tool_calls: extra['tool_calls'] ?? [],
    invalid_tool_calls: extra['invalid_tool_calls'] ?? [],
  }
  if (dialect === 'js') {
    const tools = type === 'ai' ? calls : {}
    const toolCall = type === 'tool' ? { tool_call_id: extra['tool_call_id'] ?? '' } : {}
    return {
      content,
      ...tools,
      ...toolCall,
      additional_kwargs: kwargs,
      response_metadata: response,
      id,
      type,
    }
  }
  const head = { content, additional_kwargs: kwargs, response_metadata: response, type }
  const named = { ...head, name: extra['name'] ?? null, id }
  if (type === 'ai') return { ...named, ...calls, usage_metadata: extra['usage_metadata'] ?? null }
  if (type === 'tool') {
    const status = extra['status'] ?? 'success'
    return {
      ...named,
      tool_call_id: extra['tool_call_id'] ?? '',
      artifact: extra['artifact'] ?? null,
      status,
    }
  }
  return named
}

/**
 * Reads what a caller gave as one message: a text (then it is a human's), a pair `[role, content]`, or a mapping
 * with `role` or `type` and `content`. Throws the RunError that the real server ends the run with.
 */
export function coerceMessage(dialect: MessageDialect, raw: unknown, newId: () => string): Message {
  if (typeof raw === 'string') return makeMessage(dialect, { type: 'human', content: raw, id: newId() })
  if (Array.isArray(raw) && raw.length === 2 && typeof raw[0] === 'string') {
    return coerceMessage(dialect, { role: raw[0], content: raw[1] }, newId)
  }
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw new RunError(
      'NotImplementedError',
      `Unsupported message type: ${pythonRepr(raw)}\n${TROUBLESHOOTING}`,
    )
  }
  const fields = raw as Record<string, unknown>
  const role = fields['role'] ?? fields['type']
  if (typeof role !== 'string' || !('content' in fields || role === 'remove')) {
    const text = `Message dict must contain 'role' and 'content' keys, got ${pythonRepr(raw)}`
    throw new RunError('ValueError', `${text}\n${TROUBLESHOOTING}`)
  }
  const type = TYPES[role]
  if (type === undefined) {
    const known = "'human', 'user', 'ai', 'assistant', 'function', 'tool', 'system', or 'developer'"
    const text = `Unexpected message type: '${role}'. Use one of ${known}.`
    throw new RunError('ValueError', `${text}\n${TROUBLESHOOTING}`)
  }
  const content = fields['content'] ?? ''
  if (typeof content !== 'string' && !Array.isArray(content)) {
    throw new RunError('ValidationError', `Input should be a valid string, got ${pythonRepr(content)}`)
  }
  const id = typeof fields['id'] === 'string' && fields['id'] !== '' ? fields['id'] : newId()
  return makeMessage(dialect, { type, content, id, extra: fields })
}

/** The state's reducer: a message whose id is there already replaces it, `remove` takes it away, others are added. */
export function addMessages(before: readonly Message[], added: readonly Message[]): Message[] {
  const result = [...before]
  for (const message of added) {
    const index = result.findIndex((known) => known.id === message.id)
    if (message.type === 'remove') {
      if (index >= 0) result.splice(index, 1)
    } else if (index >= 0) result[index] = message
    else result.push(message)
  }
  return result
}

/** The text of a message: its content, or the texts of its blocks joined. */
export function messageText(message: Message): string {
  if (typeof message.content === 'string') return message.content
  if (!Array.isArray(message.content)) return ''
  return message.content
    .map((block: unknown) => {
      if (typeof block === 'string') return block
      const text = (block as { text?: unknown } | null)?.text
      return typeof text === 'string' ? text : ''
    })
    .join('')
}
