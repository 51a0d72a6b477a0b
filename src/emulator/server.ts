/** The whole service on one port (design, section 5): control plane, storage, sandboxes, feedback, agent servers. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mountAdmin } from './admin/index.ts'
import { createAgentServer } from './agent/index.ts'
import { refuse } from './auth.ts'
import { createClock } from './clock.ts'
import { mountControlPlane } from './control-plane/index.ts'
import { newApp } from './control-plane/router.ts'
import { bomb, deliver, instead, reset } from './faults/apply.ts'
import type { Effect } from './faults/index.ts'
import { FeedbackStore } from './feedback/index.ts'
import { newId } from './ids.ts'
import { type EmulatorOptions, settle } from './options.ts'
import { SandboxStore } from './sandboxes/index.ts'
import { AgentServers, agentPath } from './serving.ts'
import { EmulatorState, type RecordedRequest } from './state.ts'
import { STORAGE_PREFIX } from './storage/index.ts'
import { BODY_LIMIT, readBytes, send, toRequest } from './wire/bridge.ts'
import { Problem } from './wire/problem.ts'

export type { EmulatorOptions } from './options.ts'

/** A running emulator. URLs have no last slash. */
export interface Emulator {
  controlPlaneUrl: string
  apiKey: string
  workspaceId: string
  sandboxUrl: string
  port: number
  /** Ends every run, stream and connection; resolves when the port is free. */
  close(): Promise<void>
}

type FetchHandler = (request: Request) => Response | Promise<Response>

const ADMIN = /^\/_emulator(\/|$)/
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const KEPT_BODY = 256 * 1024

function parsedBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return null
  const text = bytes.subarray(0, KEPT_BODY).toString('utf8')
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Path and query. A proxy's client names the whole URL (RFC 9112, section 3.2.2), `OPTIONS *` nothing. */
function targetOf({ url = '/' }: IncomingMessage): string {
  if (url.startsWith('/')) return url
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return '/'
  const { pathname, search } = new URL(url)
  return pathname + search
}

class Service {
  readonly state: EmulatorState
  readonly #agents: AgentServers
  readonly #admin: FetchHandler
  readonly #app: FetchHandler

