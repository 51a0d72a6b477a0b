/**
 * Feedback tokens: minted for one run and one key, good for 3 hours of real time, used without a credential
 * (interface document, endpoint 12; agent-server.md section 6). A token may be used again.
 * Two answers are our own choice, since nobody has recorded them: 404 for an unknown token, 410 for an expired one.
 */
import { randomUUID } from 'node:crypto'
import type { Context, Hono } from 'hono'
import { type Read, readBody, readQuery, type Submission, type ValidationItem } from './submission.ts'

/** How long a token is good, in milliseconds: what the agent server asks for when it mints one. */
export const TOKEN_LIFETIME_MS = 3 * 60 * 60 * 1000

const PATH = '/api/v1/feedback/tokens/:token'
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** One submission as it was kept. */
export interface KeptSubmission extends Submission {
  method: 'POST' | 'GET'
  submitted_at: string
}

/**
 * One token, as `/_emulator/state` shows it. The fields of the newest submission stand beside the token's own,
 * so that a test can read `entry.score`; all of them are in `submissions`, oldest first.
 */
export interface FeedbackEntry extends Submission {
  token: string
  url: string
  run_id: string
  key: string
  created_at: string
  expires_at: string
  submissions: KeptSubmission[]
}

interface Token {
  url: string
  runId: string
  key: string
  createdAt: Date
  expiresAt: Date
  submissions: { method: 'POST' | 'GET'; at: Date; fields: Submission }[]
}

export interface FeedbackDeps {
  now(): Date
  /** A new UUID; left out: a random one. */
  newId?(): string
}

export class FeedbackStore {
  readonly #deps: FeedbackDeps
  readonly #tokens = new Map<string, Token>()

  constructor(deps: FeedbackDeps) {
    this.#deps = deps
  }

  /**
   * @param baseUrl origin (and path prefix) of the service, without a last slash
   * @param runId the run that the feedback is about
   * @param keys the feedback keys; the same key twice is one token
   * @returns one URL per key, in the order of the keys
   */
  mint(baseUrl: string, runId: string, keys: readonly string[]): Record<string, string> {
    const createdAt = this.#deps.now()
    const expiresAt = new Date(createdAt.getTime() + TOKEN_LIFETIME_MS)
    const urls = [...new Set(keys)].map((key) => {
      const id = this.#deps.newId?.() ?? randomUUID()
      const url = `${baseUrl}/api/v1/feedback/tokens/${id}`
      this.#tokens.set(id, { url, runId, key, createdAt, expiresAt, submissions: [] })
      return [key, url] as const
    })
    return Object.fromEntries(urls)
  }

  /** Every token that was minted, oldest first, with what was submitted to it. */
  entries(): FeedbackEntry[] {
    return [...this.#tokens].map(([id, token]) => ({
      token: id,
      url: token.url,
      run_id: token.runId,
      key: token.key,
      created_at: token.createdAt.toISOString(),
      expires_at: token.expiresAt.toISOString(),
      ...token.submissions.at(-1)?.fields,
      submissions: token.submissions.map(({ method, at, fields }) => {
        return { method, submitted_at: at.toISOString(), ...fields }
      }),
    }))
  }

  routes(app: Hono): void {
    app.post(PATH, async (c) => {
      const read = readBody(await c.req.text(), c.req.header('content-type'))
      return this.#submit(c, 'POST', read)
    })
    app.get(PATH, (c) => {
      // hono hands a HEAD to the GET route; link checkers send it, and it must not write.
      if (c.req.method === 'HEAD') return this.#notAllowed(c)
      return this.#submit(c, 'GET', readQuery(new URL(c.req.url).searchParams))
    })
    app.all(PATH, (c) => this.#notAllowed(c))
  }

  #submit(c: Context, method: 'POST' | 'GET', read: Read): Response {
    const id = c.req.param('token') ?? ''
    const errors: ValidationItem[] = []
    if (!UUID.test(id)) {
      errors.push({
        type: 'uuid_parsing',
        loc: ['path', 'token'],
        msg: 'Input should be a valid UUID',
        input: id,
      })
    }
    if ('errors' in read) errors.push(...read.errors)
    if (errors.length > 0 || 'errors' in read) return c.json({ detail: errors }, 422)

    const token = this.#tokens.get(id.toLowerCase())
    if (!token) return c.json({ detail: 'Feedback token not found' }, 404)
    const now = this.#deps.now()
    if (now.getTime() >= token.expiresAt.getTime())
      return c.json({ detail: 'Feedback token has expired' }, 410)
    token.submissions.push({ method, at: now, fields: read.submission })
    return c.json({}, 200)
  }

  #notAllowed(c: Context): Response {
    return c.json({ detail: 'Method Not Allowed' }, 405, { allow: 'GET, POST' })
  }
}
