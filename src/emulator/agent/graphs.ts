import { RunError } from './errors.ts'
import type { Message, MessageDialect } from './messages.ts'
import { makeMessage, messageText } from './messages.ts'
import { pythonRepr, pythonStr } from './python.ts'

/** The channels of a thread's state, shared by all graphs that run on it. */
export type State = Readonly<Record<string, unknown>>

/** What a node may use while it runs. */
export interface NodeContext {
  dialect: MessageDialect
  /** `config.configurable` after the merge of assistant, thread and run. */
  configurable: Record<string, unknown>
  /** The run's context: the assistant's, then the run's own over it. */
  context: Record<string, unknown>
  newId(): string
  /** Writes a `custom` event. */
  custom(data: unknown): void
  /** Streams one piece of a message whose id is `id`; `last` marks the end of that message. */
  token(id: string, text: string, last: boolean): void
  /** Waits real milliseconds; throws when the run is cancelled. */
  sleep(milliseconds: number): Promise<void>
  /** Stops the run to ask `value`; gives the answer when the run was resumed with one. */
  interrupt(value: unknown): unknown
}

/** What a node writes into the state; null is a node that returns nothing. */
export type Update = Record<string, unknown> | null

export interface GraphNode {
  name: string
  run(state: State, context: NodeContext): Promise<Update> | Update
}

/** A graph is a chain of nodes; none of the built-in ones branches. */
export interface Graph {
  id: string
  /** The channels that are its state, and so its output. */
  channels: readonly string[]
  nodes: readonly [GraphNode, ...GraphNode[]]
  /** Fields of its context schema; left out: it has none. */
  contextFields?: readonly string[]
  /** Fields of its input schema, where the channels of the state are not it. */
  inputFields?: readonly string[]
}

const SLOW_STEPS = 80
const SLOW_STEP_MS = 250

function messagesOf(state: State): Message[] {
  return (state['messages'] as Message[] | undefined) ?? []
}

function answer(context: NodeContext, content: unknown, id: string = context.newId()): Update {
  return { messages: [makeMessage(context.dialect, { type: 'ai', content, id })] }
}

/** Puts `<prefix>: ` before a text when the configuration has a prefix. */
function prefixed(context: NodeContext, text: string): string {
  const prefix = context.configurable['prefix']
  return prefix === undefined || prefix === null || prefix === '' ? text : `${String(prefix)}: ${text}`
}

function echo(state: State, context: NodeContext): Update {
  const humans = messagesOf(state).filter((message) => message.type === 'human')
  const last = humans.at(-1)
  const text = last === undefined ? '(none)' : messageText(last)
  if (text.startsWith('custom')) {
    context.custom({ progress: 1 })
    context.custom('plain string')
  }
  return answer(context, prefixed(context, `echo: ${text} (seen ${humans.length})`))
}

async function slow(_state: State, context: NodeContext): Promise<Update> {
  for (let step = 0; step < SLOW_STEPS; step += 1) await context.sleep(SLOW_STEP_MS)
  return answer(context, 'slow done')
}

function tokens(_state: State, context: NodeContext): Update {
  const words = ['alpha', ' ', 'beta', ' ', 'gamma']
  const id = `lc_run--${context.newId()}`
  for (const [index, word] of words.entries()) context.token(id, word, index === words.length - 1)
  return answer(context, words.join(''), id)
}

type NodeRun = GraphNode['run']

function messageGraph(id: string, run: NodeRun): Graph {
  return { id, channels: ['messages'], nodes: [{ name: id, run }] }
}

function agentGraph(id: string): Graph {
  return messageGraph(id, echo)
}

const BUILT_IN: readonly Graph[] = [
  agentGraph('agent'),
  messageGraph('counter', (state, context) =>
    answer(context, prefixed(context, `count=${messagesOf(state).length}`)),
  ),
  messageGraph('failing', () => {
    throw new RunError('ValueError', 'deliberate failure in node')
  }),
  messageGraph('slow', slow),
  messageGraph('interrupting', (_state, context) => {
    const value = context.interrupt({ question: 'approve?' })
    return answer(context, `resumed with ${pythonRepr(value)}`)
  }),
  {
    id: 'nomessages',
    channels: ['question', 'answer'],
    nodes: [{ name: 'nomessages', run: (state) => ({ answer: `re: ${pythonStr(state['question'])}` }) }],
  },
  {
    ...messageGraph('ctxecho', (_state, context) => answer(context, `ctx=${pythonRepr(context.context)}`)),
    contextFields: ['prefix'],
  },
  {
    id: 'two',
    channels: ['messages'],
    nodes: [
      { name: 'first', run: (_state, context) => answer(context, 'step one') },
      { name: 'second', run: (_state, context) => answer(context, 'step two') },
    ],
  },
  messageGraph('nullnode', () => null),
  messageGraph('tokens', tokens),
  messageGraph('blocks', (_state, context) => answer(context, [{ type: 'text', text: 'block answer' }])),
]

/** The eleven built-in graphs, or, when names are given, a graph like `agent` under each of them. */
export function loadGraphs(names?: readonly string[]): ReadonlyMap<string, Graph> {
  const graphs = names === undefined ? BUILT_IN : names.map(agentGraph)
  return new Map(graphs.map((graph) => [graph.id, graph]))
}
