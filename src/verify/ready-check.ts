import { getAssistant, searchAssistants, systemAssistants } from '../clients/agent-server/assistants.ts'
import { theDefault } from './assistant.ts'
import { explain } from './explain.ts'
import { makeThread } from './run-step.ts'
import { agentServer } from './server.ts'
import type { CheckContext, Outcome } from './types.ts'

/**
 * `ready`, after reachability: there is a default assistant, known by its id and its metadata (its config may be
 * empty, as any other's), it can be read, and a thread can be made. Of several graphs none needs to be `agent`
 * here, since nothing is run.
 * @throws only the cancel
 */
export async function checkReady(context: CheckContext): Promise<Outcome> {
  const server = agentServer(context)
  const options = { deadline: context.deadline }
  let doing = 'looking for the default assistant'
  try {
    const system = systemAssistants(await searchAssistants(server, options))
    const found = theDefault(system.length > 1 && !hasAgent(system) ? system.slice(0, 1) : system)
    if ('failed' in found) return found.failed
    doing = 'reading the default assistant'
    const { assistant } = found
    const read = await getAssistant(server, assistant.id, options)
    if (read.id !== assistant.id || read.metadata['created_by'] !== 'system') {
      return {
        reason: `The default assistant ${assistant.id} is found, and read by its id it is another one`,
        hint: 'Several servers seem to answer under this URL: look at what routes to them.',
      }
    }
    doing = 'making a thread'
    await makeThread(context)
    return { reason: '', said: `default assistant of the graph ${assistant.graphId}` }
  } catch (error) {
    return explain(error, context, doing)
  }
}

function hasAgent(system: readonly { readonly graphId: string }[]): boolean {
  return system.some(({ graphId }) => graphId === 'agent')
}
