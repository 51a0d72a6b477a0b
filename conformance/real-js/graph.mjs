/** Graphs without a model, for a real server: those of `recorded/README.md` that its JavaScript libraries can have. */
import { AIMessage, AIMessageChunk } from '@langchain/core/messages'
import { FakeStreamingChatModel } from '@langchain/core/utils/testing'
import { Annotation, END, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'

const says = (content) => ({ messages: [new AIMessage({ content })] })

function prefixed(config, text) {
  const prefix = config.configurable?.prefix
  return says(prefix ? `${prefix}: ${text}` : text)
}

function echo(state, config) {
  const humans = state.messages.filter((message) => message.getType() === 'human')
  const last = humans.at(-1)?.text ?? '(none)'
  if (last.startsWith('custom')) {
    config.writer?.({ progress: 1 })
    config.writer?.('plain string')
  }
  return prefixed(config, `echo: ${last} (seen ${humans.length})`)
}

function fail() {
  throw new TypeError('deliberate failure in node')
}

async function slow() {
  for (let step = 0; step < 80; step++) await new Promise((resolve) => setTimeout(resolve, 250))
  return says('slow done')
}

async function stream(state, config) {
  const chunks = ['alpha', ' beta', ' gamma'].map((content) => new AIMessageChunk({ content }))
  const model = new FakeStreamingChatModel({ chunks, sleep: 1 })
  return { messages: [await model.invoke(state.messages, config)] }
}

const chain = (nodes, state = MessagesAnnotation) => {
  const graph = new StateGraph(state)
  const names = Object.keys(nodes)
  for (const [name, run] of Object.entries(nodes)) graph.addNode(name, run)
  for (const [index, name] of [START, ...names].entries()) graph.addEdge(name, names[index] ?? END)
  return graph.compile()
}

const Question = Annotation.Root({ question: Annotation, answer: Annotation })

export const agent = chain({ agent: echo })
export const counter = chain({
  counter: (state, config) => prefixed(config, `count=${state.messages.length}`),
})
export const failing = chain({ failing: fail })
export const slowly = chain({ slow })
export const interrupting = chain({
  interrupting: () => says(`resumed with ${JSON.stringify(interrupt({ question: 'approve?' }))}`),
})
export const nomessages = chain({ nomessages: (state) => ({ answer: `re: ${state.question}` }) }, Question)
export const two = chain({ first: () => says('step one'), second: () => says('step two') })
export const nullnode = chain({ nullnode: () => ({}) })
export const tokens = chain({ tokens: stream })
export const blocks = chain({ blocks: () => says([{ type: 'text', text: 'block answer' }]) })
