/** `/v2/deployments`: create, list, read, change, delete. */
import { newId } from '../ids.ts'
import type { EmulatorState } from '../state.ts'
import { invalid, Problem } from '../wire/problem.ts'
import { checked, pathUuid, Query, readBody } from '../wire/request.ts'
import { type Check, isObject, list, text, uuid } from '../wire/schema.ts'
import {
  type CreateBody,
  createAgentBody,
  createBody,
  patchBody,
  type RevisionBody,
  type SourceConfigBody,
} from './bodies.ts'
import type { Deployment, Revision, Source, SourceConfig } from './model.ts'
import { makeRevision, mergeConfig, planRevision } from './revise.ts'
import type { Call, Route } from './router.ts'
import {
  checkResourceSpec,
  checkSecrets,
  refuseFixedChanges,
  refuseForeignFields,
  refuseTagWithPush,
  requireFields,
} from './rules.ts'
import { deploymentStatus, deploymentView } from './view.ts'

const NAME = text({ min: 1, pattern: /^[a-z][a-z0-9-]*$/ })

/** What an external image runs with when nobody says otherwise (seen in answers of the service). */
const DEFAULT_SPEC = { min_scale: 1, max_scale: 1, cpu: 1, memory_mb: 2048 }

export function findDeployment(state: EmulatorState, id: string | undefined): Deployment {
  const deploymentId = pathUuid(id, 'deployment_id')
  const deployment = state.deployment(deploymentId)
  if (!deployment) throw new Problem(404, `Deployment ID ${deploymentId} not found.`)
  return deployment
}

/** For writes: a deployment that is going away takes none. */
export function findLive(state: EmulatorState, id: string | undefined): Deployment {
  const deployment = findDeployment(state, id)
  if (deployment.deletedAt !== null) throw new Problem(404, `Deployment ID ${deployment.id} not found.`)
  return deployment
}

function takeName(state: EmulatorState, name: string): void {
  const taken = state.tracingProjects.has(name) || state.deployments().some((other) => other.name === name)
  if (taken) {
    throw new Problem(
      409,
      'Deployments create a tracing project in LangSmith with the same name as the deployment. ' +
        `There already exists a project in LangSmith named: ${name}.`,
    )
  }
  state.tracingProjects.add(name)
}

/** A body with `agent` is checked as agent mode, any other by name: so the faults name the right field. */
const createCheck: Check<CreateBody> = (value, loc, issues) => {
  const agentMode = isObject(value) && Object.hasOwn(value, 'agent')
  if (agentMode) return createAgentBody(value, loc, issues)
  const body = createBody(value, loc, issues)
  if (typeof body?.name === 'string') NAME(body.name, [...loc, 'name'], issues)
  return body
}

function initialConfig(source: Source, given: SourceConfigBody): SourceConfig {
  const external = source === 'external_docker'
  const spec = given.resource_spec ?? null
  return {
    integration_id: given.integration_id ?? null,
    repo_url: given.repo_url ?? null,
    deployment_type: external ? 'prod' : (given.deployment_type ?? null),
    build_on_push: given.build_on_push ?? false,
    custom_url: given.custom_url ?? null,
    resource_spec: external ? { ...DEFAULT_SPEC, ...withoutNulls(spec ?? {}) } : spec,
    listener_id: given.listener_id ?? null,
    listener_config: given.listener_config
      ? { k8s_namespace: given.listener_config.k8s_namespace ?? null }
      : null,
    install_command: given.install_command ?? null,
    build_command: given.build_command ?? null,
  }
}

function withoutNulls(object: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== null && value !== undefined),
  )
}

async function create({ state, request }: Call): Promise<Response> {
  const body = await readBody(request, createCheck)
  const { source, source_config: config, source_revision_config: revision } = body
  refuseForeignFields(source, config, revision)
  requireFields(source, config, revision, state.listeners)
  checkResourceSpec(config)
  checkSecrets(source, body.secrets, body.secret_references)
  if (revision.source_tarball_path) {
    throw new Problem(400, 'source_tarball_path must be an object path of an existing deployment')
  }
  const name = body.agent ? `${body.agent.agent_id}-${body.agent.environment}` : (body.name ?? '')
  takeName(state, name)
  const now = state.clock.now()
  const deployment: Deployment = {
    id: newId(),
    name,
    displayName: null,
    agent: body.agent ?? null,
    source,
    sourceConfig: initialConfig(source, config),
    secrets: body.secrets,
    secretReferences: body.secret_references ?? null,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
    revisions: [],
    activeRevisionId: null,
    freedAt: now,
  }
  state.add(deployment)
  // Code that is yet to be uploaded, and an image that is yet to be pushed, have nothing to build.
  if (source === 'github' || revision.image_uri) {
    const plan = await planRevision(state, deployment, source, mergeConfig(undefined, revision))
    makeRevision(state, deployment, plan)
  }
  return Response.json(deploymentView(state, deployment), { status: 201 })
}

function applyConfig(deployment: Deployment, given: SourceConfigBody): void {
  const { resource_spec: spec, listener_config: _fixed, ...rest } = withoutNulls(given)
  Object.assign(deployment.sourceConfig, rest)
  // Replaced whole: what it does not name is lost.
  if (spec !== undefined) deployment.sourceConfig.resource_spec = withoutNulls(spec as object)
}

