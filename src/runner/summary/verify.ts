import { duration } from '../gantt.ts'
import { escapeMarkdown, link, sentence } from '../markdown.ts'
import { type CheckRow, checksTable } from './checks.ts'

/** What the summary of the verify action tells. */
export interface VerifySummary {
  readonly deploymentUrl?: string | undefined
  readonly passed: number
  readonly failed: number
  readonly checks: readonly (CheckRow & { readonly warnings?: readonly string[] | undefined })[]
  /** Why there are no findings (the server was not reached, a wrong input), where that is so. */
  readonly reason?: string | undefined
  readonly hint?: string | undefined
  readonly durationSeconds?: number | undefined
}

/**
 * The job summary of the verify action, in Markdown: verdict first, then check, verdict, time, what came
 * back. Pure.
 * @param redact takes secrets out of remote text, before it is escaped and cut
 */
export function renderVerifySummary(
  summary: VerifySummary,
  redact: (text: string) => string = (text) => text,
): string {
  const { passed, failed, deploymentUrl, durationSeconds } = summary
  const total = passed + failed
  const time = durationSeconds === undefined ? '' : ` in ${duration(durationSeconds * 1000)}`
  const green = failed === 0 && summary.reason === undefined
  const headline = green
    ? `## ✅ ${total === 1 ? 'The check passed' : `All ${total} checks passed`}${time}`
    : `## ❌ ${failed} of ${total} check${total === 1 ? '' : 's'} failed${time}`
  const warnings = summary.checks.flatMap((check) =>
    (check.warnings ?? []).map(
      (warning) => `- ⚠️ ${escapeMarkdown(check.name)}: ${escapeMarkdown(redact(warning))}`,
    ),
  )
  return [
    headline,
    summary.reason === undefined ? '' : `**Why:** ${escapeMarkdown(redact(summary.reason))}`,
    summary.hint === undefined ? '' : `**What to do:** ${sentence(redact(summary.hint))}`,
    deploymentUrl === undefined ? '' : `Agent server: ${link(deploymentUrl, deploymentUrl)}`,
    summary.checks.length === 0 ? '' : checksTable(summary.checks, redact),
    warnings.join('\n'),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}
