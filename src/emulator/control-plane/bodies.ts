/** Request bodies of the deployment endpoints (published description, and what newer clients send). */
import {
  anything,
  bool,
  list,
  literal,
  mapping,
  nullable,
  number,
  object,
  optional,
  type Parsed,
  required,
  text,
  uuid,
} from '../wire/schema.ts'

const SOURCES = ['github', 'external_docker', 'internal_docker', 'internal_source'] as const

const cores = (max: number) => optional(nullable(number({ min: 0.1, max })))
const whole = optional(nullable(number({ whole: true, min: 0 })))
const anyNumber = optional(nullable(number()))
const words = optional(nullable(mapping(text())))
const objects = optional(nullable(list(mapping(anything))))

const resourceSpec = object({
  min_scale: whole,
  max_scale: whole,
  cpu: cores(8),
  cpu_limit: cores(16),
  memory_mb: whole,
  memory_limit_mb: whole,
  queue_min_scale: whole,
  queue_max_scale: whole,
  queue_cpu: cores(8),
  queue_cpu_limit: cores(16),
  queue_memory_mb: whole,
  queue_memory_limit_mb: whole,
  orchestrator_cpu: anyNumber,
  orchestrator_cpu_limit: anyNumber,
  orchestrator_memory_mb: whole,
  orchestrator_memory_limit_mb: whole,
  orchestrator_min_scale: whole,
  orchestrator_max_scale: whole,
  executor_cpu: anyNumber,
  executor_cpu_limit: anyNumber,
  executor_memory_mb: whole,
  executor_memory_limit_mb: whole,
  executor_min_scale: whole,
  executor_max_scale: whole,
  redis_cpu: cores(8),
  redis_cpu_limit: cores(16),
  redis_memory_mb: whole,
  redis_memory_limit_mb: whole,
  labels: words,
  annotations: words,
  service_account_name: optional(nullable(text())),
  image_pull_secrets: optional(nullable(list(object({ name: required(text()) })))),
  volumes: objects,
  volume_mounts: objects,
  init_containers: objects,
  sidecars: objects,
  db_cpu: anyNumber,
  db_cpu_limit: anyNumber,
  db_memory_mb: whole,
  db_memory_limit_mb: whole,
  db_storage_gi: whole,
  db_max_connections: whole,
})

const sourceConfigFields = {
  integration_id: optional(nullable(uuid)),
  repo_url: optional(nullable(text())),
  deployment_type: optional(nullable(literal('dev_free', 'dev', 'prod', 'dev_zero'))),
  build_on_push: optional(nullable(bool)),
  custom_url: optional(nullable(text())),
  resource_spec: optional(nullable(resourceSpec)),
  listener_id: optional(nullable(uuid)),
  listener_config: optional(nullable(object({ k8s_namespace: optional(nullable(text())) }))),
  install_command: optional(nullable(text())),
  build_command: optional(nullable(text())),
}
const sourceConfig = object(sourceConfigFields)

const revisionConfigFields = {
  repo_ref: optional(nullable(text())),
  langgraph_config_path: optional(nullable(text())),
  image_uri: optional(nullable(text())),
  source_tarball_path: optional(nullable(text())),
}
const revisionConfig = object(revisionConfigFields)

const secrets = list(object({ name: required(text({ min: 1 })), value: required(text()) }))
const secretReferences = nullable(
  list(object({ name: required(text()), secret_name: required(text()), secret_key: required(text()) })),
)

/** What the platform's own clients add when they made the archive: `["name:version"]`. */
const trackedPackages = optional(nullable(list(text())))

const createFields = {
  source: required(literal(...SOURCES)),
  source_config: required(sourceConfig),
  source_revision_config: required(revisionConfig),
  secrets: required(secrets),
  secret_references: optional(secretReferences),
}

export const createBody = object({ name: required(text()), ...createFields })

/** Agent mode: `agent` stands in place of `name` (seen in the official client, newer than the description). */
export const createAgentBody = object({
  agent: required(
    object({
      agent_id: required(text({ min: 1 })),
      environment: required(literal('development', 'staging', 'production')),
    }),
  ),
  ...createFields,
})

const revisionFields = {
  revision_source: optional(nullable(literal('github', 'internal_docker', 'internal_source'))),
  source_config: optional(nullable(sourceConfig)),
  source_revision_config: optional(nullable(revisionConfig)),
  secrets: optional(nullable(secrets)),
  secret_references: optional(secretReferences),
  tracked_packages: trackedPackages,
}

export const patchBody = object({
  ...revisionFields,
  display_name: optional(nullable(text({ min: 1 }))),
})

export const revisionBody = object(revisionFields)

export type SourceConfigBody = Partial<Parsed<typeof sourceConfigFields>>
export type RevisionConfigBody = Partial<Parsed<typeof revisionConfigFields>>
export type RevisionBody = Parsed<typeof revisionFields>
export interface CreateBody extends Parsed<typeof createFields> {
  name?: string
  agent?: { agent_id: string; environment: string }
}
