import { a2aRoutes } from './a2a/index.ts'
import { Engine } from './engine.ts'
import { loadGraphs } from './graphs.ts'
import { profileOf } from './profile.ts'
import { Router } from './router.ts'
import { assistantRoutes } from './routes/assistants.ts'
import { metaRoutes } from './routes/meta.ts'
import { runRoutes } from './routes/runs.ts'
import { threadRoutes } from './routes/threads.ts'
import { OpenStreams } from './sse.ts'
import type { AgentServer, AgentServerOptions } from './types.ts'

/** Time and randomness, passed in so that a test can hold them still. */
export interface AgentServerDeps {
  /** Milliseconds since 1970. */
  now?: () => number
  random?: (size: number) => Uint8Array
}

/** Makes one agent server: its own assistants, threads and runs, reachable through `fetch`. */
export function createAgentServer(options: AgentServerOptions, deps: AgentServerDeps = {}): AgentServer {
  return serverOn(options, deps)
}

function serverOn(options: AgentServerOptions, deps: AgentServerDeps, before?: Engine): AgentServer {
  const profile = profileOf(options.profile)
  const engineOptions = {
    profile: options.profile,
    agentVersion: options.agentVersion,
    url: options.url,
    graphs: loadGraphs(options.graphs),
    now: deps.now ?? Date.now,
    ...(deps.random === undefined ? {} : { random: deps.random }),
    ...(options.mintFeedback === undefined ? {} : { mintFeedback: options.mintFeedback }),
  }
  const engine = new Engine(engineOptions, before)
  const open = new OpenStreams()
  const router = new Router(profile, options)
  metaRoutes(router, options, () => router.paths())
  assistantRoutes(router, engine)
  threadRoutes(router, engine, profile, open)
  runRoutes(router, engine, profile, open)
  a2aRoutes(router, { engine, options, profile, open })
  const close = (): void => {
    engine.close()
    open.closeAll()
  }
  return {
    fetch: (request) => router.app.fetch(request),
    close,
    next(changed) {
      close()
      return serverOn(changed, deps, engine)
    },
  }
}
