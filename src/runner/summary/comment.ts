import { cell, code, details, link, escape as plain, table } from '../markdown.ts'
import type { DeploySummary } from './deploy.ts'

/** What the comment tells besides the deploy: which run wrote it. */
export interface CommentContext {
  /** URL of the workflow run. */
  readonly runUrl: string
  /** Time of writing, in milliseconds since 1970. */
  readonly nowMs: number
}

/** The verdict of each outcome, as a reader of the pull request wants it. */
const VERDICTS: Readonly<Record<string, string>> = {
  deployed: '✅ is live',
  triggered: '🟡 is on its way: this run did not wait',
  planned: '📝 is planned: nothing was changed',
  failed: '❌ failed',
  'timed-out': '❌ was not live in time',
  superseded: '⏭️ was overtaken by a newer revision',
  interrupted: '⏹️ was interrupted',
  cancelled: '⏹️ was cancelled',
  'verification-failed': '❌ is live, but failed its checks',
  'rolled-back': '↩️ failed, and the revision before serves again',
  error: '❌ ended with an error',
}

/** What an agent said is quoted this far in a comment; the whole is in the job summary. */
const MAX_QUOTE = 200

/**
 * The comment on a pull request, in GitHub's Markdown: verdict, links, table, checks. Every text that is not
 * ours is escaped: no markup, no mention, no link of theirs.
 */
export function renderDeployComment(summary: DeploySummary, context: CommentContext): string {
  const who = summary.name === undefined ? 'The deployment' : code(summary.name)
  const blocks = [
    `### ${who} ${VERDICTS[summary.outcome] ?? `ended as ${code(summary.outcome)}`}`,
    links(summary),
    reason(summary),
    facts(summary),
    checks(summary),
    `<sub>Written by [this run](${new URL(context.runUrl).href}), ${time(context.nowMs)}.</sub>`,
  ]
  return blocks.filter((block) => block !== '').join('\n\n')
}

/** What stands in the comment's place when the preview was deleted. */
export function renderRetiredComment(name: string, context: CommentContext): string {
  return [
    `### ${code(name)} 🧹 is gone`,
    'The preview was deleted. It comes back with the next deploy of this pull request.',
    `<sub>Written by [this run](${new URL(context.runUrl).href}), ${time(context.nowMs)}.</sub>`,
  ].join('\n\n')
}

function links(summary: DeploySummary): string {
  const parts = [
    summary.deploymentUrl === undefined ? '' : link('Open the agent', summary.deploymentUrl),
    summary.dashboardUrl === undefined ? '' : link('Dashboard', summary.dashboardUrl),
  ]
  return parts.filter((part) => part !== '').join(' · ')
}

function reason({ reason: why, hint }: DeploySummary): string {
  return [why, hint]
    .filter((text) => text !== undefined && text !== '')
    .map((text) => `> ${plain(text as string)}`)
    .join('\n>\n')
}

function facts(summary: DeploySummary): string {
  const rows: [string, string | undefined][] = [
    ['Revision', summary.revisionId],
    ['Status', summary.revisionStatus],
    ['Commit', summary.commitSha],
    ['Image', summary.imageUri],
    ['Served before', summary.previousRevisionId],
    ['Took', summary.durationSeconds === undefined ? undefined : duration(summary.durationSeconds)],
  ]
  const given = rows.filter((row): row is [string, string] => row[1] !== undefined && row[1] !== '')
  return given.length === 0
    ? ''
    : table(
        ['', ''],
        given.map(([name, value]) => [name, code(value)]),
      )
}

function checks({ verification }: DeploySummary): string {
  if (verification === undefined) return ''
  const { passed, failed } = verification
  const rows = verification.checks.map((check) => [
    check.verdict === 'passed' ? '✅' : '❌',
    cell(check.name),
    duration(check.seconds),
    cell(check.verdict === 'passed' ? short(check.said ?? '') : check.reason),
  ])
  const title = `${passed} of ${passed + failed} checks passed`
  const body = table(['', 'Check', 'Time', ''], rows)
  return failed === 0 ? details(title, body) : `**${title}**\n\n${body}`
}

function short(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length <= MAX_QUOTE ? line : `${line.slice(0, MAX_QUOTE)}…`
}

function duration(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds * 10) / 10} s`
  const whole = Math.round(seconds)
  return `${Math.floor(whole / 60)} min ${whole % 60} s`
}

function time(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
