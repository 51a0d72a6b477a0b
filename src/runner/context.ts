import { AgentDeployError } from '../base/errors.ts'
import type { Environment } from '../http/proxy.ts'

/** What triggered the job, as far as this project asks. Texts are '' where the environment does not tell. */
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
  /** The event as GitHub wrote it: remote text. */
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

/**
 * Reads the context with @actions/github, which costs as much as Node's own start: so only when asked.
 * @throws AgentDeployError when GITHUB_REPOSITORY is missing, or the event's file is not JSON
 */
export async function readContext(env: Environment): Promise<GithubContext> {
  const { context } = await import('@actions/github').catch((error: unknown) => {
    throw new AgentDeployError('The event of this job cannot be read', {
      cause: error,
      hint: 'The file that GITHUB_EVENT_PATH names is not JSON: look at what earlier steps of the job did to it.',
    })
  })
  const repository = env['GITHUB_REPOSITORY'] ?? ''
  if (!/^[^/]+\/[^/]+$/.test(repository)) {
    throw new AgentDeployError(`GITHUB_REPOSITORY is ${JSON.stringify(repository)}, expected owner/name`, {
      hint: 'Run this in a GitHub Actions job, or set GITHUB_REPOSITORY as the runner does.',
    })
  }
  const { owner, repo } = context.repo
  const payload = context.payload as Record<string, unknown>
  const runId = env['GITHUB_RUN_ID'] ?? ''
  const base = record(payload['repository'])
  return {
    eventName: context.eventName ?? '',
    owner,
    repo,
    ref: context.ref ?? '',
    refName: env['GITHUB_REF_NAME'] ?? '',
    sha: context.sha ?? '',
    serverUrl: context.serverUrl,
    apiUrl: context.apiUrl,
    runId,
    runUrl: `${context.serverUrl}/${owner}/${repo}/actions/runs/${runId}`,
    actor: context.actor ?? '',
    workspace: env['GITHUB_WORKSPACE'] ?? '',
    defaultBranch: text(base['default_branch']),
    pullRequest: readPullRequest(payload['pull_request'], text(base['full_name']) ?? repository),
    issueNumber:
      'pull_request' in record(payload['issue']) ? number(record(payload['issue'])['number']) : undefined,
    payload,
  }
}

function readPullRequest(value: unknown, repository: string): PullRequest | undefined {
  const pull = record(value)
  const id = number(pull['number'])
  if (id === undefined) return undefined
  const head = record(pull['head'])
  const base = record(pull['base'])
  const headRepo = text(record(head['repo'])['full_name'])
  const baseRepo = text(record(base['repo'])['full_name']) ?? repository
  return {
    number: id,
    headSha: text(head['sha']) ?? '',
    headRef: text(head['ref']) ?? '',
    headRepo,
    baseRepo,
    baseRef: text(base['ref']) ?? '',
    fromFork: headRepo?.toLowerCase() !== baseRepo.toLowerCase(),
  }
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined
}
