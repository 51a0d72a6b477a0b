/** `/v2/deployments/{id}/revisions`: list, read, make, redeploy, interrupt. */
import type { EmulatorState } from '../state.ts'
import { Problem } from '../wire/problem.ts'
import { pathUuid, Query, readBody } from '../wire/request.ts'
import { revisionBody } from './bodies.ts'
import { applyRevision, findDeployment, findLive, page } from './deployments.ts'
import { type Deployment, ENDS, type Revision } from './model.ts'
import { redeploy } from './revise.ts'
import type { Call, Route } from './router.ts'
import { deploymentView, revisionView } from './view.ts'
import { endWith, statusOf } from './walk.ts'

/** What never got an image cannot be deployed again. */
const NEVER_BUILT = ['CREATING', 'QUEUED', 'AWAITING_BUILD', 'BUILDING', 'CREATE_FAILED', 'BUILD_FAILED']

export function findRevision(deployment: Deployment, id: string | undefined): Revision {
  const revisionId = pathUuid(id, 'revision_id')
  const revision = deployment.revisions.find((candidate) => candidate.id === revisionId)
  if (!revision) throw new Problem(404, `Revision ID ${revisionId} not found.`)
  return revision
}

/** The deployment and revision that a path names, for writes. */
function target({ state, params }: Call): {
  state: EmulatorState
  deployment: Deployment
  revision: Revision
} {
  const deployment = findLive(state, params.deployment_id)
  return { state, deployment, revision: findRevision(deployment, params.revision_id) }
}

function listAll({ state, request, params }: Call): Response {
  const deployment = findDeployment(state, params.deployment_id)
  const query = new Query(request.url)
  const wanted = query.text('status')?.split(',')
  const found = deployment.revisions
    .toReversed()
    .filter((revision) => wanted === undefined || wanted.includes(statusOf(revision)))
  return page(found, query, revisionView)
}

function read({ state, params }: Call): Response {
  const deployment = findDeployment(state, params.deployment_id)
  return Response.json(revisionView(findRevision(deployment, params.revision_id)))
}

/** Newer than the published description: always makes a revision, and answers with it. */
async function create({ state, request, params }: Call): Promise<Response> {
  const deployment = findLive(state, params.deployment_id)
  const body = await readBody(request, revisionBody)
  const revision = await applyRevision(state, deployment, body, true)
  return Response.json(revision && revisionView(revision), { status: 201 })
}

/** Answers with the deployment, as the published description has it: `latest_revision_id` is the new one. */
function again(call: Call): Response {
  const { state, deployment, revision } = target(call)
  const status = statusOf(revision)
  if (NEVER_BUILT.includes(status)) {
    throw new Problem(400, `Revision ${revision.id} cannot be redeployed: its status is ${status}`)
  }
  redeploy(state, deployment, revision)
  return Response.json(deploymentView(state, deployment))
}

function interrupt(call: Call): Response {
  const { state, deployment, revision } = target(call)
  const status = statusOf(revision)
  if (ENDS.includes(status)) {
    throw new Problem(400, `Revision ${revision.id} cannot be interrupted: its status is ${status}`)
  }
  endWith(deployment, revision, 'INTERRUPTED', state.clock.now())
  return Response.json(revisionView(revision), { status: 202 })
}

const BASE = '/v2/deployments/{deployment_id}/revisions'

export const revisionRoutes: readonly Route[] = [
  ['GET', BASE, listAll],
  ['POST', BASE, create],
  ['GET', `${BASE}/{revision_id}`, read],
  ['POST', `${BASE}/{revision_id}/redeploy`, again],
  ['POST', `${BASE}/{revision_id}/interruption`, interrupt],
]
