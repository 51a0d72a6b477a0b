import type { Graph } from '../graphs.ts'
import { MESSAGE_DEFINITIONS, MESSAGE_NAMES } from './message-schema.ts'

type Json = Record<string, unknown>

/** A graph's nodes and edges, as `GET /assistants/{id}/graph` draws them. */
export function graphWire(graph: Graph): Json {
  const names = graph.nodes.map((node) => node.name)
  const stops = ['__start__', ...names, '__end__']
  return {
    nodes: stops.map((name) =>
      name === '__end__' ? { id: name } : { id: name, type: 'runnable', data: { name } },
    ),
    edges: stops.slice(1).map((target, index) => ({ source: stops[index], target })),
  }
}

/** The title of a field: `answer_text` is `Answer Text`. */
function titleOf(field: string): string {
  return field.replaceAll(
    /(^|_)([a-z])/g,
    (_all, gap, letter) => `${gap === '' ? '' : ' '}${letter.toUpperCase()}`,
  )
}

/** What `GET /assistants/{id}/schemas` tells: JSON Schemas of input, output, state, config and context. */
export function schemasWire(graph: Graph): Json {
  const context = graph.contextFields
  return {
    graph_id: graph.id,
    input_schema: inputSchema(graph),
    output_schema: inputSchema(graph),
    state_schema: stateSchema(graph),
    config_schema: context === undefined ? {} : textFields(context, 'Configurable'),
    context_schema: context === undefined ? null : textFields(context, 'Context'),
  }
}

/** A graph's input schema; `required` are the fields that it names. */
export function inputSchema(graph: Graph): Json {
  if (!graph.channels.includes('messages')) return textFields(graph.inputFields ?? graph.channels, 'State')
  return {
    $defs: MESSAGE_DEFINITIONS,
    properties: { messages: { items: MESSAGE, title: 'Messages', type: 'array' } },
    required: ['messages'],
    title: 'MessagesState',
    type: 'object',
  }
}

const MESSAGE = { oneOf: MESSAGE_NAMES.map((name) => ({ $ref: `#/$defs/${name}` })) }

function stateSchema(graph: Graph): Json {
  const title = `${graph.id}_state`
  if (!graph.channels.includes('messages')) return textFields(graph.channels, title)
  const messages = { default: null, items: MESSAGE, title: 'Messages', type: 'array' }
  return { $defs: MESSAGE_DEFINITIONS, properties: { messages }, title, type: 'object' }
}

function textFields(fields: readonly string[], title: string): Json {
  const properties = Object.fromEntries(
    fields.map((field) => [field, { title: titleOf(field), type: 'string' }]),
  )
  return { properties, title, type: 'object' }
}
