/**
 * The one base class of what this project throws on purpose: a message that names what was wrong, and a
 * hint that says what to do about it. The wrapper in `runner/` prints both; nobody parses a message.
 */
export class AgentDeployError extends Error {
  /** What the reader of the job log can do, one sentence or more; absent when there is nothing to do. */
  readonly hint: string | undefined

  constructor(message: string, options: { hint?: string | undefined; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = new.target.name
    this.hint = options.hint
  }
}

/** What an error says, whatever was thrown. May quote the service: for the log, never for an output. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The first line of that: for a sentence in the middle of a log. */
export function firstLineOf(error: unknown): string {
  return messageOf(error).split('\n')[0] ?? ''
}

/** What to do about an error, where it is one of ours and knows. */
export function hintOf(error: unknown): string | undefined {
  return error instanceof AgentDeployError ? error.hint : undefined
}

/** One wrong input: its name as `action.yml` has it, and a line that says what came and what was expected. */
export interface InputFault {
  readonly input: string
  readonly message: string
}

/** Wrong inputs, all of them at once. Thrown before the first request, so nothing has changed. */
export class InputError extends AgentDeployError {
  readonly faults: readonly InputFault[]

  constructor(faults: readonly InputFault[], options: { hint?: string | undefined } = {}) {
    super(faults.map((fault) => `Input "${fault.input}": ${fault.message}`).join('\n'), options)
    this.faults = faults
  }
}

/** The job was cancelled: SIGINT, SIGTERM or SIGBREAK reached the process. */
export class CancelledError extends AgentDeployError {}
