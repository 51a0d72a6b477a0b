import { SandboxError, waitForSandbox } from '../clients/sandboxes/wait.ts'
import type { SandboxCheck } from './checks.ts'
import { requestFault } from './request-fault.ts'
import { type CheckContext, type Outcome, PASSED } from './types.ts'

/**
 * Runs a `sandbox` check: waits until the sandbox has the wanted status. `failed`, `stopped` and `deleting`
 * end it at once unless wanted, and so does a name that the service does not know.
 * @throws only when the job was cancelled
 */
export async function checkSandbox(check: SandboxCheck, context: CheckContext): Promise<Outcome> {
  const { target, tools } = context
  const { sandbox: service } = target
  if (service === undefined) {
    return {
      reason: 'No sandbox service is known to this run',
      hint: 'Set `sandbox-url`, and `api-key`, which the sandbox service needs.',
    }
  }
  const { status, withinMs } = check.expect
  try {
    await waitForSandbox({ transport: tools.transport, ...service }, check.sandbox, {
      wanted: status,
      deadline: withinMs === undefined ? context.deadline : tools.clock.now() + withinMs,
      timeoutMs: withinMs ?? context.timeoutMs,
      clock: tools.clock,
      signal: tools.signal,
    })
    return PASSED
  } catch (error) {
    tools.signal.throwIfAborted()
    if (!(error instanceof SandboxError)) return requestFault(error)
    const said = error.sandbox?.statusMessage ?? ''
    return {
      reason: error.reason,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      ...(said === '' ? {} : { said }),
    }
  }
}
