import { type AgentDeployError, firstLineOf } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { HttpError, RedirectError, RequestError } from '../http/errors.ts'
import { DeployError } from './errors.ts'

/** Failed polls in a row that are borne; with the default interval a bit over three minutes of outage. */
const BUDGET = 15

/**
 * A failed poll is not a failed deploy. This counts the failures since the last good poll, of every kind, and
 * says when there were too many or when waiting on cannot help.
 */
export class ErrorBudget {
  readonly #log: Log
  #spent = 0
  #hadGood = false

  constructor(log: Log) {
    this.#log = log
  }

  good(): void {
    if (this.#spent > 0)
      this.#log.info(
        `The service answers again, after ${this.#spent} failed ${this.#spent === 1 ? 'poll' : 'polls'}`,
      )
    this.#spent = 0
    this.#hadGood = true
  }

  /**
   * Counts one failure.
   * @returns what the service asked for by `Retry-After`, in milliseconds; 0 when it did not
   * @throws DeployError with outcome `error` when the wait is over; the error itself when it was no failed request
   */
  spend(error: unknown, facts: { revisionId: string }): number {
    if (!(error instanceof RequestError)) throw error
    const over = this.#finalReason(error, facts.revisionId)
    if (over !== undefined) throw over
    this.#spent++
    if (this.#spent >= BUDGET) {
      throw new DeployError('error', `${this.#spent} polls of revision ${facts.revisionId} in a row failed`, {
        cause: error,
        hint: 'The revision goes on without this job. Look at the last error in the log and at the service’s status page, then run the job again.',
      })
    }
    if (this.#spent === 1)
      this.#log.info(
        `A poll failed, which says nothing about the revision; waiting on: ${firstLineOf(error)}`,
      )
    return Math.min(error instanceof HttpError ? (error.retryAfterMs ?? 0) : 0, 120_000)
  }

  #finalReason(error: AgentDeployError, revisionId: string): DeployError | undefined {
    if (error instanceof RedirectError) {
      return new DeployError(
        'error',
        `A poll of revision ${revisionId} was answered by a redirect (${error.status})`,
        {
          cause: error,
          hint: error.hint,
        },
      )
    }
    if (!(error instanceof HttpError)) return undefined
    if (error.status === 404) {
      return new DeployError('error', `The service does not know revision ${revisionId} any more (404)`, {
        cause: error,
        hint: 'The deployment was probably deleted while this job waited.',
      })
    }
    if (error.status === 401 || (error.status === 403 && this.#hadGood)) {
      return new DeployError(
        'error',
        `The key was refused (${error.status}) while revision ${revisionId} was waited for`,
        {
          cause: error,
          hint: 'The key expired or was revoked during the wait; the revision goes on. Store a new key and run the job again.',
        },
      )
    }
    return undefined
  }
}
