import { messageOf } from '../../base/errors.ts'
import type { ControlPlane } from '../../clients/control-plane/api.ts'
import { interruptRevision } from '../../clients/control-plane/revisions.ts'
import { readProxySettings } from '../../http/proxy.ts'
import { Transport } from '../../http/transport.ts'
import type { Accepted, DeployRun } from './run.ts'

/** After SIGINT the runner waits 7.5 s in all; this leaves room for outputs and the GitHub status. */
const LAST_CALL_MS = 3_000

/**
 * Does one last thing at the control plane after the job was cancelled: the job's own transport refuses
 * everything by then. Best effort: a failure is one line in the log.
 */
export async function lastCall(
  run: DeployRun,
  what: string,
  work: (api: ControlPlane) => Promise<void>,
): Promise<boolean> {
  const { api, runner } = run
  const controller = new AbortController()
  const timer = setTimeout(
    () => controller.abort(new Error(`no answer within ${LAST_CALL_MS / 1000} s`)),
    LAST_CALL_MS,
  )
  const transport = new Transport({
    proxy: readProxySettings(runner.env),
    signal: controller.signal,
    clock: runner.clock,
    random: runner.random,
    userAgent: 'agent-deploy',
  })
  try {
    await work({ ...api, transport })
    return true
  } catch (error) {
    runner.log.info(`${what} did not succeed: ${messageOf(error)}`)
    return false
  } finally {
    clearTimeout(timer)
    await transport.close()
  }
}

/** `interrupt-on-cancel`: stops the revision that this run made. */
export async function interruptAfterCancel(run: DeployRun, accepted: Accepted | undefined): Promise<void> {
  if (accepted === undefined) return
  const { deploymentId, revisionId } = accepted
  const done = await lastCall(run, `The interruption of revision ${revisionId}`, (api) =>
    interruptRevision(api, deploymentId, revisionId, { once: true }),
  )
  if (done) run.runner.log.info(`Revision ${revisionId} was interrupted, as interrupt-on-cancel asks for`)
}
