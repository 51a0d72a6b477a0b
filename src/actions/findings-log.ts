import type { Log } from '../base/log.ts'
import type { Report } from '../verify/types.ts'

/** One line for each check, and what the agent said where a check failed. */
export function logFindings(log: Log, report: Report): void {
  for (const check of report.checks) {
    const time = `${check.seconds.toFixed(1)} s`
    if (check.verdict === 'passed') {
      log.info(`passed: ${check.name} (${time})`)
    } else {
      log.info(`FAILED: ${check.name} (${time}): ${check.reason}`)
      if (check.hint !== undefined) log.info(`  What to do: ${check.hint}`)
      if (check.said !== undefined && check.said !== '')
        log.remote(`What came back to "${check.name}"`, check.said)
    }
    for (const warning of check.warnings ?? []) log.warning(`${check.name}: ${warning}`)
  }
}
