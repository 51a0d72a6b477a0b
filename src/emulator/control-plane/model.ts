/** What the control plane holds, in its own words; `view.ts` says it on the wire. */
import type { Walk } from './walk.ts'

export type Source = 'github' | 'external_docker' | 'internal_docker' | 'internal_source'

/** What a revision was asked to be built from. */
export interface RevisionConfig {
  repo_ref: string | null
  langgraph_config_path: string | null
  image_uri: string | null
  source_tarball_path: string | null
}

export interface SourceConfig {
  integration_id: string | null
  repo_url: string | null
  deployment_type: string | null
  build_on_push: boolean | null
  custom_url: string | null
  resource_spec: Record<string, unknown> | null
  listener_id: string | null
  listener_config: { k8s_namespace: string | null } | null
  install_command: string | null
  build_command: string | null
}

export interface Secret {
  name: string
  value: string
}

export interface SecretReference {
  name: string
  secret_name: string
  secret_key: string
}

export interface LogLine {
  /** Emulator seconds after the revision was made. */
  at: number
  level: 'INFO' | 'WARNING' | 'ERROR'
  message: string
}

/** What an archive's own `langgraph.json` says that the deployment serves. */
export interface Served {
  /** Left out: the built-in graphs. */
  graphs?: readonly string[]
  disableA2a: boolean
}

export interface Revision {
  id: string
  deploymentId: string
  /** 1 for the first revision of a deployment. */
  number: number
  source: Source
  config: RevisionConfig
  commit: string | null
  served: Served
  createdAt: number
  walk: Walk
  buildLog: readonly LogLine[]
  deployLog: readonly LogLine[]
  /** False: reaches `DEPLOYED` while the one before goes on serving (scripted). */
  takesOver: boolean
}

export interface Deployment {
  id: string
  name: string
  displayName: string | null
  agent: { agent_id: string; environment: string } | null
  source: Source
  sourceConfig: SourceConfig
  secrets: Secret[]
  secretReferences: SecretReference[] | null
  createdAt: number
  updatedAt: number
  deletedAt: number | null
  /** Oldest first. */
  revisions: Revision[]
  activeRevisionId: string | null
  /** When the queue last became free; nothing that waited may have started before it. */
  freedAt: number
}

/** A revision that ended; nothing follows but what a script says. */
export const ENDS: readonly string[] = [
  'DEPLOYED',
  'CREATE_FAILED',
  'BUILD_FAILED',
  'DEPLOY_FAILED',
  'SKIPPED',
  'INTERRUPTED',
]
