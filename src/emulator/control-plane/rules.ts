/** What each source takes; breaking a rule is a 400 with one sentence, as the service gives. */

import type { Listener } from '../state.ts'
import { Problem } from '../wire/problem.ts'
import type { RevisionConfigBody, SourceConfigBody } from './bodies.ts'
import type { Deployment, Secret, SecretReference, Source } from './model.ts'
import { RESERVED_NAMES } from './reserved.ts'

type ConfigField = keyof SourceConfigBody
type RevisionField = keyof RevisionConfigBody

const BUILT_CONFIG: readonly ConfigField[] = [
  'deployment_type',
  'install_command',
  'build_command',
  'resource_spec',
]

const CONFIG_FIELDS: Record<Source, readonly ConfigField[]> = {
  github: [...BUILT_CONFIG, 'integration_id', 'repo_url', 'build_on_push'],
  external_docker: ['custom_url', 'resource_spec', 'listener_id', 'listener_config'],
  internal_docker: ['deployment_type', 'resource_spec'],
  internal_source: BUILT_CONFIG,
}

const REVISION_FIELDS: Record<Source, readonly RevisionField[]> = {
  github: ['repo_ref', 'langgraph_config_path'],
  external_docker: ['image_uri'],
  internal_docker: ['image_uri'],
  internal_source: ['source_tarball_path', 'langgraph_config_path'],
}

/** Redis below this does not start. */
const REDIS_FLOOR_MB = 512

export function sourceError(sentence: string): Problem {
  return new Problem(400, `Source configuration error: ${sentence}`)
}

function isGiven(value: unknown): boolean {
  return value !== null && value !== undefined
}

/** Refuses what the source does not take. `false` says no more than nothing, so `build_on_push: false` passes. */
export function refuseForeignFields(
  source: Source,
  config: SourceConfigBody,
  revision: RevisionConfigBody,
): void {
  for (const [name, value] of Object.entries(config)) {
    const harmless = name === 'build_on_push' && value === false && source !== 'external_docker'
    if (isGiven(value) && !harmless && !CONFIG_FIELDS[source].includes(name as ConfigField)) {
      throw sourceError(`'source_config.${name}' is not applicable for '${source}' source`)
    }
  }
  for (const [name, value] of Object.entries(revision)) {
    if (isGiven(value) && !REVISION_FIELDS[source].includes(name as RevisionField)) {
      throw sourceError(`'source_revision_config.${name}' is not applicable for '${source}' source`)
    }
  }
}

function need(value: unknown, name: string, source: Source): void {
  if (!isGiven(value) || value === '') throw sourceError(`'${name}' is required for '${source}' source`)
}

/** What a create has to bring. */
export function requireFields(
  source: Source,
  config: SourceConfigBody,
  revision: RevisionConfigBody,
  listeners: readonly Listener[],
): void {
  if (source === 'github') {
    if (!isGiven(config.integration_id))
      throw new Problem(400, 'integration_id is required for github source')
    need(config.repo_url, 'source_config.repo_url', source)
    need(config.build_on_push, 'source_config.build_on_push', source)
    need(revision.repo_ref, 'source_revision_config.repo_ref', source)
    need(revision.langgraph_config_path, 'source_revision_config.langgraph_config_path', source)
  }
  if (source === 'external_docker') {
    need(config.resource_spec, 'source_config.resource_spec', source)
    need(revision.image_uri, 'source_revision_config.image_uri', source)
    if (listeners.length > 0) requireListener(config, listeners)
  } else {
    need(config.deployment_type, 'source_config.deployment_type', source)
  }
  refuseTagWithPush(config.build_on_push, revision.repo_ref)
}

function requireListener(config: SourceConfigBody, listeners: readonly Listener[]): void {
  need(config.listener_id, 'source_config.listener_id', 'external_docker')
  const listener = listeners.find(({ id }) => id === config.listener_id)
  if (!listener) throw sourceError(`listener ${config.listener_id} was not found`)
  const namespace = config.listener_config?.k8s_namespace
  const known = listener.compute_config.k8s_namespaces ?? []
  if (isGiven(namespace) && !known.includes(namespace as string)) {
    throw sourceError(`listener ${listener.id} is not configured for namespace '${namespace}'`)
  }
}

export function refuseTagWithPush(
  buildOnPush: boolean | null | undefined,
  ref: string | null | undefined,
): void {
  if (buildOnPush === true && ref?.startsWith('refs/tags/')) {
    throw sourceError("'source_config.build_on_push' must be false when 'repo_ref' is a tag (refs/tags/…)")
  }
}

export function checkResourceSpec(config: SourceConfigBody): void {
  const redis = config.resource_spec?.redis_memory_mb
  if (isGiven(redis) && (redis as number) < REDIS_FLOOR_MB) {
    throw sourceError(`'resource_spec.redis_memory_mb' must be at least ${REDIS_FLOOR_MB}`)
  }
}

export function checkSecrets(
  source: Source,
  secrets: readonly Secret[] | null | undefined,
  references: readonly SecretReference[] | null | undefined,
): void {
  const names = [...(secrets ?? []), ...(references ?? [])].map(({ name }) => name)
  const reserved = names.find((name) => RESERVED_NAMES.has(name))
  if (reserved) throw new Problem(400, `Secret name '${reserved}' is reserved`)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice) throw new Problem(400, `Secret name '${twice}' is given more than once`)
  if (references?.length && source !== 'external_docker') {
    throw sourceError(`'secret_references' is not applicable for '${source}' source`)
  }
}

/** What a deployment was created with stays. Saying it again is no change. */
export function refuseFixedChanges(deployment: Deployment, config: SourceConfigBody): void {
  for (const name of ['integration_id', 'repo_url', 'deployment_type', 'listener_id'] as const) {
    if (isGiven(config[name]) && config[name] !== deployment.sourceConfig[name]) {
      throw sourceError(`'source_config.${name}' cannot be changed once the deployment is created`)
    }
  }
  const namespace = config.listener_config?.k8s_namespace
  if (isGiven(namespace) && namespace !== deployment.sourceConfig.listener_config?.k8s_namespace) {
    throw sourceError(
      `'source_config.listener_config.k8s_namespace' cannot be changed once the deployment is created`,
    )
  }
}
