import { SandboxError, waitForSandbox } from '../clients/sandboxes/wait.ts'
import { HttpError } from '../http/errors.ts'
import type { SandboxCheck } from './checks.ts'
import { explain } from './explain.ts'
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
    return explainSandbox(error, check.sandbox, context)
  }
}

function explainSandbox(error: unknown, name: string, context: CheckContext): Outcome {
  if (error instanceof SandboxError) {
    const said = error.sandbox?.statusMessage ?? ''
    return { reason: error.reason, ...hintOf(error.hint), ...(said === '' ? {} : { said }) }
  }
  // The sandbox service is another host than the deployment, so its refusals are told apart.
  if (error instanceof HttpError) {
    const what = error.status === 404 ? `There is no sandbox ${JSON.stringify(name)} (404)` : undefined
    return {
      reason: what ?? `The sandbox service answered ${error.status}`,
      ...hintOf(error.hint),
      ...(error.detail === '' ? {} : { said: error.detail }),
    }
  }
  return explain(error, context, `reading sandbox ${JSON.stringify(name)}`)
}

function hintOf(hint: string | undefined): { hint?: string } {
  return hint === undefined ? {} : { hint }
}
