import type { Deployment } from '../../clients/control-plane/wire.ts'
import type { EventCode, GitFacts } from '../git-event.ts'
import type { Mapping, Settings, Source } from '../settings.ts'

/** What was looked up before the plan, because the user left it out. */
export interface Discovered {
  readonly integrationId?: string | undefined
  readonly listenerId?: string | undefined
  readonly listenerNamespace?: string | undefined
}

export interface PlanFacts {
  readonly settings: Settings
  readonly git: GitFacts
  readonly discovered: Discovered
  /** What the deployment has now; undefined: there is none, it is created. */
  readonly deployment: Deployment | undefined
}

/** Work that has to be done between the create and the PATCH: something of ours goes to the service first. */
export type Artifact = 'none' | 'archive' | 'image'

interface PlanBase {
  readonly source: Source
  readonly artifact: Artifact
  readonly warnings: readonly string[]
  /** The commit that the built revision must be of; `strict`: another commit is `superseded`, else a warning. */
  readonly expectedCommit: { readonly sha: string; readonly strict: boolean } | undefined
}

export interface CreatePlan extends PlanBase {
  readonly action: 'create'
  /** Body of `POST /v2/deployments`; with an artifact its `source_revision_config` waits for the PATCH. */
  readonly body: Mapping
  /** `source_revision_config` of the PATCH after the artifact is there; its path or image is put in then. */
  readonly revisionConfig: Mapping
}

export interface UpdatePlan extends PlanBase {
  readonly action: 'update'
  readonly deployment: Deployment
  /** Body of `PATCH /v2/deployments/{id}`; `secrets` are put in by apply, from the plan's list. */
  readonly body: Mapping
}

export type Plan = CreatePlan | UpdatePlan

export type { EventCode, GitFacts }
