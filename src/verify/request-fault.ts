import { AgentDeployError } from '../base/errors.ts'
import { HttpError, RequestError } from '../http/errors.ts'
import type { Outcome } from './types.ts'

/** What to do about a status of an agent server, whatever was asked. */
const HINTS: Record<number, string> = {
  401: 'No key or a wrong key: look at `api-key` (expired, revoked, of another workspace), or at `agent-headers` where the agent has its own authentication.',
  403: 'No key or a wrong key: look at `api-key` (expired, revoked, of another workspace) and `workspace-id`, or at `agent-headers` where the agent has its own authentication.',
  404: 'Look at the deployment URL, and at whether the agent’s own routes hide this one.',
  429: 'The server asks to slow down: lower `concurrency`, or run the checks again later.',
}

/**
 * A failed request as an outcome: method, URL and status in our own words, what the server said apart.
 * @param error what a client threw
 * @throws the error itself when it is none of ours: a bug must not look like a wrong answer
 */
export function requestFault(error: unknown): Outcome {
  if (error instanceof HttpError) {
    const { status } = error
    const refused = status === 401 || status === 403
    const hint =
      error.hint ??
      HINTS[status] ??
      (status >= 500 ? 'The server failed inside: look at the deployment’s log.' : undefined)
    return {
      reason: `${error.method} ${error.url} ${refused ? `refused the key (${status})` : `answered ${status}`}`,
      ...(hint === undefined ? {} : { hint }),
      ...(error.detail === '' ? {} : { said: error.detail }),
    }
  }
  if (error instanceof RequestError || error instanceof AgentDeployError) {
    return { reason: error.message, ...(error.hint === undefined ? {} : { hint: error.hint }) }
  }
  throw error
}
