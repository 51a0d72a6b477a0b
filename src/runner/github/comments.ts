import type { Runner } from '../runner.ts'
import { bestEffort } from './best-effort.ts'
import { connect, type GithubClient } from './client.ts'

export interface CommentOptions {
  /** The input `github-token`. */
  readonly token: string
  /** The deployment's name (or the agent's id): one comment for each. */
  readonly name: string
  /** The comment without its marker; redacted here. */
  readonly markdown: string
}

interface Found {
  readonly id: number
}

/** GitHub takes 65 536 characters; what is over is cut, and said so. */
const MAX_BODY = 65_000
const PERMISSION = 'pull-requests'
/** 100 pages of 100: a pull request with more comments than this has other troubles. */
const MAX_PAGES = 100

/**
 * The hidden first line by which a comment is found again.
 * @param name percent-encoded where it is not plain, so that nothing in it can end the HTML comment
 */
export function markerOf(name: string): string {
  return `<!-- agent-deploy: ${encodeURIComponent(name)} -->`
}

/**
 * Writes the one comment of this deployment on the pull request of the event: the one of an earlier run is
 * updated in place. Without a pull request, one notice. Best effort: never throws.
 */
export async function upsertComment(runner: Runner, options: CommentOptions): Promise<void> {
  const number = await pullRequestNumber(runner)
  if (number === undefined) return
  await bestEffort(runner, `The comment on pull request #${number}`, PERMISSION, async () => {
    const github = await connect(runner, options.token)
    const body = bodyOf(runner, options)
    const found = await findComment(github, number, options.name)
    if (found !== undefined && (await update(github, found.id, body))) return
    await github.rest.issues.createComment({ ...github.repository, issue_number: number, body })
  })
}

/**
 * Rewrites the comment when there is one (the preview is gone); makes none. Best effort: never throws.
 */
export async function retireComment(runner: Runner, options: CommentOptions): Promise<void> {
  const number = await pullRequestNumber(runner)
  if (number === undefined) return
  await bestEffort(runner, `The comment on pull request #${number}`, PERMISSION, async () => {
    const github = await connect(runner, options.token)
    const found = await findComment(github, number, options.name)
    if (found !== undefined) await update(github, found.id, bodyOf(runner, options))
  })
}

async function pullRequestNumber(runner: Runner): Promise<number | undefined> {
  const context = await runner.context()
  const number = context.pullRequest?.number ?? context.issueNumber
  if (number === undefined) {
    runner.log.notice(`No comment is written: the event "${context.eventName}" is not about a pull request.`)
  }
  return number
}

/** @returns false when somebody deleted the comment in between */
async function update(github: GithubClient, id: number, body: string): Promise<boolean> {
  try {
    await github.rest.issues.updateComment({ ...github.repository, comment_id: id, body })
    return true
  } catch (error) {
    if (error instanceof Error && 'status' in error && error.status === 404) return false
    throw error
  }
}

/** The first comment, over all pages, that begins with our marker and was not written by a passer-by. */
async function findComment(github: GithubClient, number: number, name: string): Promise<Found | undefined> {
  const marker = markerOf(name)
  const pages = github.paginate.iterator(github.rest.issues.listComments, {
    ...github.repository,
    issue_number: number,
    per_page: 100,
  })
  let seen = 0
  for await (const { data } of pages) {
    const found = data.find((one) => one.body?.startsWith(marker) === true && mayBeOurs(one))
    if (found !== undefined) return found
    seen += 1
    if (seen >= MAX_PAGES) break
  }
  return undefined
}

/**
 * Anybody can write our marker into a comment of their own, and would keep the right to edit what we put
 * there. So a person's comment counts only when that person belongs to the repository: the token can then be
 * that person's.
 */
function mayBeOurs(comment: { user?: { type?: string } | null; author_association?: string }): boolean {
  const { user, author_association: association } = comment
  if (user?.type !== 'User' || association === undefined) return true
  return ['OWNER', 'MEMBER', 'COLLABORATOR'].includes(association)
}

function bodyOf(runner: Runner, options: CommentOptions): string {
  const text = runner.secrets.redact(options.markdown)
  const cut = text.length <= MAX_BODY ? text : `${text.slice(0, MAX_BODY)}\n\n… (cut, see the job summary)`
  return `${markerOf(options.name)}\n${cut}\n`
}
