import { AgentDeployError, CancelledError, InputError } from '../base/errors.ts'
import { HttpError, RequestError } from '../http/errors.ts'
import { RedactedSecretsError } from './secrets/index.ts'

/** How a run can end; the last eight are red. A minor version may add words. */
export type Outcome =
  | 'deployed'
  | 'triggered'
  | 'planned'
  | 'failed'
  | 'timed-out'
  | 'superseded'
  | 'interrupted'
  | 'cancelled'
  | 'verification-failed'
  | 'rolled-back'
  | 'error'

/** An end that is not an error of a request: the service did something else than what was asked for. */
export class DeployError extends AgentDeployError {
  readonly outcome: Outcome
  /** For `failure-reason`, where the message quotes the service; absent: the message is all our own. */
  readonly reason: string | undefined

  constructor(
    outcome: Outcome,
    message: string,
    options: { hint?: string | undefined; cause?: unknown; reason?: string | undefined } = {},
  ) {
    super(message, options)
    this.outcome = outcome
    this.reason = options.reason
  }
}

/** The `outcome` of an error. */
export function outcomeOf(error: unknown): Outcome {
  if (error instanceof DeployError) return error.outcome
  return error instanceof CancelledError ? 'cancelled' : 'error'
}

/**
 * The output `failure-reason`: one line, our own sentence (status codes, field names, ids), no remote text, so
 * that a workflow can use it in a script.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof HttpError) return `${error.method} ${error.url} answered ${error.status}`
  if (error instanceof InputError) {
    return `wrong inputs: ${[...new Set(error.faults.map((fault) => fault.input))].join(', ')}`
  }
  if (error instanceof DeployError && error.reason !== undefined) return oneLine(error.reason)
  // Their names come from the service.
  if (error instanceof RedactedSecretsError)
    return 'the deployment has secrets that are not given here, and the service does not show their values'
  if (error instanceof RequestError || error instanceof AgentDeployError) return oneLine(error.message)
  return 'internal error of this action'
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
