import * as core from '@actions/core'
import { CancelledError } from '../base/errors.ts'
import { createRunner, type OwnedRunner } from './create-runner.ts'
import { describeFailure } from './failure.ts'
import { annotationText, safeText } from './log.ts'
import type { Runner } from './runner.ts'

/** What one action does. */
export interface Story {
  /** The work. Throwing makes the step red. */
  main(runner: Runner): Promise<void>
  /**
   * Called when `main` threw, before the error is annotated: the place for outputs and summary. `error` is
   * what `main` threw. At most 4 s when the job was cancelled; outputs that matter come first.
   */
  failed?(runner: Runner, error: unknown): Promise<void>
}

/**
 * Milliseconds after a signal. The job's runner sends SIGINT, 7.5 s later SIGTERM, 2.5 s later SIGKILL
 * (actions/runner, src/Runner.Sdk/ProcessInvoker.cs); we are gone before the second.
 */
const CANCEL = { main: 2_000, failed: 4_000, exit: 4_800 }

/** What still holds the process when all is done and printed (a socket, a timer) may do so for this long, in ms. */
const LINGER = { normal: 3_000, cancelled: 50 }

/**
 * Runs an action: the one catch of the project. Never throws; sets `process.exitCode` to 0 or 1, writes one
 * error annotation when it is 1, the outputs and the summary in either case. A signal aborts
 * `runner.signal`; the process then ends within 5 s, whatever the story does. A second signal changes nothing.
 */
export async function runAction(story: Story): Promise<void> {
  // Red until the end was reached: a process that ends in the middle must not be green.
  process.exitCode = 1
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const cancel = new AbortController()
  const owned = createRunner(process.env, cancel.signal)
  const crash = Promise.withResolvers<never>()
  crash.promise.catch(() => {})
  const clock = onSignal(cancel)
  const unwatch = onCrash(crash.reject)

  const work = async (): Promise<void> => {
    owned.checkEnvironment()
    await story.main(owned.runner)
  }
  try {
    await Promise.race([work(), crash.promise, clock.cancelled(CANCEL.main)])
    process.exitCode = 0
  } catch (thrown) {
    const error = cancel.signal.aborted ? (cancel.signal.reason as unknown) : thrown
    await tell(story, owned, error, clock)
  }
  // Work that the story left behind (it was deaf, or its error came from elsewhere) ends here.
  const cancelled = cancel.signal.aborted
  cancel.abort(new CancelledError('The action has ended'))
  await settle(() => owned.summary.write(), clock, owned, 'The summary cannot be written')
  await settle(() => owned.close(), clock, owned, 'The connections cannot be closed')
  await Promise.race([drained(), clock.cancelled(CANCEL.exit).catch(() => {})])
  unwatch()
  clock.stop()
  // Nothing is pending but what the story forgot; unref'd, so it costs nothing when there is none.
  setTimeout(() => process.exit(), cancelled ? LINGER.cancelled : LINGER.normal).unref()
}

async function tell(story: Story, owned: OwnedRunner, error: unknown, clock: SignalClock): Promise<void> {
  const { runner, secrets } = owned
  await settle(() => story.failed?.(runner, error), clock, owned, 'The failure cannot be told in full')
  const failure = describeFailure(error)
  for (const cause of failure.causes) runner.log.info(`Caused by: ${cause}`)
  if (failure.stack !== undefined) runner.log.debug(failure.stack)
  const message = annotationText(secrets, failure.message)
  const title = safeText(secrets, failure.title, { lines: 1 })
  core.error(message, title === message ? {} : { title })
}

/** Waits for work of the end; what goes wrong in it is told, and never hides the error before it. */
async function settle(
  work: () => Promise<unknown> | undefined,
  clock: SignalClock,
  owned: OwnedRunner,
  message: string,
): Promise<void> {
  try {
    await Promise.race([work(), clock.cancelled(CANCEL.failed)])
  } catch (error) {
    if (error instanceof CancelledError) return
    const failure = describeFailure(error)
    owned.runner.log.warning(`${message}: ${failure.message}`)
    if (failure.stack !== undefined) owned.runner.log.debug(failure.stack)
  }
}

interface SignalClock {
  /** Rejects with the CancelledError this many milliseconds after a signal; never without one. */
  cancelled(ms: number): Promise<never>
  /** Ends the timers, so that the process can end by itself. */
  stop(): void
}

function onSignal(cancel: AbortController): SignalClock {
  const timers = new Set<NodeJS.Timeout>()
  const waiting: { ms: number; reject: (error: unknown) => void }[] = []
  let at = 0
  const arm = (ms: number, act: () => void): void => {
    timers.add(setTimeout(act, Math.max(0, at + ms - Date.now())))
  }
  const names: NodeJS.Signals[] = [
    'SIGINT',
    'SIGTERM',
    ...(process.platform === 'win32' ? ['SIGBREAK' as const] : []),
  ]
  for (const name of names) {
    process.on(name, () => {
      if (cancel.signal.aborted) return
      at = Date.now()
      core.info(`Received ${name}: stopping`)
      cancel.abort(
        new CancelledError('The job was cancelled, or its time ran out', {
          hint: 'What the service has accepted goes on there. A job or step with its own timeout-minutes needs more than this action’s.',
        }),
      )
      for (const { ms, reject } of waiting) arm(ms, () => reject(cancel.signal.reason))
      // The last resort: outputs were written at once, the rest had its time.
      arm(CANCEL.exit, () => process.exit(1))
    })
  }
  return {
    cancelled(ms) {
      const { promise, reject } = Promise.withResolvers<never>()
      promise.catch(() => {})
      if (at === 0) waiting.push({ ms, reject })
      else arm(ms, () => reject(cancel.signal.reason))
      return promise
    },
    stop() {
      for (const timer of timers) clearTimeout(timer)
      waiting.length = 0
    },
  }
}

/** What nobody caught would be printed by Node as it is, commands of a remote text included. */
function onCrash(reject: (error: unknown) => void): () => void {
  // An empty event loop with the work undone would end the process as if all were well.
  const onEmpty = (): void => reject(new Error('nothing was left to wait for, but the work was not done'))
  process.on('uncaughtException', reject)
  process.on('unhandledRejection', reject)
  process.once('beforeExit', onEmpty)
  return () => {
    process.off('beforeExit', onEmpty)
  }
}

/** Until what was printed has left the process: exiting earlier cuts a long log. */
async function drained(): Promise<void> {
  const flush = (stream: NodeJS.WriteStream): Promise<void> =>
    new Promise((resolve) => {
      if (!stream.writable) resolve()
      else stream.write('', () => resolve())
    })
  await Promise.all([flush(process.stdout), flush(process.stderr)])
}
