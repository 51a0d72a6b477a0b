/** What triggered the job, as far as this project asks. */
export interface GithubContext {
  readonly eventName: string
  readonly owner: string
  readonly repo: string
  /** `refs/heads/…`, `refs/tags/…` or `refs/pull/…` */
  readonly ref: string
  readonly refName: string
  readonly sha: string
  readonly serverUrl: string
  readonly apiUrl: string
  readonly runId: string
  readonly runUrl: string
  readonly actor: string
  readonly workspace: string
  readonly defaultBranch: string | undefined
  readonly pullRequest: PullRequest | undefined
  /** Of an `issue_comment` on a pull request: its number. */
  readonly issueNumber: number | undefined
  readonly payload: Record<string, unknown>
}

export interface PullRequest {
  readonly number: number
  readonly headSha: string
  readonly headRef: string
  /** `owner/name`; undefined when the fork was deleted. */
  readonly headRepo: string | undefined
  readonly baseRepo: string
  readonly baseRef: string
  /** True also when the head repository is not known. */
  readonly fromFork: boolean
}
