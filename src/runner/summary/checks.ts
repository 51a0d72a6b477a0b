import { shorten } from '../../base/text.ts'
import { duration } from '../gantt.ts'
import { cell, sentence, table } from '../markdown.ts'

/** A check as it is shown. `said` is remote text. */
export interface CheckRow {
  readonly name: string
  readonly verdict: string
  readonly reason: string
  readonly seconds: number
  readonly said?: string | undefined
  readonly hint?: string | undefined
}

/** What an agent said, in a table: the first words. In characters. */
const MAX_SAID = 300
const MAX_CHECKS = 200

/**
 * Check, verdict, time and what came back.
 * @param redact takes secrets out of remote text, before it is escaped and cut
 */
export function checksTable(checks: readonly CheckRow[], redact: (text: string) => string): string {
  const rows = checks
    .slice(0, MAX_CHECKS)
    .map((check) => [
      cell(check.name),
      check.verdict === 'passed' ? '✅ passed' : `❌ ${cell(check.verdict)}`,
      duration(check.seconds * 1000),
      answer(check, redact),
    ])
  const left = checks.length - rows.length
  const more = left > 0 ? `\n\n… and ${left} more checks` : ''
  return `${table(['Check', 'Verdict', 'Time', 'What came back'], rows)}${more}`
}

function answer(check: CheckRow, redact: (text: string) => string): string {
  const said = redact(check.said ?? '').trim()
  const lines = [
    check.reason === '' ? '' : cell(redact(check.reason)),
    said === '' ? '' : `“${cell(shorten(said, MAX_SAID))}”`,
    check.hint === undefined || check.hint === '' ? '' : `→ ${sentence(redact(check.hint))}`,
  ]
  return lines.filter((line) => line !== '').join('<br>') || '–'
}
