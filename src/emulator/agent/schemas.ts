import type { Schema } from './schema.ts'

/** The request bodies of the agent server (its `/openapi.json`; texts checked against the recorded 422 answers). */

const object: Schema = { type: 'object' }
const text: Schema = { type: 'string' }
const flag: Schema = { type: 'boolean' }
const texts: Schema = { type: 'array', items: text }
const optionalText: Schema = { anyOf: [text, { type: 'null' }] }

const config: Schema = {
  type: 'object',
  properties: { tags: texts, recursion_limit: { type: 'integer' }, configurable: object },
}
const ifExists: Schema = { type: 'string', enum: ['raise', 'do_nothing'] }
const limit: Schema = { type: 'integer', minimum: 1, maximum: 1000 }
const offset: Schema = { type: 'integer', minimum: 0 }
const order: Schema = { type: 'string', enum: ['asc', 'desc'] }

const ASSISTANT_KEYS = [
  'assistant_id',
  'graph_id',
  'name',
  'description',
  'config',
  'context',
  'created_at',
  'updated_at',
  'metadata',
  'version',
]

export const assistantCreate: Schema = {
  type: 'object',
  required: ['graph_id'],
  properties: {
    assistant_id: text,
    graph_id: text,
    config,
    context: object,
    metadata: object,
    if_exists: ifExists,
    name: text,
    description: optionalText,
  },
}

export const assistantPatch: Schema = {
  type: 'object',
  properties: {
    graph_id: text,
    config,
    context: object,
    metadata: object,
    name: text,
    description: optionalText,
  },
}

export const assistantSearch: Schema = {
  type: 'object',
  properties: {
    metadata: object,
    graph_id: text,
    name: text,
    limit,
    offset,
    sort_by: { type: 'string', enum: ['assistant_id', 'created_at', 'updated_at', 'name', 'graph_id'] },
    sort_order: order,
    select: { type: 'array', items: { type: 'string', enum: ASSISTANT_KEYS } },
  },
}

export const assistantVersions: Schema = { type: 'object', properties: { metadata: object, limit, offset } }

export const assistantLatest: Schema = {
  type: 'object',
  required: ['version'],
  properties: { version: { type: 'integer' } },
}

export const threadCreate: Schema = {
  type: 'object',
  properties: {
    thread_id: text,
    metadata: object,
    if_exists: ifExists,
    ttl: object,
    supersteps: { type: 'array', items: object },
  },
}

export const threadPatch: Schema = { type: 'object', properties: { metadata: object, ttl: object } }

export const threadSearch: Schema = {
  type: 'object',
  properties: {
    ids: texts,
    metadata: object,
    values: object,
    status: { type: 'string', enum: ['idle', 'busy', 'interrupted', 'error'] },
    limit,
    offset,
    sort_by: {
      type: 'string',
      enum: ['thread_id', 'status', 'created_at', 'updated_at', 'state_updated_at'],
    },
    sort_order: order,
    select: texts,
  },
}

export const threadState: Schema = {
  type: 'object',
  properties: {
    values: { anyOf: [object, { type: 'array' }, { type: 'null' }] },
    checkpoint: object,
    as_node: text,
  },
}

export const threadCheckpoint: Schema = {
  type: 'object',
  required: ['checkpoint'],
  properties: { checkpoint: object, subgraphs: flag },
}

export const threadHistory: Schema = {
  type: 'object',
  properties: { limit, before: { anyOf: [object, text] }, metadata: object, checkpoint: object },
}

const STREAM_MODES = [
  'values',
  'messages',
  'messages-tuple',
  'tasks',
  'checkpoints',
  'updates',
  'events',
  'debug',
  'custom',
]

const onDisconnect: Schema = { type: 'string', enum: ['cancel', 'continue'] }

const nodes: Schema = { anyOf: [{ type: 'string', enum: ['*'] }, texts] }

function runCreate(modes: readonly string[], extra: Readonly<Record<string, Schema>>): Schema {
  const mode: Schema = { type: 'string', enum: modes }
  return {
    type: 'object',
    required: ['assistant_id'],
    properties: {
      assistant_id: { anyOf: [text] },
      checkpoint: object,
      checkpoint_id: text,
      command: { anyOf: [object, { type: 'null' }] },
      metadata: object,
      config,
      context: object,
      webhook: text,
      interrupt_before: nodes,
      interrupt_after: nodes,
      stream_mode: { anyOf: [{ type: 'array', items: mode }, mode] },
      stream_subgraphs: flag,
      stream_resumable: flag,
      feedback_keys: texts,
      after_seconds: { type: 'number' },
      durability: { type: 'string', enum: ['sync', 'async', 'exit'] },
      ...extra,
    },
  }
}

const stateful: Readonly<Record<string, Schema>> = {
  multitask_strategy: { type: 'string', enum: ['reject', 'rollback', 'interrupt', 'enqueue'] },
  if_not_exists: { type: 'string', enum: ['create', 'reject'] },
}
const stateless: Readonly<Record<string, Schema>> = {
  on_completion: { type: 'string', enum: ['delete', 'keep'] },
  if_not_exists: { type: 'string', enum: ['create', 'reject'] },
}

/** Bodies of runs. `tools` is a mode of the JavaScript server alone. */
export function runSchemas(profile: 'python' | 'js'): {
  RunCreateStateful: Schema
  RunCreateStateless: Schema
} {
  const modes = profile === 'js' ? [...STREAM_MODES, 'tools'] : STREAM_MODES
  return { RunCreateStateful: runCreate(modes, stateful), RunCreateStateless: runCreate(modes, stateless) }
}

/** The second half of the streaming and waiting bodies; the server names it `schema["allOf"][1]`. */
export const disconnect: Schema = { properties: { on_disconnect: onDisconnect } }

export const runsCancel: Schema = {
  type: 'object',
  properties: {
    status: { type: 'string', enum: ['pending', 'running', 'all'] },
    thread_id: text,
    run_ids: texts,
  },
}
