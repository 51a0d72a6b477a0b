/** What the user asked for, read from the inputs once and never changed. `undefined` means: not given. */

export const SOURCES = ['github', 'external_docker', 'internal_docker', 'internal_source'] as const
export type Source = (typeof SOURCES)[number]

/** Input words of `deployment-type`, and what is sent for them (recorded from the official CLI). */
export const DEPLOYMENT_TYPES = {
  dev: 'dev',
  prod: 'prod',
  dev_free: 'dev_free',
  serverless: 'dev_zero',
  dedicated: 'prod',
} as const
export type DeploymentType = keyof typeof DEPLOYMENT_TYPES

/** One entry of `secrets` or `env-vars`. */
export interface SecretEntry {
  readonly name: string
  readonly value: string
}

export interface AgentIdentity {
  readonly agentId: string
  readonly environment: 'development' | 'staging' | 'production'
}

/** Which deployment is meant: exactly one of the three ways, or an id with a name that must agree. */
export interface Target {
  readonly name: string | undefined
  readonly deploymentId: string | undefined
  readonly agent: AgentIdentity | undefined
}

export interface Settings {
  readonly target: Target
  readonly source: Source | 'auto'
  readonly integrationId: string | undefined
  readonly repoUrl: string | undefined
  readonly repoRef: string | undefined
  readonly configPath: string | undefined
  readonly buildOnPush: boolean | undefined
  readonly imageUri: string | undefined
  readonly pushImage: string | undefined
  readonly listenerId: string | undefined
  readonly listenerNamespace: string | undefined
  readonly sourcePath: string | undefined
  readonly installCommand: string | undefined
  readonly buildCommand: string | undefined
  readonly deploymentType: DeploymentType | undefined
  readonly resourceSpec: Mapping | undefined
  readonly secrets: readonly SecretEntry[] | undefined
  readonly envVars: readonly SecretEntry[] | undefined
  readonly secretsMode: 'merge' | 'replace'
  readonly request: Mapping | undefined
  readonly revisionId: string | undefined
}

export type Mapping = Readonly<Record<string, unknown>>

export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
