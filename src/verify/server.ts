import type { AgentServer } from '../clients/agent-server/api.ts'
import type { CheckContext, VerifyTarget, VerifyTools } from './types.ts'

/** The agent server that is verified, for the clients. */
export function agentServer(context: Pick<CheckContext, 'target' | 'tools'>): AgentServer {
  return serverOf(context.target, context.tools)
}

export function serverOf(target: VerifyTarget, tools: VerifyTools): AgentServer {
  return { transport: tools.transport, url: target.url, headers: target.headers }
}

/** The same check with another end: a step that has a `within-seconds` of its own. */
export function withTimeout(context: CheckContext, withinMs: number | undefined): CheckContext {
  if (withinMs === undefined) return context
  return { ...context, deadline: context.tools.clock.now() + withinMs, timeoutMs: withinMs }
}
