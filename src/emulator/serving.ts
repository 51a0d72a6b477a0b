/** The agent servers behind `/d/<deployment id>`: one per deployment, made when it is first asked. */
import type { AgentServer, AgentServerOptions } from './agent/types.ts'
import { refusal } from './auth.ts'
import type { Deployment, Revision, Served } from './control-plane/model.ts'
import { statusOf } from './control-plane/walk.ts'
import type { EmulatorState } from './state.ts'

const PREFIX = /^\/d\/([^/]+)(\/.*)?$/

type Mint = (runId: string, keys: readonly string[]) => Record<string, string>

/** Which deployment a path is for, and the path as its agent server sees it. */
export function agentPath(pathname: string): { deploymentId: string; path: string } | undefined {
  const found = PREFIX.exec(pathname)
  return found?.[1] === undefined ? undefined : { deploymentId: found[1], path: found[2] ?? '/' }
}

interface Running {
  served: Served
  server: AgentServer
}

export class AgentServers {
  readonly #state: EmulatorState
  readonly #create: (options: AgentServerOptions) => AgentServer
  readonly #mint: Mint
  readonly #servers = new Map<string, Running>()

  constructor(state: EmulatorState, create: (options: AgentServerOptions) => AgentServer, mint: Mint) {
    this.#state = state
    this.#create = create
    this.#mint = mint
  }

  /** What the platform's gateway answers while nothing serves; else the agent server of the deployment. */
  find(deploymentId: string): AgentServer | Response {
    const deployment = this.#state.deployment(deploymentId)
    if (!deployment || deployment.deletedAt !== null)
      return new Response('default backend - 404', { status: 404 })
    const active = this.#state.activeRevision(deployment)
    if (active) return this.#serverOf(deployment, active)
    const latest = deployment.revisions.at(-1)
    const starting = latest !== undefined && statusOf(latest) === 'DEPLOYING'
    return starting
      ? new Response('Bad Gateway', { status: 502 })
      : new Response('default backend - 404', { status: 404 })
  }

  /** Ends the runs and streams of a deployment that is gone, and drops what its agent server held. */
  drop(deploymentId: string): void {
    this.#servers.get(deploymentId)?.server.close()
    this.#servers.delete(deploymentId)
  }

  close(): void {
    for (const { server } of this.#servers.values()) server.close()
    this.#servers.clear()
  }

  /** The same server for every revision; where the graphs changed, another one on the same database. */
  #serverOf(deployment: Deployment, active: Revision): AgentServer {
    const known = this.#servers.get(deployment.id)
    if (known && JSON.stringify(known.served) === JSON.stringify(active.served)) return known.server
    const options = this.#optionsFor(deployment, active.served)
    const server = known ? known.server.next(options) : this.#create(options)
    this.#servers.set(deployment.id, { served: active.served, server })
    return server
  }

  #optionsFor(deployment: Deployment, served: Served): AgentServerOptions {
    const { settings, baseUrl } = this.#state
    return {
      url: `${baseUrl}/d/${deployment.id}`,
      profile: settings.profile,
      agentVersion: settings.agentVersion,
      a2a: settings.a2a,
      disableA2a: settings.disableA2a || served.disableA2a,
      terminalTasks: settings.terminalTasks,
      ...(served.graphs ? { graphs: served.graphs } : {}),
      ...(settings.feedback ? { mintFeedback: this.#mint } : {}),
      authenticate: (headers) => refusal(headers, settings),
      host: () => ({
        projectId: deployment.id,
        hostRevisionId: deployment.activeRevisionId,
        revisionId: deployment.activeRevisionId,
        tenantId: settings.workspaceId,
      }),
    }
  }
}
