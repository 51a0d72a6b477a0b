/** Everything that the emulator holds, and the look-ups over it. */
import type { EmulatorClock } from './clock.ts'
import type { Deployment, Revision } from './control-plane/model.ts'
import { advance } from './control-plane/walk.ts'
import { Faults } from './faults/index.ts'
import type { Settings } from './options.ts'
import { Scenarios } from './scenarios/index.ts'
import { Uploads } from './storage/index.ts'

/** An OAuth provider with what the service never shows again. */
export interface Provider {
  id: string
  organization_id: string
  provider_id: string
  name: string
  client_id: string
  client_secret: string | null
  auth_url: string
  token_url: string
  uses_pkce: boolean
  code_challenge_method: string | null
  provider_type: string | null
  mcp_server_url: string | null
  token_endpoint_auth_method: string
  is_dynamic_client: boolean
  created_at: string
  updated_at: string
}

export interface Listener {
  version: string | null
  compute_type: string
  compute_id: string
  compute_config: { k8s_namespaces: string[] | null }
  id: string
  created_at: string
  updated_at: string
}

export interface Repository {
  id: number
  name: string
  owner: string
  url: string
  default_branch: string
}

export interface Integration {
  id: string
  installation_id: number
  name: string
  repositories: Repository[]
}

export interface RecordedRequest {
  time: string
  method: string
  /** Without the query. */
  path: string
  /** With its question mark; empty where there is none. */
  query: string
  headers: Record<string, string>
  /** JSON where it is JSON, else text; null where there is none or it went to storage. */
  body: unknown
  /** Of the answer; null while there is none, or when the connection was cut. */
  status: number | null
}

/** Emulator seconds that a deleted deployment can still be read. */
const DELETE_SECONDS = 4
const KEPT_REQUESTS = 10_000

const DEFAULT_INTEGRATION: Integration = {
  id: '8f4f6c2e-3f0b-4b53-9c1d-6f3a5d2b9e10',
  installation_id: 41_000_001,
  name: 'octo-org',
  repositories: [
    {
      id: 710_000_001,
      name: 'agent',
      owner: 'octo-org',
      url: 'https://github.com/octo-org/agent',
      default_branch: 'main',
    },
  ],
}

export class EmulatorState {
  readonly settings: Settings
  readonly clock: EmulatorClock
  readonly faults = new Faults()
  readonly scenarios = new Scenarios()
  readonly uploads: Uploads
  readonly providers: Provider[] = []
  readonly organizationId = 'c0a5d6f1-8f1b-4e2a-8a53-0b7e9d2f4c61'
  readonly listeners: Listener[] = []
  readonly integrations: Integration[] = [DEFAULT_INTEGRATION]
  readonly requests: RecordedRequest[] = []
  /** Tracing projects outlive their deployments; their names are taken. */
  readonly tracingProjects = new Set<string>()
  /** No last slash; known once the server listens. */
  baseUrl = ''
  /** Told the id of a deployment whose deletion is done. */
  onGone: (deploymentId: string) => void = () => {}
  #deployments: Deployment[] = []

  constructor(settings: Settings, clock: EmulatorClock) {
    this.settings = settings
    this.clock = clock
    this.uploads = new Uploads()
  }

  /** Newest first, without those whose deletion is done; every walk is brought up to now. */
  deployments(): Deployment[] {
    const isGone = ({ deletedAt }: Deployment): boolean =>
      deletedAt !== null && this.clock.elapsed(deletedAt) >= DELETE_SECONDS
    for (const { id } of this.#deployments.filter(isGone)) {
      this.uploads.forget(id)
      this.onGone(id)
    }
    this.#deployments = this.#deployments.filter((deployment) => !isGone(deployment))
    for (const deployment of this.#deployments) advance(deployment, this.clock)
    return this.#deployments.toReversed()
  }

  deployment(id: string): Deployment | undefined {
    return this.deployments().find((deployment) => deployment.id === id)
  }

  add(deployment: Deployment): void {
    this.#deployments.push(deployment)
  }

  activeRevision(deployment: Deployment): Revision | undefined {
    return deployment.revisions.find(({ id }) => id === deployment.activeRevisionId)
  }

  record(request: RecordedRequest): void {
    this.requests.push(request)
    if (this.requests.length > KEPT_REQUESTS) this.requests.shift()
  }
}
