import type { Context } from 'hono'
import { Hono } from 'hono'
import { HttpError } from './errors.ts'
import type { Profile } from './profile.ts'
import { empty, plain } from './profile.ts'
import type { AgentServerOptions } from './types.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type Handler = (context: Context) => Response | Promise<Response>

const EXPOSED = 'x-pagination-total, x-pagination-next, content-location'
const PREFLIGHT_METHODS = 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT, QUERY'
const PREFLIGHT_VARY =
  'Origin, Access-Control-Request-Method, Access-Control-Request-Headers, Access-Control-Request-Private-Network'

/**
 * Routes of one agent server over hono, with what surrounds each answer of the recorded server: CORS, then auth (also
 * before 404, 405 and bad JSON), a redirect for a trailing slash, 405 with `allow` for a known path.
 */
export class Router {
  readonly app = new Hono()
  readonly #paths: string[] = []
  readonly #patterns: { method: Method; pattern: RegExp }[] = []
  readonly #profile: Profile
  readonly #options: AgentServerOptions

  constructor(profile: Profile, options: AgentServerOptions) {
    this.#profile = profile
    this.#options = options
    this.app.use('*', async (context, next) => {
      const { req } = context
      if (req.method === 'OPTIONS' && req.header('access-control-request-method') !== undefined) {
        if (req.header('origin') !== undefined) return preflight(req.raw.headers)
      }
      if (!profile.open.includes(req.path)) {
        const refusal = options.authenticate(req.raw.headers)
        if (refusal !== undefined) return this.#finish(req.raw, profile.error(new HttpError(403, refusal)))
      }
      await next()
      return this.#finish(req.raw, context.res)
    })
    this.app.notFound((context) => this.#unmatched(context.req.raw))
    this.app.onError((error) =>
      error instanceof HttpError ? profile.error(error) : plain(500, 'Internal Server Error'),
    )
  }

  /** Adds a route whose path is known for 405 and for the redirect of a trailing slash. */
  add(method: Method, path: string, handler: Handler): void {
    const source = path.replaceAll(/:[a-z_]+/g, '[^/]+')
    this.#patterns.push({ method, pattern: new RegExp(`^${source}$`) })
    this.#paths.push(path)
    this.app.on(method, path, handler)
  }

  /** Adds a route that answers other methods with 404, as the routes outside the API proper do. */
  addMeta(path: string, handler: Handler): void {
    this.app.get(path, handler)
  }

  /** The paths of the API, in OpenAPI's spelling. */
  paths(): string[] {
    return [...new Set(this.#paths)].map((path) => path.replaceAll(/:([a-z_]+)/g, '{$1}'))
  }

  #unmatched(request: Request): Response {
    const path = new URL(request.url).pathname
    const methods = this.#methodsOf(path)
    const first = methods[0]
    if (first !== undefined && this.#profile.name === 'python') {
      const allow = first === 'GET' ? 'GET, HEAD' : first
      return this.#profile.error(new HttpError(405, 'Method Not Allowed', { allow }))
    }
    const bare = path.slice(0, -1)
    if (path.endsWith('/') && this.#profile.name === 'python' && this.#methodsOf(bare).length > 0) {
      return empty(307, { location: `${this.#options.url}${bare}${new URL(request.url).search}` })
    }
    if (this.#profile.name === 'js')
      return plain(404, '404 Not Found', { 'content-type': 'text/plain; charset=UTF-8' })
    return this.#profile.error(new HttpError(404, 'Not Found'))
  }

  #methodsOf(path: string): Method[] {
    return this.#patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
  }

  #finish(request: Request, response: Response): Response {
    if (this.#profile.name === 'js') {
      response.headers.set('access-control-allow-origin', '*')
      response.headers.set('access-control-expose-headers', 'content-location,x-pagination-total')
      return response
    }
    response.headers.set('vary', 'Origin')
    if (request.headers.has('origin')) {
      response.headers.set('access-control-allow-origin', '*')
      response.headers.set('access-control-expose-headers', EXPOSED)
    }
    if (request.method === 'OPTIONS') response.headers.set('access-control-allow-private-network', 'true')
    return response
  }
}

/** CORS asks before anything else, and needs no key. */
function preflight(asked: Headers): Response {
  const headers: Record<string, string> = {
    vary: PREFLIGHT_VARY,
    'access-control-allow-origin': '*',
    'access-control-allow-methods': PREFLIGHT_METHODS,
    'access-control-max-age': '600',
  }
  const wanted = asked.get('access-control-request-headers')
  if (wanted !== null) headers['access-control-allow-headers'] = wanted
  headers['access-control-allow-private-network'] = 'true'
  return plain(200, 'OK', headers)
}
