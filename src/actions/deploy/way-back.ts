import { hintOf } from '../../base/errors.ts'
import { DeployError, outcomeOf, reasonOf } from '../../deploy/errors.ts'
import { deploymentUrl } from '../../deploy/links.ts'
import { mayRollBack, NoRollbackError, startRollback } from '../../deploy/rollback.ts'
import { Timeline } from '../../deploy/timeline.ts'
import { runChecks, waitUntilLive } from './prove.ts'
import type { Accepted, DeployRun } from './run.ts'

/**
 * `on-failure: rollback` after a failed deploy or failed checks.
 * @param failure what ended the deploy
 * @returns the error to end with: `rolled-back`, or the first failure with both reasons
 */
export async function rollBack(run: DeployRun, accepted: Accepted, failure: unknown): Promise<unknown> {
  const { api, inputs, record, runner } = run
  if (!inputs.rollback || !mayRollBack(outcomeOf(failure))) return failure
  const { deploymentId, previousActive, previousRevision } = accepted
  try {
    return await runner.log.group('Roll back', async () => {
      const revisionId = await startRollback({
        api,
        deploymentId,
        ourRevisionId: accepted.revisionId,
        latestBefore: accepted.latestBefore,
        previousRevisionId: previousRevision,
        previousServed: previousActive !== undefined,
        stillWalks: outcomeOf(failure) === 'timed-out' && !inputs.interruptOnCancel,
        log: runner.log,
      })
      runner.log.info(`Rolling back to revision ${previousRevision ?? ''} as ${revisionId}`)
      const deadline = runner.clock.now() + inputs.timeoutMs
      const back = {
        ...accepted,
        revisionId,
        previousActive: accepted.revisionId,
        latestBefore: accepted.revisionId,
        from: undefined,
        expectedCommit: undefined,
        ourBuild: false,
      }
      const live = await waitUntilLive(run, back, new Timeline(), deadline)
      const verified = await verifyAgain(run, live.deployment, revisionId, deadline)
      record.rollback = `Revision ${previousRevision ?? ''} serves again, as revision ${revisionId}. ${verified}`
      return new DeployError(
        'rolled-back',
        `${reasonOf(failure)}. Rolled back: revision ${revisionId} (${previousRevision ?? ''} again) serves`,
        {
          cause: failure,
          hint: hintOf(failure),
        },
      )
    })
  } catch (error) {
    if (runner.signal.aborted) throw error
    const why =
      error instanceof NoRollbackError ? error.message : `The rollback did not succeed: ${reasonOf(error)}`
    record.rollback = `${why}.`
    return new DeployError(outcomeOf(failure), `${reasonOf(failure)}. ${why}`, {
      cause: failure,
      hint: hintOf(failure),
    })
  }
}

/** The checks after a rollback are told in the log only: `verification` stays that of our revision. */
async function verifyAgain(
  run: DeployRun,
  deployment: Parameters<typeof deploymentUrl>[0],
  revisionId: string,
  deadline: number,
): Promise<string> {
  const url = deploymentUrl(deployment, run.inputs.allowHttp)
  if (run.inputs.verify === undefined || url === undefined) return 'It was not verified.'
  const { report } = await runChecks(run, url, revisionId, deadline)
  if (report.failed === 0) return 'It passes the checks.'
  throw new DeployError(
    'verification-failed',
    `the older revision serves again, but ${report.failed} of ${report.checks.length} checks fail on it too`,
  )
}
