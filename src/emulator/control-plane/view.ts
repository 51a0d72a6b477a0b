/** Deployments and revisions as the service answers with them (its published description). */
import { stableDigest } from '../ids.ts'
import type { EmulatorState } from '../state.ts'
import type { Deployment, Revision } from './model.ts'
import { statusOf } from './walk.ts'

const DATABASE_SECONDS = 3

export function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}

export function deploymentStatus(state: EmulatorState, deployment: Deployment): string {
  if (deployment.deletedAt !== null) return 'AWAITING_DELETE'
  return state.clock.elapsed(deployment.createdAt) < DATABASE_SECONDS ? 'AWAITING_DATABASE' : 'READY'
}

/** The image of a revision: as given, or the one that its build made, once it has. */
function imageOf(revision: Revision): string | null {
  if (revision.config.image_uri !== null) return revision.config.image_uri
  const built = ['AWAITING_DEPLOY', 'DEPLOYING', 'DEPLOY_FAILED', 'DEPLOYED']
  if (!built.includes(statusOf(revision))) return null
  const digest = stableDigest(`${revision.commit ?? revision.config.source_tarball_path}`)
  return `registry.emulator.invalid/${revision.deploymentId}@sha256:${digest}`
}

function revisionConfig(revision: Revision | undefined): Record<string, unknown> {
  return {
    repo_ref: revision?.config.repo_ref ?? null,
    langgraph_config_path: revision?.config.langgraph_config_path ?? null,
    image_uri: revision ? imageOf(revision) : null,
    source_tarball_path: revision?.config.source_tarball_path ?? null,
    repo_commit_sha: revision?.commit ?? null,
  }
}

export function revisionView(revision: Revision): Record<string, unknown> {
  return {
    id: revision.id,
    created_at: isoTime(revision.createdAt),
    updated_at: isoTime(revision.walk.enteredAt),
    status: statusOf(revision),
    source: revision.source,
    source_revision_config: revisionConfig(revision),
  }
}

/** Null until the first revision was live, unless the deployment brought an address of its own. */
export function customUrl(state: EmulatorState, deployment: Deployment): string | null {
  if (deployment.sourceConfig.custom_url !== null) return deployment.sourceConfig.custom_url
  return deployment.activeRevisionId === null ? null : `${state.baseUrl}/d/${deployment.id}`
}

export function deploymentView(state: EmulatorState, deployment: Deployment): Record<string, unknown> {
  const latest = deployment.revisions.at(-1)
  const sourceConfig: Record<string, unknown> = {
    ...deployment.sourceConfig,
    custom_url: customUrl(state, deployment),
  }
  if (deployment.source === 'github') sourceConfig.repo_branch = latest?.config.repo_ref ?? null
  return {
    id: deployment.id,
    tenant_id: state.settings.workspaceId,
    name: deployment.name,
    display_name: deployment.displayName,
    ...(deployment.agent ? { agent: deployment.agent } : {}),
    source: deployment.source,
    source_config: sourceConfig,
    source_revision_config: revisionConfig(latest),
    secrets: deployment.secrets,
    secret_references: deployment.secretReferences,
    created_at: isoTime(deployment.createdAt),
    updated_at: isoTime(deployment.updatedAt),
    status: deploymentStatus(state, deployment),
    latest_revision_id: latest?.id ?? null,
    active_revision_id: deployment.activeRevisionId,
    image_version: deployment.activeRevisionId === null ? null : state.settings.agentVersion,
  }
}
