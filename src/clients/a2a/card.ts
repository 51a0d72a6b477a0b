import { ProtocolError } from '../../http/errors.ts'
import { displayUrl, join } from '../../http/url.ts'
import { isObject, type JsonObject } from './dialect.ts'
import type { A2aConnection, CallOptions } from './types.ts'

/** What an agent card says, in both recorded shapes (0.3 and 1.0). */
export interface AgentCard {
  /** Members that a card must have and this one has not; empty when it is whole. */
  readonly missing: readonly string[]
  /** `url`, else that of the first of `supportedInterfaces`; remote text. */
  readonly url: string | undefined
  /** `0.3.0`, `1.0`, …; remote text. */
  readonly protocolVersion: string | undefined
  /**
   * False when the card says that the assistant's input has no `messages`, so that text parts cannot work;
   * undefined when it does not tell (`skills[].metadata.inputSchema.supportsA2A`).
   */
  readonly takesText: boolean | undefined
}

/**
 * `GET /.well-known/agent-card.json?assistant_id=…` (interface document, endpoint 14).
 * @param assistantId the assistant's UUID; a graph name is refused with 400
 * @throws HttpError (404: A2A is not offered; 400: no such assistant; 500 of old servers: the graph has no
 *   `messages`), ProtocolError, and what else the transport throws
 */
export async function getAgentCard(
  connection: A2aConnection,
  assistantId: string,
  options: CallOptions,
): Promise<AgentCard> {
  const url = join(connection.url, '/.well-known/agent-card.json', { assistant_id: assistantId })
  const response = await connection.transport.sendWithRetry(
    {
      method: 'GET',
      url,
      headers: connection.headers,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    },
    { deadline: options.deadline, retries: 2 },
  )
  const card = response.json()
  if (!isObject(card)) {
    throw new ProtocolError(
      { method: 'GET', url: displayUrl(url) },
      `GET ${displayUrl(url)} gave no agent card`,
    )
  }
  return readCard(card)
}

function readCard(card: JsonObject): AgentCard {
  const offered = firstObject(card['supportedInterfaces'])
  const url = text(card['url']) ?? text(offered?.['url'])
  const skills = Array.isArray(card['skills']) ? card['skills'].filter(isObject) : []
  const present: Record<string, boolean> = {
    name: text(card['name']) !== undefined,
    description: text(card['description']) !== undefined,
    skills: skills.length > 0,
    defaultInputModes: isModes(card['defaultInputModes']),
    defaultOutputModes: isModes(card['defaultOutputModes']),
    url: url !== undefined,
  }
  return {
    missing: Object.keys(present).filter((name) => present[name] === false),
    url,
    protocolVersion: text(card['protocolVersion']) ?? text(offered?.['protocolVersion']),
    takesText: takesText(skills),
  }
}

function takesText(skills: readonly JsonObject[]): boolean | undefined {
  const told = skills.flatMap((skill) => {
    const metadata = isObject(skill['metadata']) ? skill['metadata'] : {}
    const schema = isObject(metadata['inputSchema']) ? metadata['inputSchema'] : {}
    return typeof schema['supportsA2A'] === 'boolean' ? [schema['supportsA2A']] : []
  })
  return told.length === 0 ? undefined : told.includes(true)
}

function isModes(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((mode) => typeof mode === 'string')
}

function firstObject(value: unknown): JsonObject | undefined {
  return Array.isArray(value) ? value.find(isObject) : undefined
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}
