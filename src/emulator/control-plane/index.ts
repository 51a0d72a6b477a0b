import type { Hono } from 'hono'
import type { EmulatorState } from '../state.ts'
import { deploymentRoutes } from './deployments.ts'
import { logRoutes } from './logs.ts'
import { placeRoutes } from './places.ts'
import { providerRoutes } from './providers.ts'
import { revisionRoutes } from './revisions.ts'
import { mount, mountMethodNotAllowed, type Route } from './router.ts'
import { uploadRoutes } from './uploads.ts'

const ROUTES: readonly Route[] = [
  ...deploymentRoutes,
  ...revisionRoutes,
  ...uploadRoutes,
  ...logRoutes,
  ...providerRoutes,
  ...placeRoutes,
]

/** Served on the same port by other rooms, but part of the service's description. */
const NEIGHBOURS: readonly (readonly [string, string])[] = [
  ['GET', '/v2/sandboxes/boxes/{name}'],
  ['GET', '/api/v2/sandboxes/boxes/{name}'],
  ['GET', '/api/v1/feedback/tokens/{token_id}'],
  ['POST', '/api/v1/feedback/tokens/{token_id}'],
]

/** The service's description: its version, and which paths are served (interface document, "Versioning"). */
function description(): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const [method, path] of [...ROUTES.map(([method, path]) => [method, path] as const), ...NEIGHBOURS]) {
    const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    }))
    paths[path] = {
      ...paths[path],
      [method.toLowerCase()]: {
        parameters,
        responses: { default: { description: 'See the interface document' } },
      },
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Agent deployment control plane (emulated)', version: '0.1.0' },
    paths,
  }
}

/** Puts the control plane on the app. */
export function mountControlPlane(app: Hono, state: EmulatorState): void {
  app.get('/openapi.json', (context) => context.json(description()))
  mount(app, ROUTES, state)
  mountMethodNotAllowed(
    app,
    ROUTES.map(([, path]) => path),
  )
}
