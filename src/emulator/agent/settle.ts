import { RunError } from './errors.ts'
import { Cancelled } from './executor.ts'
import type { Run } from './run.ts'
import type { Checkpoint, Thread } from './store/threads.ts'
import { head } from './store/threads.ts'

type Json = Record<string, unknown>

/** Why a run was cancelled, and what becomes of it. `message` is what its thread tells (recorded). */
export interface CancelReason {
  /** `interrupt` keeps what the run wrote, `rollback` deletes the run and its checkpoints. */
  action: 'interrupt' | 'rollback'
  message: string
}

/** The route that a thread names when one of its runs was cancelled; A2A names the same. */
export const CANCEL_ROUTE = 'POST /threads/{thread_id}/runs/{run_id}/cancel'

/** A cancel that was asked for, in the words of 0.16.7. */
export function requested(action: CancelReason['action'], route = CANCEL_ROUTE): CancelReason {
  return { action, message: `${action} requested via ${route}` }
}

/** The thread before a run: what a rollback goes back to. */
export interface Before {
  checkpoint: Checkpoint | undefined
  values: Json | undefined
}

/** Brings a thread to what the end of a run leaves behind: values, status, error, interrupts. */
export function settle(
  thread: Thread,
  run: Run,
  end: { reason: CancelReason | undefined; before: Before; waiting: boolean; now: string },
): void {
  const { reason, before, now } = end
  run.updatedAt = now
  if (run.status === 'interrupted' && reason?.action === 'rollback') {
    thread.runs.delete(run.id)
    const kept = before.checkpoint === undefined ? 0 : thread.checkpoints.indexOf(before.checkpoint) + 1
    // A head that is no more among the kept ones was crowded out: then there is nothing to cut back to.
    if (kept > 0 || before.checkpoint === undefined) thread.checkpoints.length = kept
    thread.values = before.values
  } else if (run.status !== 'success') thread.values = run.lastValues ?? thread.values
  const last = head(thread)
  const open = last !== undefined && last.next.length > 0 && last.next[0] !== '__start__'
  thread.updatedAt = now
  thread.stateUpdatedAt = now
  thread.ran = true
  thread.error = run.error?.wire() ?? null
  if (run.status === 'interrupted' && reason !== undefined) {
    const error = reason.action === 'rollback' ? 'UserRollback' : 'UserInterrupt'
    thread.error = { error, message: reason.message }
  }
  thread.interrupts = {}
  for (const task of last?.tasks ?? []) {
    if (task.interrupts.length > 0) thread.interrupts[task.id] = task.interrupts
  }
  if (end.waiting) thread.status = 'busy'
  else if (run.status === 'error') thread.status = 'error'
  else thread.status = open ? 'interrupted' : 'idle'
}

/** What a stream or a join of a run that is not there tells. */
export function runNotFound(): { error: string; message: string } {
  return { error: 'HTTPException', message: '404: Run not found' }
}

/** What ends a run whose feedback URLs cannot be minted, after its output. */
export function feedbackError(profile: 'python' | 'js'): RunError {
  if (profile === 'python') return new RunError('LangSmithConnectionError', 'An internal error occurred')
  return new RunError('Error', 'Failed to create presigned feedback token. Received status [403]: Forbidden')
}

/** Waits real milliseconds; rejects with Cancelled as soon as the signal is aborted. */
export function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(new Cancelled())
      return
    }
    const onAbort = (): void => {
      clearTimeout(timer)
      reject(new Cancelled())
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }, milliseconds)
    signal.addEventListener('abort', onAbort, { once: true })
  })
}
