import type { ControlPlane } from '../../clients/control-plane/api.ts'
import type { GitFacts } from '../../deploy/git-event.ts'
import type { Mapping } from '../../deploy/settings.ts'
import type { Runner } from '../../runner/runner.ts'
import type { DeployInputs } from './inputs.ts'
import type { DeployRecord } from './record.ts'

/** What every part of the story works with. */
export interface DeployRun {
  readonly runner: Runner
  readonly inputs: DeployInputs
  readonly record: DeployRecord
  readonly api: ControlPlane
  /** The event's code. Loads @actions/github when first asked, so only source github asks. */
  git(): Promise<GitFacts>
}

/** The request was accepted: what is waited for, and what was there before. */
export interface Accepted {
  readonly deploymentId: string
  readonly revisionId: string
  /** The service names the revision that serves. */
  readonly tellsActive: boolean
  /** `active_revision_id` before our write. */
  readonly previousActive: string | undefined
  /** The newest revision before our write. */
  readonly latestBefore: string | undefined
  /** What a rollback goes back to: the active revision before, else the latest then. */
  readonly previousRevision: string | undefined
  /** The `source_revision_config` that the revision was made from; undefined: a redeploy. */
  readonly from: Mapping | undefined
  readonly expectedCommit: { readonly sha: string; readonly strict: boolean } | undefined
  /** True when the service builds what this run gave it, so that its build log belongs in this job's log. */
  readonly ourBuild: boolean
}

/** For sources whose plan does not depend on the event. */
export const NO_GIT: GitFacts = {
  eventName: '',
  repositoryUrl: undefined,
  ref: '',
  sha: '',
  defaultBranch: undefined,
  pullRequest: undefined,
}
