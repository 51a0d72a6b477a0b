import type { Engine } from '../engine.ts'
import type { Assistant } from '../store/assistants.ts'
import type { AgentServerOptions } from '../types.ts'

type Json = Record<string, unknown>

const MODES = ['application/json', 'text/plain']

/** The header that chooses how much history an answer tells (1.0). */
export const HISTORY_SCOPE_HEADER = 'LangGraph-A2A-History-Scope'

const HISTORY_SCOPE = {
  uri: 'https://langchain.com/a2a/extensions/history-scope/v1',
  description: 'Choose task-only or full-context response history',
  required: false,
  params: {
    header: HISTORY_SCOPE_HEADER,
    values: ['context', 'task'],
    default: 'context',
    methods: ['SendMessage', 'GetTask', 'ListTasks'],
  },
}

/** Fields of a graph's input schema. */
export function inputFields(engine: Engine, assistant: Assistant): readonly string[] {
  const graph = engine.graphs.get(assistant.graph_id)
  return graph?.inputFields ?? graph?.channels ?? []
}

/**
 * The agent card (recorded: 7-card-*).
 * @param id the assistant's id as the caller spelled it: the card repeats that spelling
 */
export function agentCard(
  engine: Engine,
  options: AgentServerOptions,
  assistant: Assistant,
  id: string,
): Json {
  const { name } = assistant
  const description = assistant.description ?? `${name} assistant`
  const url = `${options.url}/a2a/${id}`
  const fields = inputFields(engine, assistant)
  const supportsA2A = fields.includes('messages')
  const modern = options.a2a === '1.0'
  const required = supportsA2A ? ['messages'] : []
  const skill = {
    id: `${id}-main`,
    name: `${name} Capabilities`,
    description,
    tags: ['assistant', 'langgraph'],
    examples: [],
    inputModes: MODES,
    outputModes: MODES,
    metadata: { inputSchema: { required, properties: [...fields].sort(), supportsA2A } },
  }
  const capabilities = { streaming: true, pushNotifications: false, stateTransitionHistory: false }
  const rest = { defaultInputModes: MODES, defaultOutputModes: MODES, skills: [skill] }
  const version = options.agentVersion
  if (!modern) {
    const head = { protocolVersion: '0.3.0', name, description, url, preferredTransport: 'JSONRPC' }
    return { ...head, capabilities, ...rest, version }
  }
  return {
    name,
    description,
    url,
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { ...capabilities, extensions: [HISTORY_SCOPE] },
    ...rest,
    version,
  }
}
