import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { ControlPlane } from '../clients/control-plane/api.ts'
import { getDeployment } from '../clients/control-plane/deployments.ts'
import { getRevision } from '../clients/control-plane/revisions.ts'
import type { Deployment, Revision } from '../clients/control-plane/wire.ts'
import { confirm, type Ours } from './confirm.ts'
import { ErrorBudget } from './error-budget.ts'
import { DeployError } from './errors.ts'
import { nextInterval } from './interval.ts'
import { kindOf, statusWord } from './statuses.ts'
import type { Timeline } from './timeline.ts'

/** `INTERRUPTED` has onward transitions, so it gets this long before it is an end (design, section 4, "Wait"). */
const INTERRUPTED_GRACE_MS = 60_000

export interface WaitOptions extends Ours {
  /** Milliseconds since 1970. */
  readonly deadline: number
  /** Bounds of the interval between polls in milliseconds. */
  readonly minMs: number
  readonly maxMs: number
  readonly log: Log
  readonly timeline: Timeline
  /** Told of each good poll: outputs, and the build log that streams along. */
  readonly onPoll?: (revision: Revision) => Promise<void>
}

export interface Live {
  readonly revision: Revision
  readonly deployment: Deployment
}

/**
 * Polls the revision we made, by id, until it is `DEPLOYED` and the one that serves.
 * @throws DeployError with the outcome of every other end: failed, superseded, interrupted, timed-out, error
 */
export async function waitForRevision(options: WaitOptions): Promise<Live> {
  const { api, log, timeline, deadline, deploymentId, revisionId } = options
  const { clock, signal } = api.transport
  const budget = new ErrorBudget(log)
  let status = ''
  let warned = false
  let unconfirmed: string | undefined
  let interruptedSince: number | undefined
  let pollsInStatus = 0

  for (;;) {
    const last = clock.now() >= deadline
    let pauseMs: number | undefined
    try {
      const call = { once: true, timeoutMs: pollTimeout(clock, deadline) }
      const revision = await getRevision(api, deploymentId, revisionId, call)
      const seen = statusWord(revision.status)
      if (seen !== status) {
        const after = timeline.enter(seen, clock.now())
        log.info(after === undefined ? seen : `${seen}, after ${after}`)
        status = seen
        pollsInStatus = 0
        interruptedSince = undefined
      }
      await options.onPoll?.(revision)
      switch (kindOf(revision.status)) {
        case 'deployed': {
          const confirmed = await confirm(options, revision, call)
          if (confirmed.verdict === 'live') return { revision, deployment: confirmed.deployment }
          const serving =
            confirmed.activeRevisionId === undefined
              ? 'the service names no revision that serves'
              : `the older revision ${confirmed.activeRevisionId} still serves`
          if (serving !== unconfirmed) log.info(`DEPLOYED, but ${serving}; waiting on`)
          unconfirmed = serving
          break
        }
        case 'failed':
          throw failed(status, revisionId)
        case 'superseded':
          throw await skipped(options)
        case 'interrupted':
          interruptedSince ??= clock.now()
          if (last || clock.now() - interruptedSince >= INTERRUPTED_GRACE_MS) throw interrupted(revisionId)
          break
        case 'unknown':
          if (!warned)
            log.warning(
              `The status "${status}" of revision ${revisionId} is not one that tells whether it lives; waiting on.`,
            )
          warned = true
          break
        case 'waiting':
          break
      }
      budget.good()
    } catch (error) {
      pauseMs = budget.spend(error, { revisionId })
    }
    if (last) {
      if (status === 'INTERRUPTED') throw interrupted(revisionId)
      throw timedOut(options, status, unconfirmed)
    }
    const intervalMs = nextInterval({
      status,
      polls: pollsInStatus,
      minMs: options.minMs,
      maxMs: options.maxMs,
    })
    pollsInStatus++
    // The last poll begins at the deadline itself, so that nothing which came in time is missed: not by a
    // pause, and not by a poll that hung.
    const untilMs = [Math.max(intervalMs, pauseMs ?? 0), deadline - clock.now()]
    const graceMs = (interruptedSince ?? 0) + INTERRUPTED_GRACE_MS - clock.now()
    if (graceMs > 0) untilMs.push(graceMs)
    await clock.sleep(Math.max(0, Math.min(...untilMs)), signal)
  }
}

/** A poll that hangs may not eat the wait, and the one at the deadline still gets a moment. */
function pollTimeout(clock: Clock, deadline: number): number {
  return Math.max(5_000, Math.min(30_000, deadline - clock.now()))
}

function failed(status: string, revisionId: string): DeployError {
  const hint = {
    CREATE_FAILED:
      'The service could not set the revision up: look at the resource spec, the secrets and the quota.',
    BUILD_FAILED:
      'The image could not be built: look at the build log, at langgraph.json and at the dependencies.',
    DEPLOY_FAILED:
      'The image was built, but the server did not get ready: look at the deploy log for a crash at start, a missing secret or too little memory.',
  }[status]
  return new DeployError('failed', `Revision ${revisionId} ended ${status}`, { hint })
}

function interrupted(revisionId: string): DeployError {
  return new DeployError('interrupted', `Revision ${revisionId} was interrupted`, {
    hint: 'Somebody, or another job with `interrupt-on-cancel`, stopped it. Run the job again.',
  })
}

async function skipped({ api, deploymentId, revisionId }: Ours): Promise<DeployError> {
  const winner = await newest(api, deploymentId, revisionId)
  const by = winner === undefined ? 'a newer one' : winner
  return new DeployError('superseded', `Revision ${revisionId} was SKIPPED: superseded by ${by}`, {
    hint: 'A newer revision of this deployment took its place. Put a `concurrency` group on the job, so that two runs do not race.',
  })
}

/** The revision that won, as well as it can be told; best effort. */
async function newest(
  api: ControlPlane,
  deploymentId: string,
  revisionId: string,
): Promise<string | undefined> {
  try {
    const { latest_revision_id: latest, active_revision_id: active } = await getDeployment(
      api,
      deploymentId,
      { retries: 2 },
    )
    return [latest, active].find((id): id is string => typeof id === 'string' && id !== revisionId)
  } catch (error) {
    if (api.transport.signal.aborted) throw error
    return undefined
  }
}

function timedOut({ revisionId }: WaitOptions, status: string, unconfirmed: string | undefined): DeployError {
  if (status === 'DEPLOYED') {
    const why = unconfirmed ?? 'whether it serves could not be read'
    return new DeployError('timed-out', `Revision ${revisionId} is DEPLOYED, but ${why}`, {
      hint: 'Look at the deployment in LangSmith; raise `timeout-minutes` if the change of traffic is only slow.',
    })
  }
  const at = status === '' ? 'no status of it could be read' : `it is ${status}`
  const stuck = status === 'CREATING' || status === 'QUEUED'
  return new DeployError('timed-out', `Revision ${revisionId} was not live in time: ${at}`, {
    hint: stuck
      ? 'An older revision is probably stuck before it: look at the deployment in LangSmith and interrupt that one. `interrupt-on-cancel: true` keeps jobs from leaving such revisions behind.'
      : 'Raise `timeout-minutes`: a first deploy takes about 15 minutes. Unless it was interrupted, the revision goes on and may get live after this job (`interrupt-on-cancel: true` interrupts it).',
  })
}
