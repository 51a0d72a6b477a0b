import { AgentDeployError } from '../base/errors.ts'
import { HttpError, NetworkError, RedirectError, TimeoutError } from '../http/errors.ts'
import type { CheckContext, Outcome, VerifyTarget } from './types.ts'

/**
 * The outcome for an error that ended a check. The reason has no word of the server in it; what an error answer
 * says of itself is `said`.
 * @param doing what was tried, to follow "while", e.g. `making a thread`
 * @throws the cancel, when the job was cancelled
 */
export function explain(
  error: unknown,
  context: Pick<CheckContext, 'target' | 'tools' | 'timeoutMs'>,
  doing: string,
): Outcome {
  context.tools.signal.throwIfAborted()
  if (error instanceof HttpError) return explainStatus(error, context.target, doing)
  if (error instanceof TimeoutError) {
    return {
      reason: `Not done within ${seconds(context.timeoutMs)}: the time ran out while ${doing}`,
      hint: 'The server is slow or stuck: look at its log. Where it is only slow, give the check more time with `within-seconds`, or all checks with `timeout-seconds`.',
    }
  }
  if (error instanceof NetworkError) {
    const code = error.code === '' ? '' : ` (${error.code})`
    return { reason: `No answer came while ${doing}${code}`, ...hintOf(error.hint) }
  }
  if (error instanceof RedirectError) {
    return {
      reason: `The server answered ${error.status}, a redirect to ${error.target}, while ${doing}`,
      hint: 'Redirects are never followed, because the key would go along. Give the deployment’s final URL.',
    }
  }
  if (error instanceof AgentDeployError) {
    return { reason: `${error.message} (while ${doing})`, ...hintOf(error.hint) }
  }
  const name = error instanceof Error ? error.name : typeof error
  return {
    reason: `An unexpected error (${name}) ended the check while ${doing}`,
    hint: 'This is a mistake in Agent Deploy: please report it, with the debug log.',
  }
}

function explainStatus(error: HttpError, target: VerifyTarget, doing: string): Outcome {
  const said = error.detail === '' ? {} : { said: error.detail }
  if (error.status === 401 || error.status === 403) return { ...refusedKey(error, target, doing), ...said }
  return {
    reason: `The server answered ${error.status} while ${doing}`,
    ...said,
    hint: error.hint ?? hintForStatus(error.status),
  }
}

/** No key, or a wrong one: which of the two is known from what was sent. */
function refusedKey(error: HttpError, target: VerifyTarget, doing: string): Outcome {
  const names = Object.keys(target.headers).map((name) => name.toLowerCase())
  const own = names.filter((name) => name !== 'x-api-key' && name !== 'x-tenant-id')
  if (!names.includes('x-api-key') && own.length === 0) {
    return {
      reason: `The server wants a key and none was sent: it answered ${error.status} while ${doing}`,
      hint: 'Give `api-key`; an agent with its own authentication wants `agent-headers` (lines such as `Authorization: Bearer …`).',
    }
  }
  const sent = names.includes('x-api-key') ? 'the key (`x-api-key`)' : `the headers (${own.join(', ')})`
  return {
    reason: `The server does not accept ${sent}: it answered ${error.status} while ${doing}`,
    hint: 'The key has to belong to the workspace of the deployment: look at `api-key`, and at `workspace-id` for an organisation’s key. An agent with its own authentication wants `agent-headers`.',
  }
}

function hintForStatus(status: number): string {
  if (status === 404) return 'Look at the deployment URL: this path is not served there.'
  if (status === 409) return 'Something else uses the same thing at the same time: run the checks again.'
  if (status === 422 || status === 400)
    return 'The server refuses a field of the request: look at `run`, `stream-mode`, `input` and the assistant’s fields in the check.'
  if (status === 429) return 'The server is asked too often: lower `concurrency`, or run the checks later.'
  return 'The server failed on its own: look at its log.'
}

/** Seconds without needless digits: `30 s`, `0.5 s`. */
export function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`
}

/** Names of the server (graphs, nodes) that may stand in a sentence of ours: plain ones, few, short. */
export function plainNames(names: readonly string[]): string {
  const plain = names.filter((name) => /^[\w.-]{1,64}$/.test(name))
  const shown = plain.slice(0, 20).join(', ')
  const hidden = names.length - Math.min(plain.length, 20)
  if (names.length === 0) return 'none'
  return hidden === 0 ? shown : [shown, `${hidden} more`].filter((part) => part !== '').join(' and ')
}

function hintOf(hint: string | undefined): { hint?: string } {
  return hint === undefined ? {} : { hint }
}