/** The fields of a PATCH, or of `POST …/revisions`; makes a revision when there is reason to, or when told. */
export async function applyRevision(
  state: EmulatorState,
  deployment: Deployment,
  body: RevisionBody,
  always: boolean,
): Promise<Revision | undefined> {
  const source = body.revision_source ?? deployment.source
  const config: SourceConfigBody = body.source_config ?? {}
  const given = body.source_revision_config ?? {}
  const before = deployment.revisions.at(-1)
  refuseForeignFields(source, config, given)
  refuseFixedChanges(deployment, config)
  checkResourceSpec(config)
  checkSecrets(deployment.source, body.secrets, body.secret_references)
  const merged = mergeConfig(before?.source === source ? before.config : undefined, given)
  refuseTagWithPush(config.build_on_push ?? deployment.sourceConfig.build_on_push, merged.repo_ref)
  const hasConfig = Object.keys(withoutNulls(given)).length > 0
  const hasSecrets = (body.secrets?.length ?? 0) > 0
  const hasSource = merged.repo_ref ?? merged.image_uri ?? merged.source_tarball_path
  const wanted = always || hasConfig || (hasSecrets && before !== undefined)
  if (wanted && hasSource === null) {
    throw new Problem(400, `Source configuration error: nothing to deploy for '${source}' source`)
  }
  // Planned before anything is changed: a refused request leaves the deployment as it was.
  const plan = wanted ? await planRevision(state, deployment, source, merged) : undefined
  applyConfig(deployment, config)
  if (hasSecrets && body.secrets) deployment.secrets = body.secrets
  if (body.secret_references) deployment.secretReferences = body.secret_references
  deployment.updatedAt = state.clock.now()
  return plan && makeRevision(state, deployment, plan)
}

async function patch({ state, request, params }: Call): Promise<Response> {
  const deployment = findLive(state, params.deployment_id)
  const { display_name: displayName, ...body } = await readBody(request, patchBody)
  await applyRevision(state, deployment, body, false)
  if (displayName) deployment.displayName = displayName
  return Response.json(deploymentView(state, deployment))
}

function isWanted(state: EmulatorState, deployment: Deployment, query: Query): boolean {
  const ids = query.text('deployment_ids')?.split(',')
  const part = query.text('name_contains')
  const exact: [string | undefined, string | null][] = [
    [query.text('name'), deployment.name],
    [query.text('status'), deploymentStatus(state, deployment)],
    [query.text('deployment_type'), deployment.sourceConfig.deployment_type],
    // Not in the published description; the official client asks so in agent mode.
    [query.text('agent_id'), deployment.agent?.agent_id ?? null],
    [query.text('agent_environment'), deployment.agent?.environment ?? null],
  ]
  return (
    exact.every(([wanted, has]) => wanted === undefined || wanted === has) &&
    (part === undefined || deployment.name.includes(part)) &&
    (ids === undefined || ids.includes(deployment.id))
  )
}

/** One page, and the offset of the next, as every list of the service has it. */
export function page<T>(items: readonly T[], query: Query, view: (item: T) => unknown): Response {
  const limit = query.whole('limit', { min: 1, max: 100, fallback: 20 })
  const offset = query.whole('offset', { min: 0, fallback: 0 })
  query.finish()
  const resources = items.slice(offset, offset + limit).map(view)
  return Response.json({ resources, offset: offset + resources.length })
}

function listAll({ state, request }: Call): Response {
  const query = new Query(request.url)
  const found = state.deployments().filter((deployment) => isWanted(state, deployment, query))
  return page(found, query, (deployment) => deploymentView(state, deployment))
}

function read({ state, params }: Call): Response {
  return Response.json(deploymentView(state, findDeployment(state, params.deployment_id)))
}

function removeOne(state: EmulatorState, deployment: Deployment, withProject: boolean): void {
  deployment.deletedAt ??= state.clock.now()
  if (withProject) state.tracingProjects.delete(deployment.name)
}

function remove({ state, request, params }: Call): Response {
  const query = new Query(request.url)
  const withProject = query.flag('delete_tracing_project')
  query.finish()
  removeOne(state, findDeployment(state, params.deployment_id), withProject)
  return new Response(null, { status: 204 })
}

function removeMany({ state, request }: Call): Response {
  const given = new Query(request.url).all('deployment_ids')
  const loc = ['query', 'deployment_ids']
  if (given.length === 0) throw invalid([{ type: 'missing', loc, msg: 'Field required' }])
  const ids = checked(given, list(uuid, { max: 100 }), loc)
  const found = ids.map((id) => [id, state.deployment(id)] as const)
  for (const [, deployment] of found) if (deployment) removeOne(state, deployment, false)
  const deleted = found.filter(([, deployment]) => deployment).map(([id]) => id)
  const failed = found
    .filter(([, deployment]) => !deployment)
    .map(([id]) => ({ deployment_id: id, error: `Deployment ID ${id} not found.` }))
  if (deleted.length === 0) throw new Problem(404, `Deployment ID ${ids[0]} not found.`)
  return Response.json({ deleted, failed }, { status: failed.length === 0 ? 200 : 207 })
}

export const deploymentRoutes: readonly Route[] = [
  ['GET', '/v2/deployments', listAll],
  ['POST', '/v2/deployments', create],
  ['DELETE', '/v2/deployments', removeMany],
  ['GET', '/v2/deployments/{deployment_id}', read],
  ['PATCH', '/v2/deployments/{deployment_id}', patch],
  ['DELETE', '/v2/deployments/{deployment_id}', remove],
]
