import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that the stub got, for assertions. */
export interface StubRequest {
  readonly method: string
  /** Path and query, as sent. */
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: Record<string, unknown>
}

export interface StubStatus {
  id: number
  state: string
  description: string
  [name: string]: unknown
}

export interface StubDeployment {
  id: number
  ref: string
  task: string
  environment: string
  transient_environment: boolean
  statuses: StubStatus[]
  [name: string]: unknown
}

export interface StubComment {
  id: number
  issue: number
  body: string
  user: { login: string; type: string }
  author_association: string
}

/** What the stub does in place of its usual answer. */
export interface StubFault {
  /** A part of `METHOD /path`. */
  readonly match: string
  /** How often; left out: always. */
  readonly times?: number
  readonly status?: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** `hang`: no answer; `reset`: the connection is cut; `late`: the usual answer, after `delayMs`. */
  readonly effect?: 'hang' | 'reset' | 'late'
  readonly delayMs?: number
}

export interface GithubStub {
  /** To be given as GITHUB_API_URL; has a path, as an Enterprise Server's. */
  readonly apiUrl: string
  readonly port: number
  readonly token: string
  readonly requests: StubRequest[]
  readonly deployments: StubDeployment[]
  readonly comments: StubComment[]
  /** Adds a deployment that was there before. A state is a word, or a word with its description. */
  seedDeployment(
    part: Partial<StubDeployment> & { states?: readonly (string | readonly [string, string])[] },
  ): StubDeployment
  seedComment(part: Partial<StubComment> & { body: string; issue: number }): StubComment
  fault(fault: StubFault): void
  close(): Promise<void>
}

/** Status, body, headers besides the content type. */
type Answer = readonly [number, unknown, Readonly<Record<string, string>>?]

const NOT_FOUND: Answer = [404, { message: 'Not Found' }]
const PREFIX = '/api/v3'
const STATES = ['error', 'failure', 'inactive', 'in_progress', 'queued', 'pending', 'success']

/**
 * A small GitHub over a real socket, for the repository `octo/agent`: deployments, their statuses and the
 * comments of a pull request, with pages and `Link` headers, 401 without the token, and GitHub's own refusals
 * for what its API description forbids (required fields, states, 140 characters, merges and checks that a
 * careless request asks for by leaving a field out).
 */
