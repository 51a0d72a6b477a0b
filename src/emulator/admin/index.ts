/** `/_emulator/*`: what it holds, and what it is told to do. No key is asked; never hit by a fault. */
import type { Hono } from 'hono'
import { type Call, mount, mountMethodNotAllowed, type Route } from '../control-plane/router.ts'
import { deploymentView, isoTime, revisionView } from '../control-plane/view.ts'
import { faultSpec } from '../faults/index.ts'
import { newId } from '../ids.ts'
import { revisionScript, type SandboxScript, sandboxScenario } from '../scenarios/index.ts'
import type { EmulatorState } from '../state.ts'
import { Problem } from '../wire/problem.ts'
import { readBody } from '../wire/request.ts'
import {
  type Check,
  isObject,
  list,
  nullable,
  number,
  object,
  optional,
  required,
  text,
  uuid,
} from '../wire/schema.ts'

/** The rooms that keep things of their own. */
export interface Neighbours {
  sandboxes(): unknown[]
  feedback(): unknown[]
  makeSandbox(script: SandboxScript): void
}

const repository = object({
  owner: required(text({ min: 1 })),
  name: required(text({ min: 1 })),
  url: optional(text({ min: 1 })),
  default_branch: optional(text({ min: 1 })),
})

const integrationBody = object({
  id: optional(uuid),
  name: required(text({ min: 1 })),
  installation_id: optional(number({ whole: true, min: 1 })),
  repositories: optional(list(repository)),
})

const listenerBody = object({
  id: optional(uuid),
  version: optional(nullable(text())),
  compute_id: required(text({ min: 1 })),
  k8s_namespaces: optional(list(text({ min: 1 }))),
})

type Scenario = { sandbox: SandboxScript } | Parameters<EmulatorState['scenarios']['add']>[0]

const scenarioBody: Check<Scenario> = (value, loc, issues) =>
  isObject(value) && Object.hasOwn(value, 'sandbox')
    ? sandboxScenario(value, loc, issues)
    : revisionScript(value, loc, issues)

function created(id: string): Response {
  return Response.json({ id }, { status: 201 })
}

function cleared(clear: () => void): Response {
  clear()
  return new Response(null, { status: 204 })
}

/** What the service holds: these six and no others, since other people's CI reads them (design, section 5). */
function stateView(state: EmulatorState, neighbours: Neighbours): object {
  const deployments = state.deployments()
  return {
    deployments: deployments.map((deployment) => deploymentView(state, deployment)),
    revisions: deployments.flatMap((deployment) =>
      deployment.revisions
        .toReversed()
        .map((revision) => ({ ...revisionView(revision), deployment_id: deployment.id })),
    ),
    providers: state.providers,
    sandboxes: neighbours.sandboxes(),
    feedback: neighbours.feedback(),
    requests: state.requests,
  }
}

async function addIntegration({ state, request }: Call): Promise<Response> {
  const body = await readBody(request, integrationBody)
  const id = body.id ?? newId()
  const serial = state.integrations.length
  state.integrations.push({
    id,
    name: body.name,
    installation_id: body.installation_id ?? 41_000_001 + serial,
    repositories: (body.repositories ?? []).map((item, index) => ({
      id: 720_000_000 + serial * 1000 + index,
      name: item.name,
      owner: item.owner,
      url: item.url ?? `https://github.com/${item.owner}/${item.name}`,
      default_branch: item.default_branch ?? 'main',
    })),
  })
  return created(id)
}

async function addListener({ state, request }: Call): Promise<Response> {
  const body = await readBody(request, listenerBody)
  const id = body.id ?? newId()
  const now = isoTime(state.clock.now())
  state.listeners.push({
    version: body.version ?? null,
    compute_type: 'k8s',
    compute_id: body.compute_id,
    compute_config: { k8s_namespaces: body.k8s_namespaces ?? ['default'] },
    id,
    created_at: now,
    updated_at: now,
  })
  return created(id)
}

function archive({ state, params }: Call): Response {
  const content = state.uploads.byId(params.upload_id ?? '')?.content
  if (!content) throw new Problem(404, `no archive was uploaded as ${params.upload_id}`)
  return new Response(new Uint8Array(content), { headers: { 'content-type': 'application/gzip' } })
}

/** Puts the routes on the app. */
export function mountAdmin(app: Hono, state: EmulatorState, neighbours: Neighbours): void {
  const addScenario = async ({ request }: Call): Promise<Response> => {
    const body = await readBody(request, scenarioBody)
    if (!('sandbox' in body)) return created(state.scenarios.add(body))
    neighbours.makeSandbox(body.sandbox)
    return created(newId())
  }
  const routes: readonly Route[] = [
    ['GET', '/_emulator/state', () => Response.json(stateView(state, neighbours))],
    [
      'POST',
      '/_emulator/faults',
      async ({ request }) => created(state.faults.add(await readBody(request, faultSpec))),
    ],
    ['DELETE', '/_emulator/faults', () => cleared(() => state.faults.clear())],
    ['POST', '/_emulator/scenarios', addScenario],
    ['DELETE', '/_emulator/scenarios', () => cleared(() => state.scenarios.clear())],
    ['POST', '/_emulator/integrations', addIntegration],
    ['DELETE', '/_emulator/integrations', () => cleared(() => state.integrations.splice(0))],
    ['POST', '/_emulator/listeners', addListener],
    ['DELETE', '/_emulator/listeners', () => cleared(() => state.listeners.splice(0))],
    // What it was told, and what discovery finds.
    ['GET', '/_emulator/faults', () => Response.json(state.faults.entries())],
    ['GET', '/_emulator/scenarios', () => Response.json(state.scenarios.entries())],
    ['GET', '/_emulator/integrations', () => Response.json(state.integrations)],
    ['GET', '/_emulator/listeners', () => Response.json(state.listeners)],
    ['GET', '/_emulator/uploads', () => Response.json(state.uploads.entries())],
    ['GET', '/_emulator/uploads/{upload_id}', archive],
  ]
  mount(app, routes, state, true)
  mountMethodNotAllowed(
    app,
    routes.map(([, path]) => path),
  )
}
