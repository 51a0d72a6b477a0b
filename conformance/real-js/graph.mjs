/** A small graph without a model: `agent` of `recorded/README.md`, for a real server. */
import { AIMessage } from '@langchain/core/messages'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'

function echo(state, config) {
  const humans = state.messages.filter((message) => message.getType() === 'human')
  const last = humans.at(-1)?.text ?? '(none)'
  const prefix = config.configurable?.prefix
  const text = `echo: ${last} (seen ${humans.length})`
  return { messages: [new AIMessage(prefix ? `${prefix}: ${text}` : text)] }
}

function fail() {
  throw new TypeError('deliberate failure in node')
}

const oneNode = (name, run) =>
  new StateGraph(MessagesAnnotation).addNode(name, run).addEdge(START, name).addEdge(name, END).compile()

export const agent = oneNode('agent', echo)
export const failing = oneNode('failing', fail)
