/** What the workflow's event says about the code, as `runner/` read it. Facts only, so that the plan is pure. */
export interface GitFacts {
  readonly eventName: string
  /** `https://github.com/owner/repo`; the server's own address on GitHub Enterprise. */
  readonly repositoryUrl: string | undefined
  /** `GITHUB_REF`: `refs/heads/main`, `refs/tags/v1`, `refs/pull/7/merge`. */
  readonly ref: string
  /** `GITHUB_SHA`. */
  readonly sha: string
  readonly defaultBranch: string | undefined
  readonly pullRequest:
    | { readonly headRef: string; readonly headSha: string; readonly fromFork: boolean }
    | undefined
}

/** The ref and the commit that an event stands for; only of events whose code is meant to be deployed. */
export interface EventCode {
  /** A branch's name, or the full `refs/tags/…`. */
  readonly ref: string
  readonly sha: string
  readonly fromFork: boolean
}

/**
 * Reads the code that the event is about (design, section 4, "Source github"): the branch of a push or
 * workflow_dispatch, a tag in full, the head branch of a pull request.
 * @returns undefined for every other event (schedule, workflow_run, pull_request_target, …)
 */
export function codeOfEvent(git: GitFacts): EventCode | undefined {
  if (git.eventName === 'pull_request' && git.pullRequest !== undefined) {
    const { headRef, headSha, fromFork } = git.pullRequest
    return { ref: headRef, sha: headSha, fromFork }
  }
  if (git.eventName === 'push' || git.eventName === 'workflow_dispatch' || git.eventName === 'release') {
    if (git.ref.startsWith('refs/tags/')) return { ref: git.ref, sha: git.sha, fromFork: false }
    if (git.ref.startsWith('refs/heads/') && git.eventName !== 'release') {
      return { ref: git.ref.slice('refs/heads/'.length), sha: git.sha, fromFork: false }
    }
  }
  return undefined
}

/** Compares repositories as GitHub does: without case, a `.git` ending or a last slash. */
export function sameRepository(a: string, b: string): boolean {
  return canonical(a) === canonical(b)
}

function canonical(url: string): string {
  return url
    .trim()
    .toLowerCase()
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .replace(/\/+$/, '')
}

/** A branch as the service wants it, without `refs/heads/`, which `github.ref` has; a tag stays in full. */
export function plainRef(ref: string): string {
  return ref.replace(/^refs\/heads\//, '')
}

export function isTag(ref: string): boolean {
  return ref.startsWith('refs/tags/')
}

/** A 40-digit commit is no ref: answers may show the resolved one in its place. */
export function isCommit(ref: string): boolean {
  return /^[0-9a-f]{40}$/i.test(ref)
}
