import * as core from '@actions/core'
import type { Log } from '../base/log.ts'
import { type LogLimits, neutralise, strip } from './neutralise.ts'
import type { Secrets } from './secrets.ts'

/** GitHub cuts the message of an annotation at 4096 characters; ours says itself that it was cut. */
const ANNOTATION: LogLimits = { lines: 60, columns: 2000 }
const ANNOTATION_LENGTH = 4000
const REMOTE: LogLimits = { lines: 1000, columns: 1000, prefix: '| ' }

/**
 * Text as it may be printed: secrets out, then control characters, then secrets again, because a NUL or a
 * colour in the middle hides a secret from the first pass; then no line of it is a command.
 */
export function safeText(secrets: Secrets, text: string, limits?: LogLimits): string {
  return neutralise(secrets.redact(strip(secrets.redact(text))), limits)
}

/** As `safeText`, short enough for an annotation. */
export function annotationText(secrets: Secrets, text: string, max = ANNOTATION_LENGTH): string {
  const safe = safeText(secrets, text, ANNOTATION)
  return safe.length <= max ? safe : `${safe.slice(0, max - 20)} … (cut)`
}

/** The job log, through the toolkit. */
export function createLog(secrets: Secrets): Log {
  let groups = 0
  const info = (message: string): void => core.info(safeText(secrets, message))
  const startGroup = (title: string): void => {
    // The runner knows no groups in groups: an inner one would end the outer one.
    if (groups++ === 0) core.startGroup(annotationText(secrets, title, 200))
    else info(title)
  }
  const endGroup = (): void => {
    if (--groups === 0) core.endGroup()
  }
  return {
    info,
    debug(message) {
      if (core.isDebug()) for (const line of safeText(secrets, message).split('\n')) core.debug(line)
    },
    warning(message) {
      core.warning(annotationText(secrets, message))
    },
    notice(message) {
      core.notice(annotationText(secrets, message))
    },
    async group(title, work) {
      startGroup(title)
      try {
        return await work()
      } finally {
        endGroup()
      }
    },
    remote(title, text) {
      startGroup(title)
      core.info(safeText(secrets, text, REMOTE))
      endGroup()
    },
  }
}
