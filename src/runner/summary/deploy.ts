import { shorten } from '../../base/text.ts'
import { duration, gantt } from '../gantt.ts'
import { cell, code, details, escapeMarkdown, fence, link, sentence, table } from '../markdown.ts'
import { checksTable } from './checks.ts'

/** What the summary of a deploy tells. Texts are as they came; the renderer escapes them. */
export interface DeploySummary {
  readonly outcome: string
  readonly name: string | undefined
  readonly deploymentId?: string
  readonly deploymentUrl?: string
  readonly dashboardUrl?: string
  readonly revisionId?: string
  readonly revisionStatus?: string
  readonly previousRevisionId?: string
  readonly commitSha?: string
  readonly imageUri?: string
  readonly created?: boolean
  readonly durationSeconds?: number
  /** Milliseconds since 1970, in order. */
  readonly timeline: readonly { readonly status: string; readonly startMs: number; readonly endMs: number }[]
  readonly reason?: string
  readonly hint?: string
  readonly plan?: unknown
  /** `provider_id` to `id`. */
  readonly providers?: Readonly<Record<string, string>>
  readonly verification?: {
    readonly passed: number
    readonly failed: number
    readonly checks: readonly {
      readonly name: string
      readonly verdict: string
      readonly reason: string
      readonly seconds: number
      readonly said?: string
    }[]
  }
  readonly logTail?: { readonly title: string; readonly text: string }
  readonly rollback?: string
  readonly notes?: readonly string[]
}

/** The verdict of each outcome (design, section 2.2), in words. */
const VERDICTS: Record<string, string> = {
  deployed: '✅ Deployed',
  triggered: '🚀 Triggered',
  planned: '📋 Planned',
  failed: '❌ Failed',
  'timed-out': '⏱️ Timed out',
  superseded: '⏭️ Superseded',
  interrupted: '✋ Interrupted',
  cancelled: '🛑 Cancelled',
  'verification-failed': '❌ Verification failed',
  'rolled-back': '↩️ Rolled back',
  error: '❌ Error',
}

/** The whole tail of a log can be long; the end of it says why. In characters. */
const MAX_LOG = 60_000
const MAX_PLAN = 60_000

/**
 * The job summary of a deploy, in Markdown: the verdict in its first line, reason and what to do, ids and
 * links, the checks, the timeline, what else is to be known. Pure.
 * @param redact takes secrets out of remote text, before it is escaped and cut
 */
export function renderDeploySummary(
  summary: DeploySummary,
  redact: (text: string) => string = (text) => text,
): string {
  const { timeline, verification, logTail } = summary
  const diagram = gantt(`Revision ${summary.revisionId ?? ''}`, timeline)
  return [
    headline(summary),
    summary.reason === undefined ? '' : `**Why:** ${escapeMarkdown(redact(summary.reason))}`,
    summary.hint === undefined ? '' : `**What to do:** ${sentence(redact(summary.hint))}`,
    summary.rollback === undefined ? '' : `**Rollback:** ${escapeMarkdown(redact(summary.rollback))}`,
    facts(summary),
    verification === undefined
      ? ''
      : `### Checks: ${verification.passed} passed, ${verification.failed} failed\n\n${checksTable(verification.checks, redact)}`,
    diagram === '' ? '' : `### Timeline\n\n${fence(diagram, 'mermaid')}`,
    providers(summary.providers),
    (summary.notes ?? []).map((note) => `- ${escapeMarkdown(redact(note))}`).join('\n'),
    logTail === undefined ? '' : details(logTail.title, fence(tail(redact(logTail.text)))),
    summary.plan === undefined ? '' : plan(summary, redact),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function headline({ outcome, name, created, durationSeconds }: DeploySummary): string {
  const done = outcome === 'deployed' && created !== undefined ? (created ? ' (created)' : ' (updated)') : ''
  const time = durationSeconds === undefined ? '' : ` in ${duration(durationSeconds * 1000)}`
  const subject = name === undefined ? '' : `: ${code(name)}`
  return `## ${VERDICTS[outcome] ?? escapeMarkdown(outcome)}${subject}${done}${time}`
}

function facts(summary: DeploySummary): string {
  const { deploymentUrl, dashboardUrl } = summary
  const rows = [
    ['Outcome', code(summary.outcome)],
    ['Deployment', summary.deploymentId === undefined ? '' : code(summary.deploymentId)],
    ['URL', deploymentUrl === undefined ? '' : link(deploymentUrl, deploymentUrl)],
    ['Dashboard', dashboardUrl === undefined ? '' : link('open in LangSmith', dashboardUrl)],
    ['Revision', summary.revisionId === undefined ? '' : code(summary.revisionId)],
    ['Status', summary.revisionStatus === undefined ? '' : code(summary.revisionStatus)],
    ['Served before', summary.previousRevisionId === undefined ? '' : code(summary.previousRevisionId)],
    ['Commit', summary.commitSha === undefined ? '' : code(summary.commitSha)],
    ['Image', summary.imageUri === undefined ? '' : code(summary.imageUri)],
  ].filter(([, value]) => value !== '' && value !== '–')
  return table(['', ''], rows)
}

function providers(byId: Readonly<Record<string, string>> | undefined): string {
  const rows = Object.entries(byId ?? {}).map(([provider, id]) => [cell(provider), code(id)])
  return rows.length === 0 ? '' : `### OAuth providers\n\n${table(['Provider', 'Id'], rows)}`
}

function plan(summary: DeploySummary, redact: (text: string) => string): string {
  const json = redact(JSON.stringify(summary.plan, null, 2) ?? '')
  const block = fence(shorten(json, MAX_PLAN), 'json')
  return summary.outcome === 'planned' ? `### Plan\n\n${block}` : details('Plan', block)
}

/** Whole lines from the end: the rest of a cut line could be the rest of a secret. */
function tail(text: string): string {
  if (text.length <= MAX_LOG) return text
  const from = text.length - MAX_LOG
  const line = text.indexOf('\n', from - 1)
  const start = line < 0 ? from : line + 1
  return `… (${start} characters left out)\n${text.slice(start)}`
}
