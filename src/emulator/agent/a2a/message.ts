import { CONTENT_TYPE_NOT_SUPPORTED, INTERNAL_ERROR, INVALID_PARAMS, RpcError } from './errors.ts'
import type { A2aVersion } from './rpc.ts'
import { isObject } from './rpc.ts'

type Json = Record<string, unknown>

/** A message as it was sent, read. */
export interface SentMessage {
  /** The message itself, for the history of the first streamed event. */
  raw: Json
  human: boolean
  messageId: string | undefined
  contextId: string | undefined
  taskId: string | undefined
  texts: unknown[]
  files: FilePart[]
  /** All data parts in one. */
  data: Json
}

export interface FilePart {
  bytes?: string
  uri?: string
  mimeType?: string
  name?: string
}

/** The message of `params`, before its parts are looked at: a stream opens after this check only (1.0). */
export function requireMessage(version: A2aVersion, params: Json): Json {
  const message = params['message']
  if (isObject(message)) return message
  const words = version === '0.3' ? "Missing 'message' in params" : "Missing or invalid 'message' in params"
  throw new RpcError(INVALID_PARAMS, words)
}

/** Reads a message. Throws RpcError with the recorded texts. */
export function readMessage(version: A2aVersion, message: Json): SentMessage {
  if (version === '1.0') {
    for (const name of ['messageId', 'role']) {
      if (typeof message[name] !== 'string' || message[name] === '') {
        throw new RpcError(INVALID_PARAMS, `Missing required '${name}' in message`)
      }
    }
  }
  const parts = message['parts'] ?? []
  if (!Array.isArray(parts)) {
    throw version === '0.3'
      ? new RpcError(INTERNAL_ERROR, "Internal server error: 'str' object has no attribute 'get'")
      : new RpcError(INVALID_PARAMS, "Invalid params: 'parts' must be an array")
  }
  if (parts.length === 0) throw new RpcError(INVALID_PARAMS, 'Message must contain at least one part')
  const role = message['role'] ?? 'user'
  const sent: SentMessage = {
    raw: message,
    // Any other word becomes an agent's message (recorded); 0.3 knows no ROLE_USER.
    human: role === 'user' || (version === '1.0' && role === 'ROLE_USER'),
    messageId: given(message['messageId']),
    contextId: given(message['contextId']),
    taskId: given(message['taskId']),
    texts: [],
    files: [],
    data: {},
  }
  for (const part of parts) readPart(version, part, sent)
  const empty = Object.keys(sent.data).length === 0 && sent.texts.length === 0 && sent.files.length === 0
  if (empty) {
    const kinds = version === '0.3' ? 'text or data' : 'text, data, or file'
    throw new RpcError(CONTENT_TYPE_NOT_SUPPORTED, `Message must contain at least one valid ${kinds} part`)
  }
  return sent
}

function readPart(version: A2aVersion, part: unknown, sent: SentMessage): void {
  const kind = isObject(part) ? kindOf(version, part) : undefined
  if (!isObject(part) || kind === undefined) throw unsupportedPart(version, part)
  if (kind === 'text') sent.texts.push(part['text'])
  else if (kind === 'data') {
    if (!isObject(part['data'])) {
      const message = "DataPart must contain a JSON object in the 'data' field"
      throw new RpcError(CONTENT_TYPE_NOT_SUPPORTED, message)
    }
    Object.assign(sent.data, part['data'])
  } else {
    const { bytes, uri, mimeType, name } = part['file'] as FilePart
    const entries = Object.entries({ bytes, uri, mimeType, name }).filter(([, value]) => value !== undefined)
    sent.files.push(Object.fromEntries(entries))
  }
}

/** 0.3 goes by `kind`; 1.0 by which member is there. */
function kindOf(version: A2aVersion, part: Json): 'text' | 'data' | 'file' | undefined {
  if (version === '0.3') {
    const { kind } = part
    return kind === 'text' || kind === 'data' ? kind : undefined
  }
  if ('text' in part) return 'text'
  if ('data' in part) return 'data'
  return isObject(part['file']) ? 'file' : undefined
}

function unsupportedPart(version: A2aVersion, part: unknown): RpcError {
  if (version === '1.0') {
    const message = "Unsupported part type. A2A agents support 'text', 'data', and 'file' parts only."
    return new RpcError(CONTENT_TYPE_NOT_SUPPORTED, message)
  }
  const kind = isObject(part) && typeof part['kind'] === 'string' ? part['kind'] : 'None'
  const message = `Unsupported part kind '${kind}'. A2A agents support 'text' and 'data' parts only.`
  return new RpcError(CONTENT_TYPE_NOT_SUPPORTED, message)
}

/** An empty string stands for a member that is not there (recorded: 7-send-ctx-empty). */
function given(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/**
 * The graph's input. Text parts become messages; in 1.0 all carry the message's own id, so that the last replaces
 * the others (recorded: 7-send-twotext), in 0.3 each has a new one. A `messages` member of the data wins over text.
 * @param marker 1.0 writes it into each message, and so finds the task of a message again
 */
export function graphInput(version: A2aVersion, sent: SentMessage, marker: Json): Json {
  if (sent.texts.length === 0 && sent.files.length === 0) return sent.data
  if ('messages' in sent.data) return sent.data
  const message = (content: unknown): Json =>
    version === '1.0'
      ? { role: sent.human ? 'human' : 'assistant', content, id: sent.messageId, additional_kwargs: marker }
      : { role: sent.human ? 'user' : 'assistant', content }
  if (sent.files.length === 0) {
    return { ...sent.data, messages: sent.texts.map(message) }
  }
  const texts = sent.texts.map((text) => ({ type: 'text', text }))
  const files = sent.files.map((file) => ({ type: 'file', ...file }))
  return { ...sent.data, messages: [message([...texts, ...files])] }
}