  constructor(state: EmulatorState) {
    this.state = state
    const { clock, settings } = state
    const feedback = new FeedbackStore({ now: () => new Date(clock.now()) })
    const sandboxes = new SandboxStore({ clock, newId, authenticate: (headers) => refuse(headers, settings) })
    this.#agents = new AgentServers(state, createAgentServer, (runId, keys) =>
      feedback.mint(state.baseUrl, runId, keys),
    )
    state.onGone = (deploymentId) => this.#agents.drop(deploymentId)
    const app = newApp()
    mountControlPlane(app, state)
    sandboxes.routes(app)
    feedback.routes(app)
    const admin = newApp()
    mountAdmin(admin, state, {
      feedback: () => feedback.entries(),
      sandboxes: () => sandboxes.entries(state.baseUrl),
      makeSandbox: ({ name, template_name: template, statuses, status_message: message }) =>
        sandboxes.script({
          name,
          statuses: statuses ?? [['ready', null]],
          ...(template === undefined ? {} : { template_name: template }),
          ...(typeof message === 'string' ? { status_message: message } : {}),
        }),
    })
    this.#app = (request) => app.fetch(request)
    this.#admin = (request) => admin.fetch(request)
  }

  close(): void {
    this.#agents.close()
    this.state.uploads.clear()
  }

  async handle(request: IncomingMessage, out: ServerResponse): Promise<void> {
    const url = new URL(`${this.state.baseUrl}${targetOf(request)}`)
    const gone = new AbortController()
    out.once('close', () => gone.abort())
    if (ADMIN.test(url.pathname)) {
      return send(
        await this.#fetch(this.#admin, request, url.href, gone.signal),
        out,
        request.method === 'HEAD',
      )
    }
    const effect = this.state.faults.take(request.method ?? 'GET', url.pathname)
    const record = this.#record(request, url)
    out.once('finish', () => {
      record.status = out.statusCode
    })
    if (effect && 'reset' in effect && effect.reset === 'before') return reset(request)
    const response = await this.#respond(request, url, effect, record, gone.signal)
    return response === undefined ? this.#bomb(effect, out) : deliver(effect, response, request, out)
  }

  #bomb(effect: Effect | undefined, out: ServerResponse): Promise<void> {
    return bomb(effect && 'bomb' in effect ? effect.bomb : 'plain', out)
  }

  #record(request: IncomingMessage, url: URL): RecordedRequest {
    const record: RecordedRequest = {
      time: new Date(this.state.clock.now()).toISOString(),
      method: request.method ?? 'GET',
      path: url.pathname,
      query: url.search,
      headers: Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, [value].flat().join(', ')]),
      ),
      body: null,
      status: null,
    }
    this.state.record(record)
    return record
  }

  /** The answer, from a fault or from the service; undefined: the fault is a bomb. */
  async #respond(
    request: IncomingMessage,
    url: URL,
    effect: Effect | undefined,
    record: RecordedRequest,
    signal: AbortSignal,
  ): Promise<Response | undefined> {
    const stored = url.pathname.startsWith(STORAGE_PREFIX)
    const scripted = effect && instead(effect)
    if (stored && !scripted && !(effect && 'bomb' in effect)) return this.state.uploads.handle(request, url)
    // Read also when it is not looked at: an answer in the middle of an upload would look like a reset.
    const body = await readBytes(request, stored ? 0 : BODY_LIMIT)
    if (body) record.body = parsedBody(body)
    if (scripted) return scripted
    if (effect && 'bomb' in effect) return undefined
    if (!body) return new Problem(413, 'Request body is too large').toResponse()
    // What fetch has no word for (TRACE) nobody serves either.
    if (!METHODS.includes(record.method)) return new Problem(405, 'Method Not Allowed').toResponse()
    return this.#route(request, url, body, signal)
  }

  #route(
    request: IncomingMessage,
    url: URL,
    body: Buffer,
    signal: AbortSignal,
  ): Response | Promise<Response> {
    const agent = agentPath(url.pathname)
    if (!agent) return this.#app(toRequest(request, url.href, body, signal))
    const server = this.#agents.find(agent.deploymentId)
    if (server instanceof Response) return server
    return server.fetch(toRequest(request, `${this.state.baseUrl}${agent.path}${url.search}`, body, signal))
  }

  async #fetch(
    handler: FetchHandler,
    request: IncomingMessage,
    url: string,
    signal: AbortSignal,
  ): Promise<Response> {
    const body = await readBytes(request, BODY_LIMIT)
    if (!body) return new Problem(413, 'Request body is too large').toResponse()
    if (!METHODS.includes(request.method ?? '')) return new Problem(405, 'Method Not Allowed').toResponse()
    return handler(toRequest(request, url, body, signal))
  }
}

function listen(server: Server, port: number, host: string): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve(server.address() as AddressInfo))
  })
}

/** A host as a client writes it: brackets for IPv6, loopback for "any address". */
function urlHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

/**
 * Starts the emulator and resolves when it answers.
 * @throws OptionError on a wrong option; the system's own error when the port is taken.
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const settings = settle(options)
  const state = new EmulatorState(settings, createClock(settings.speed, settings.now))
  const service = new Service(state)
  const server = createServer({ keepAliveTimeout: 65_000, requestTimeout: 0 }, (request, out) => {
    service.handle(request, out).catch(() => {
      // A client that hung up in the middle, or a fault of ours: either way nobody can be told more than this.
      if (out.headersSent || out.destroyed) out.destroy()
      else out.writeHead(500, { 'content-type': 'text/plain' }).end('Internal Server Error')
    })
  })
  const { port } = await listen(server, settings.port, settings.host)
  state.baseUrl = `http://${urlHost(settings.host)}:${port}`
  return {
    controlPlaneUrl: state.baseUrl,
    apiKey: settings.apiKey,
    workspaceId: settings.workspaceId,
    sandboxUrl: state.baseUrl,
    port,
    close: () =>
      new Promise((resolve, reject) => {
        service.close()
        if (!server.listening) return resolve()
        server.close((error) => (error ? reject(error) : resolve()))
        server.closeAllConnections()
      }),
  }
}
