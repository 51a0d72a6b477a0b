import {
  type Assistant,
  createAssistant,
  deleteAssistant,
  getAssistant,
  searchAssistants,
  systemAssistants,
} from '../clients/agent-server/assistants.ts'
import { HttpError } from '../http/errors.ts'
import type { AssistantChoice } from './checks.ts'
import { plainNames } from './explain.ts'
import { agentServer } from './server.ts'
import type { CheckContext, Outcome } from './types.ts'

/** An assistant, or why there is none. */
export type Found = { readonly assistant: Assistant } | { readonly failed: Outcome }

/**
 * Finds the assistant of a check, or creates it, to be deleted after the check. A graph's name means its system
 * assistant.
 * @throws what the client throws; `explain` makes an outcome of it
 */
export async function findAssistant(choice: AssistantChoice, context: CheckContext): Promise<Found> {
  if (choice.kind === 'id') return findById(choice.id, context)
  if (choice.kind === 'new') return create(choice.graph, choice.fields, context)
  const server = agentServer(context)
  const all = await searchAssistants(server, { deadline: context.deadline })
  const system = systemAssistants(all)
  return choice.kind === 'graph' ? ofGraph(choice.graph, system) : theDefault(system)
}

/**
 * What a run sends as `assistant_id`: a graph's name as it is, since the server takes names there; else the id
 * of the assistant that was found.
 */
export async function assistantForRun(
  choice: AssistantChoice,
  context: CheckContext,
): Promise<{ readonly id: string } | { readonly failed: Outcome }> {
  if (choice.kind === 'graph') return { id: choice.graph }
  const found = await findAssistant(choice, context)
  return 'failed' in found ? found : { id: found.assistant.id }
}

/**
 * Why a run was refused or failed, when the reason is its graph. The server's words for it differ by version;
 * its list of system assistants does not. (Any assistant can name a graph that is not there: the JavaScript
 * server accepts it, and the run fails.)
 * @returns undefined when the graph is there, so that something else was wrong
 */
export async function unknownGraph(
  choice: AssistantChoice,
  context: CheckContext,
): Promise<Outcome | undefined> {
  if (choice.kind !== 'graph' && choice.kind !== 'new') return undefined
  const graphs = await graphsOfServer(context)
  return graphs.includes(choice.graph) ? undefined : noSuchGraph(choice.graph, graphs)
}

async function graphsOfServer(context: CheckContext): Promise<string[]> {
  const all = await searchAssistants(agentServer(context), { deadline: context.deadline })
  return systemAssistants(all).map(({ graphId }) => graphId)
}

/** The default assistant: of the only graph, else of the graph `agent`. */
export function theDefault(system: readonly Assistant[]): Found {
  const chosen = system.length === 1 ? system[0] : system.find(({ graphId }) => graphId === 'agent')
  if (chosen !== undefined) return { assistant: chosen }
  if (system.length === 0) {
    return {
      failed: {
        reason: 'The server has no default assistant: none of its assistants was created by the system',
        hint: 'Look at `graphs` in langgraph.json, and at the server’s log. A default assistant that was deleted comes back when the server restarts; else name an assistant in the check.',
      },
    }
  }
  return {
    failed: {
      reason: `The server has several graphs and none is called agent: ${graphsOf(system)}`,
      hint: 'Name one of them in the check, as `assistant`.',
    },
  }
}

function ofGraph(graph: string, system: readonly Assistant[]): Found {
  const chosen = system.find(({ graphId }) => graphId === graph)
  return chosen === undefined
    ? {
        failed: noSuchGraph(
          graph,
          system.map(({ graphId }) => graphId),
        ),
      }
    : { assistant: chosen }
}

function noSuchGraph(graph: string, known: readonly string[]): Outcome {
  return {
    reason: `The server has no graph or assistant "${graph}"; its graphs: ${plainNames(known)}`,
    hint: 'Name one of these in the check, as `assistant`; a graph’s name is its key under `graphs` in langgraph.json.',
  }
}

async function findById(id: string, context: CheckContext): Promise<Found> {
  try {
    return { assistant: await getAssistant(agentServer(context), id, { deadline: context.deadline }) }
  } catch (error) {
    if (!(error instanceof HttpError) || error.status !== 404) throw error
    return {
      failed: {
        reason: `The server has no assistant with the id ${id}`,
        hint: 'Look at `assistant` in the check: an assistant belongs to one deployment, and is gone when it was deleted. A graph’s name works in every deployment of it.',
      },
    }
  }
}

async function create(
  graph: string,
  fields: Readonly<Record<string, unknown>>,
  context: CheckContext,
): Promise<Found> {
  const server = agentServer(context)
  const options = { deadline: context.deadline }
  let made: Assistant
  try {
    made = await createAssistant(server, fields, options)
  } catch (error) {
    // The Python server refuses an unknown graph here; the JavaScript server lets the run fail.
    if (!(error instanceof HttpError) || error.status !== 404) throw error
    return { failed: noSuchGraph(graph, await graphsOfServer(context)) }
  }
  context.afterwards(`the assistant ${made.id}`, (deadline) => deleteAssistant(server, made.id, { deadline }))
  const read = await getAssistant(server, made.id, options)
  if (read.id === made.id && read.graphId === graph) return { assistant: read }
  return {
    failed: {
      reason: `The assistant ${made.id} was created for the graph "${graph}" and is read back as something else`,
      hint: 'The server does not keep what it accepts: look at its log and its database.',
    },
  }
}

function graphsOf(assistants: readonly Assistant[]): string {
  return plainNames(assistants.map(({ graphId }) => graphId))
}
