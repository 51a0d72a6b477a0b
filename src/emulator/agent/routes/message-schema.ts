/**
 * The definitions behind a `messages` channel in `GET /assistants/{id}/schemas`: the same types, fields and order
 * as recorded (2-schemas of 0.5.23). Only the descriptions are our own.
 */

type Json = Record<string, unknown>

const text: Json = { type: 'string' }
const maybeText: Json = { anyOf: [text, { type: 'null' }] }
const integer: Json = { type: 'integer' }

function title(name: string): string {
  return name
    .split('_')
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join(' ')
}

/** A mapping from field names to schemas, each with its title behind its type's own keys. */
function fields(entries: Record<string, Json>): Json {
  const titled = Object.entries(entries).map(([name, schema]) => {
    if ('$ref' in schema || 'untitled' in schema) {
      const { untitled: _untitled, ...rest } = schema
      return [name, rest]
    }
    const { type, ...rest } = schema
    return [name, { ...rest, title: title(name), ...(type === undefined ? {} : { type }) }]
  })
  return Object.fromEntries(titled)
}

function definition(
  name: string,
  description: string,
  entries: Record<string, Json>,
  required?: string[],
): Json {
  return {
    additionalProperties: true,
    description,
    properties: fields(entries),
    ...(required === undefined ? {} : { required }),
    title: name,
    type: 'object',
  }
}

const openObject: Json = { additionalProperties: true, type: 'object' }
const content: Json = { anyOf: [text, { items: { anyOf: [text, openObject] }, type: 'array' }] }
const optionalText: Json = { ...maybeText, default: null }
const listOf = (name: string): Json => ({ items: { $ref: `#/$defs/${name}` }, type: 'array' })

function base(type: string, name: Json = optionalText): Record<string, Json> {
  return {
    content,
    additional_kwargs: openObject,
    response_metadata: openObject,
    type: { const: type, default: type, type: 'string' },
    name,
    id: optionalText,
  }
}

const aiExtra: Record<string, Json> = {
  tool_calls: listOf('ToolCall'),
  invalid_tool_calls: listOf('InvalidToolCall'),
  usage_metadata: {
    anyOf: [{ $ref: '#/$defs/UsageMetadata' }, { type: 'null' }],
    default: null,
    untitled: true,
  },
}
const aiChunkExtra: Record<string, Json> = {
  ...aiExtra,
  tool_call_chunks: listOf('ToolCallChunk'),
  chunk_position: { anyOf: [{ const: 'last', type: 'string' }, { type: 'null' }], default: null },
}
const toolExtra: Record<string, Json> = {
  tool_call_id: text,
  artifact: { default: null },
  status: { default: 'success', enum: ['success', 'error'], type: 'string' },
}

const call = { name: maybeText, args: maybeText, id: maybeText }

/** In the recorded order of the types. */
export const MESSAGE_DEFINITIONS: Json = Object.fromEntries(
  [
    definition('AIMessage', 'An answer of a model.', { ...base('ai'), ...aiExtra }, ['content']),
    definition(
      'AIMessageChunk',
      'A piece of an answer of a model.',
      { ...base('AIMessageChunk'), ...aiChunkExtra },
      ['content'],
    ),
    definition('ChatMessage', 'A message in any role.', { ...base('chat'), role: text }, ['content', 'role']),
    definition(
      'ChatMessageChunk',
      'A piece of a message in any role.',
      { ...base('ChatMessageChunk'), role: text },
      ['content', 'role'],
    ),
    definition('FunctionMessage', 'What a function returned.', base('function', text), ['content', 'name']),
    definition(
      'FunctionMessageChunk',
      'A piece of what a function returned.',
      base('FunctionMessageChunk', text),
      ['content', 'name'],
    ),
    definition('HumanMessage', 'A message of a person.', base('human'), ['content']),
    definition('HumanMessageChunk', 'A piece of a message of a person.', base('HumanMessageChunk'), [
      'content',
    ]),
    definition('InputTokenDetails', 'Kinds of tokens that went in.', {
      audio: integer,
      cache_creation: integer,
      cache_read: integer,
    }),
    definition(
      'InvalidToolCall',
      'A tool call that could not be read.',
      {
        type: { const: 'invalid_tool_call', type: 'string' },
        id: maybeText,
        name: maybeText,
        args: maybeText,
        error: maybeText,
        index: { anyOf: [integer, text] },
        extras: openObject,
      },
      ['type', 'id', 'name', 'args', 'error'],
    ),
    definition('OutputTokenDetails', 'Kinds of tokens that came out.', {
      audio: integer,
      reasoning: integer,
    }),
    definition('SystemMessage', 'An instruction to the model.', base('system'), ['content']),
    definition('SystemMessageChunk', 'A piece of an instruction.', base('SystemMessageChunk'), ['content']),
    definition(
      'ToolCall',
      'A call of a tool that the model asks for.',
      { name: text, args: openObject, id: maybeText, type: { const: 'tool_call', type: 'string' } },
      ['name', 'args', 'id'],
    ),
    definition(
      'ToolCallChunk',
      'A piece of a call of a tool.',
      {
        ...call,
        index: { anyOf: [integer, { type: 'null' }] },
        type: { const: 'tool_call_chunk', type: 'string' },
      },
      ['name', 'args', 'id', 'index'],
    ),
    definition('ToolMessage', 'What a tool returned.', { ...base('tool'), ...toolExtra }, [
      'content',
      'tool_call_id',
    ]),
    definition(
      'ToolMessageChunk',
      'A piece of what a tool returned.',
      { ...base('ToolMessageChunk'), ...toolExtra },
      ['content', 'tool_call_id'],
    ),
    definition(
      'UsageMetadata',
      'How many tokens an answer took.',
      {
        input_tokens: integer,
        output_tokens: integer,
        total_tokens: integer,
        input_token_details: { $ref: '#/$defs/InputTokenDetails' },
        output_token_details: { $ref: '#/$defs/OutputTokenDetails' },
      },
      ['input_tokens', 'output_tokens', 'total_tokens'],
    ),
  ].map((schema) => [schema['title'], schema]),
)

/** The types that a message may have, in the recorded order. */
export const MESSAGE_NAMES: readonly string[] = [
  'AIMessage',
  'HumanMessage',
  'ChatMessage',
  'SystemMessage',
  'FunctionMessage',
  'ToolMessage',
  'AIMessageChunk',
  'HumanMessageChunk',
  'ChatMessageChunk',
  'SystemMessageChunk',
  'FunctionMessageChunk',
  'ToolMessageChunk',
]
