/** The control plane's routes in one table: dispatch, 405, auth, and the paths of its description. */
import { Hono } from 'hono'
import { refuse } from '../auth.ts'
import type { EmulatorState } from '../state.ts'
import { Problem } from '../wire/problem.ts'

/** What a handler is given; `params` are percent-decoded. */
export interface Call {
  state: EmulatorState
  request: Request
  params: Record<string, string | undefined>
}

export type Handler = (call: Call) => Response | Promise<Response>
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type Route = readonly [method: Method, path: string, handler: Handler]

/** Puts the routes on the app; the service's paths write parameters as `{name}`. */
export function mount(app: Hono, routes: readonly Route[], state: EmulatorState, open = false): void {
  for (const [method, path, handler] of routes) {
    app.on(method, path.replaceAll(/\{(\w+)\}/g, ':$1'), async (context) => {
      const refused = open ? undefined : refuse(context.req.raw.headers, state.settings)
      return refused ?? handler({ state, request: context.req.raw, params: context.req.param() })
    })
  }
}

/** After all routes: a known path with another method is 405, as the framework of the service has it. */
export function mountMethodNotAllowed(app: Hono, paths: readonly string[]): void {
  for (const path of new Set(paths)) {
    app.all(path.replaceAll(/\{(\w+)\}/g, ':$1'), () => new Problem(405, 'Method Not Allowed').toResponse())
  }
}

/** An app that answers errors as the service does. */
export function newApp(): Hono {
  const app = new Hono()
  app.notFound(() => new Problem(404, 'Not Found').toResponse())
  app.onError((error) => {
    if (error instanceof Problem) return error.toResponse()
    return new Response('Internal Server Error', { status: 500 })
  })
  return app
}