export async function startGithubStub(): Promise<GithubStub> {
  const state = new StubState()
  const server = createServer((request, response) => {
    void state.handle(request, response)
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const { port } = server.address() as AddressInfo
  state.apiUrl = `http://127.0.0.1:${port}${PREFIX}`
  return {
    apiUrl: state.apiUrl,
    port,
    token: state.token,
    requests: state.requests,
    deployments: state.deployments,
    comments: state.comments,
    seedDeployment: (part) => state.seedDeployment(part),
    seedComment: (part) => state.addComment(part),
    fault: (fault) => {
      state.faults.push({ fault, left: fault.times ?? Number.POSITIVE_INFINITY })
    },
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

class StubState {
  apiUrl = ''
  readonly token = `ghs_${'t'.repeat(36)}`
  readonly requests: StubRequest[] = []
  readonly deployments: StubDeployment[] = []
  readonly comments: StubComment[] = []
  readonly faults: { fault: StubFault; left: number }[] = []
  #lastId = 1_000

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString('utf8')
    const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
    const method = request.method ?? ''
    // Through a proxy the whole URL comes.
    const url = new URL(request.url ?? '/', this.apiUrl)
    this.requests.push({ method, url: `${url.pathname}${url.search}`, headers: request.headers, body })

    const scripted = this.faults.find(
      (one) => one.left > 0 && `${method} ${url.pathname}`.includes(one.fault.match),
    )
    let answer: Answer | undefined
    if (scripted !== undefined) {
      scripted.left -= 1
      const { effect, delayMs, status, body: scriptedBody, headers } = scripted.fault
      if (effect === 'hang') return
      if (effect === 'reset') {
        request.socket.destroy()
        return
      }
      if (effect === 'late') await new Promise((done) => setTimeout(done, delayMs ?? 100))
      else answer = [status ?? 500, scriptedBody ?? { message: 'fault' }, headers ?? {}]
    }
    const [status, value, headers] = answer ?? this.#answer(request, url, body)
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
    response.end(JSON.stringify(value))
  }

  #answer(request: IncomingMessage, url: URL, body: Record<string, unknown>): Answer {
    const repository = `${PREFIX}/repos/octo/agent`
    if (request.headers.authorization !== `token ${this.token}`) return [401, { message: 'Bad credentials' }]
    if (!url.pathname.startsWith(`${repository}/`)) return NOT_FOUND
    const call = `${request.method} ${url.pathname.slice(repository.length)}`
    const [, statusesOf] = /^(?:GET|POST) \/deployments\/(\d+)\/statuses$/.exec(call) ?? []
    const [, issue] = /^(?:GET|POST) \/issues\/(\d+)\/comments$/.exec(call) ?? []
    const [, comment] = /^PATCH \/issues\/comments\/(\d+)$/.exec(call) ?? []
    if (call === 'POST /deployments') return this.#createDeployment(body)
    if (call === 'GET /deployments') return this.#listDeployments(url)
    if (statusesOf !== undefined) return this.#statuses(call, Number(statusesOf), url, body)
    if (comment !== undefined) return this.#patchComment(Number(comment), body)
    if (issue === undefined) return NOT_FOUND
    if (call.startsWith('POST')) {
      return [201, this.addComment({ issue: Number(issue), body: String(body['body']) })]
    }
    return paged(
      url,
      this.comments.filter((one) => one.issue === Number(issue)),
    )
  }

  #createDeployment(body: Record<string, unknown>): Answer {
    if (typeof body['ref'] !== 'string') return invalid('ref is required')
    if (body['auto_merge'] !== false) return [202, { message: 'Auto-merged main into topic.' }]
    const contexts = body['required_contexts']
    if (!Array.isArray(contexts) || contexts.length > 0) {
      return [409, { message: 'Conflict: Commit status checks failed for topic.' }]
    }
    if (tooLong(body)) return invalid('description is too long (maximum is 140 characters)')
    const made: StubDeployment = {
      ...body,
      id: this.#nextId(),
      ref: body['ref'],
      task: String(body['task'] ?? 'deploy'),
      environment: String(body['environment'] ?? 'production'),
      transient_environment: body['transient_environment'] === true,
      statuses: [],
    }
    this.deployments.push(made)
    const { statuses: _, ...shown } = made
    return [201, shown]
  }

  #listDeployments(url: URL): Answer {
    const wanted = this.deployments.filter((one) =>
      ['task', 'environment', 'ref'].every(
        (name) => !url.searchParams.has(name) || url.searchParams.get(name) === one[name],
      ),
    )
    const newestFirst = wanted.toSorted((a, b) => b.id - a.id)
    return paged(
      url,
      newestFirst.map(({ statuses: _, ...one }) => one),
    )
  }

  #statuses(call: string, id: number, url: URL, body: Record<string, unknown>): Answer {
    const found = this.deployments.find((one) => one.id === id)
    if (found === undefined) return NOT_FOUND
    if (call.startsWith('GET')) return paged(url, found.statuses.toReversed())
    if (!STATES.includes(String(body['state']))) return invalid('state is not included in the list')
    if (tooLong(body)) return invalid('description is too long (maximum is 140 characters)')
    const made = {
      ...body,
      id: this.#nextId(),
      state: String(body['state']),
      description: String(body['description'] ?? ''),
    }
    found.statuses.push(made)
    return [201, made]
  }

  #patchComment(id: number, body: Record<string, unknown>): Answer {
    const found = this.comments.find((one) => one.id === id)
    if (found === undefined) return NOT_FOUND
    found.body = String(body['body'])
    return [200, found]
  }

  addComment(part: Partial<StubComment> & { body: string; issue: number }): StubComment {
    const made: StubComment = {
      id: this.#nextId(),
      user: { login: 'github-actions[bot]', type: 'Bot' },
      author_association: 'NONE',
      ...part,
    }
    this.comments.push(made)
    return made
  }

  seedDeployment({
    states = ['success'],
    ...part
  }: Partial<StubDeployment> & {
    states?: readonly (string | readonly [string, string])[]
  }): StubDeployment {
    const made: StubDeployment = {
      ref: 'main',
      task: 'deploy',
      environment: 'production',
      transient_environment: false,
      statuses: [],
      ...part,
      id: part.id ?? this.#nextId(),
    }
    for (const one of states) {
      const [state, description] = typeof one === 'string' ? [one, ''] : one
      made.statuses.push({ id: this.#nextId(), state, description })
    }
    this.deployments.push(made)
    return made
  }

  #nextId(): number {
    this.#lastId += 1
    return this.#lastId
  }
}

function paged(url: URL, all: readonly unknown[]): Answer {
  const size = Math.min(100, Number(url.searchParams.get('per_page') ?? 30))
  const number = Number(url.searchParams.get('page') ?? 1)
  const next = new URL(url)
  next.searchParams.set('page', String(number + 1))
  const headers: Record<string, string> =
    number * size < all.length ? { link: `<${next.href}>; rel="next"` } : {}
  return [200, all.slice((number - 1) * size, number * size), headers ?? {}]
}

function tooLong(body: Record<string, unknown>): boolean {
  return typeof body['description'] === 'string' && body['description'].length > 140
}

function invalid(message: string): Answer {
  return [422, { message: 'Validation Failed', errors: [message] }]
}
