import { AgentDeployError } from '../../base/errors.ts'
import type { Runner } from '../runner.ts'

export type Permission = 'deployments' | 'pull-requests'

/** A quote of GitHub's own words in a warning; longer ones are cut. */
const MAX_QUOTE = 300

/**
 * Does something that must never change the verdict: a failure is one warning with its reason and what to do.
 * @param what what could not be done, to stand before the reason, as `The comment on pull request #4`
 * @param permission what the work needs of the job's token, named when GitHub refuses
 * @returns what `work` gave, or undefined after a failure
 */
export async function bestEffort<T>(
  runner: Runner,
  what: string,
  permission: Permission,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    runner.log.warning(`${what}: ${reason(error)}. ${remedy(error, permission)} The verdict stays as it is.`)
    return undefined
  }
}

/** Octokit's errors are told by their shape: its class is loaded with the library, which may be what failed. */
interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
}

function answered(error: unknown): Answered | undefined {
  if (!(error instanceof Error) || !('response' in error)) return undefined
  const response = error.response as Partial<Answered> | undefined
  if (response === undefined || typeof response.status !== 'number') return undefined
  return { status: response.status, headers: response.headers ?? {} }
}

function reason(error: unknown): string {
  const answer = answered(error)
  const text = quote(error)
  if (answer !== undefined) return `GitHub answered ${answer.status}${text === '' ? '' : `: ${text}`}`
  return text === '' ? 'it failed' : text
}

/** One line, without a full stop at its end. */
function quote(error: unknown): string {
  // Octokit wraps what our fetch threw.
  const inner = error instanceof Error && error.cause instanceof AgentDeployError ? error.cause : error
  const text = inner instanceof Error ? inner.message : String(inner)
  const line = text.replace(/\s+/g, ' ').trim().replace(/\.+$/, '')
  return line.length <= MAX_QUOTE ? line : `${line.slice(0, MAX_QUOTE)}…`
}

function remedy(error: unknown, permission: Permission): string {
  const answer = answered(error)
  if (answer !== undefined) return remedyFor(answer, permission)
  const inner = error instanceof Error && error.cause instanceof AgentDeployError ? error.cause : error
  return inner instanceof AgentDeployError && inner.hint !== undefined ? inner.hint : 'Run the job again.'
}

function remedyFor({ status, headers }: Answered, permission: Permission): string {
  const limited = headers['x-ratelimit-remaining'] === '0' || headers['retry-after'] !== undefined
  if (status === 429 || (status === 403 && limited)) {
    return 'The token’s hourly budget of requests is used up; it fills again within the hour.'
  }
  if (status === 401) return 'The token of github-token is wrong or has expired.'
  if (status === 403 || status === 404) {
    return `The token lacks "permissions: ${permission}: write": give it to the job. Pull requests from forks and by Dependabot get a token that can only read.`
  }
  if (status >= 500) return 'GitHub has trouble: see https://www.githubstatus.com.'
  return 'Look at what GitHub says of the request.'
}
