import type { ForkFacts } from '../../deploy/forks.ts'
import type { GitFacts } from '../../deploy/git-event.ts'
import type { GithubContext } from '../../runner/context.ts'

/** The event as `deploy/` wants it: facts, without the runner. */
export function gitFacts(context: GithubContext): GitFacts {
  const { owner, repo, serverUrl, pullRequest } = context
  return {
    eventName: context.eventName,
    repositoryUrl: owner === '' || repo === '' ? undefined : `${serverUrl}/${owner}/${repo}`,
    ref: context.ref,
    sha: context.sha,
    defaultBranch: context.defaultBranch,
    pullRequest:
      pullRequest === undefined
        ? undefined
        : { headRef: pullRequest.headRef, headSha: pullRequest.headSha, fromFork: pullRequest.fromFork },
  }
}

export function forkFacts(context: GithubContext): ForkFacts {
  const run = context.payload['workflow_run']
  const runHead =
    isRecord(run) && isRecord(run['head_repository']) ? run['head_repository']['full_name'] : undefined
  const own = `${context.owner}/${context.repo}`.toLowerCase()
  const foreignRun = isRecord(run) && (typeof runHead !== 'string' || runHead.toLowerCase() !== own)
  return {
    eventName: context.eventName,
    headIsForeign: context.pullRequest?.fromFork === true || foreignRun,
    commentOnPullRequest: context.issueNumber !== undefined,
  }
}

/** Why the key can be missing without anybody's mistake: GitHub gives no secrets to these runs. */
export function missingKeyHint(context: GithubContext): string | undefined {
  const dependabot = context.actor === 'dependabot[bot]'
  if (context.eventName !== 'pull_request' || !(context.pullRequest?.fromFork === true || dependabot))
    return undefined
  return `GitHub gives no secrets to pull requests ${dependabot ? 'by Dependabot' : 'from forks'}, so api-key is empty. Test them against the emulator, which needs no account: the action \`emulator/\`, or \`npm run emulator\`. Deploy after the merge.`
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
