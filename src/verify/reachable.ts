import { getInfo, getOk } from '../clients/agent-server/meta.ts'
import { HttpError, NetworkError, ProtocolError, RedirectError, TimeoutError } from '../http/errors.ts'
import { explain, seconds } from './explain.ts'
import { serverOf } from './server.ts'
import type { Outcome, ServerInfo, VerifyTarget, VerifyTools } from './types.ts'

/** One poll may take so long, in milliseconds. */
const POLL_TIMEOUT_MS = 10_000
/** Between polls: from the one to the other, in milliseconds. */
const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 5000

export type Reached = { readonly info: ServerInfo } | { readonly failed: Outcome }

/** Why a poll did not reach the server, as the end of a sentence; `final` when waiting cannot help. */
type Poll = Reached | { readonly notYet: Outcome }

/**
 * Waits until the agent server answers: `/ok`, then `/info`. A deployment that is live may answer 404, 502, 503
 * or refuse for a while, and an older revision may still answer (design, section 4, "Deployed is not yet
 * reachable").
 * @param reachableMs how long at most, in milliseconds
 * @throws only the cancel
 */
export async function waitUntilReachable(
  target: VerifyTarget,
  reachableMs: number,
  tools: VerifyTools,
): Promise<Reached> {
  const { clock, log, signal } = tools
  const deadline = clock.now() + reachableMs
  let told = ''
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 1.5, LONGEST_WAIT_MS)) {
    const poll = await pollOnce(target, deadline, tools)
    if (!('notYet' in poll)) return poll
    const { notYet } = poll
    if (clock.now() + wait >= deadline) {
      return {
        failed: {
          ...notYet,
          reason: `The agent server was not reachable within ${seconds(reachableMs)}: ${notYet.reason}`,
        },
      }
    }
    if (notYet.reason !== told) log.info(`Waiting for the agent server: ${notYet.reason}`)
    told = notYet.reason
    await clock.sleep(wait, signal)
  }
}

async function pollOnce(target: VerifyTarget, deadline: number, tools: VerifyTools): Promise<Poll> {
  const server = serverOf(target, tools)
  const options = { deadline, once: true, timeoutMs: POLL_TIMEOUT_MS }
  try {
    if (!(await getOk(server, options))) {
      return {
        notYet: {
          reason: '/ok answers something that is not an agent server’s answer',
          hint: 'Look at the deployment URL: a web page, a proxy or another service answers there.',
        },
      }
    }
  } catch (error) {
    return failedPoll(error, '/ok', target, tools)
  }
  let info: ServerInfo = {}
  try {
    info = await getInfo(server, options)
  } catch (error) {
    tools.signal.throwIfAborted()
    // `http.disable_meta` hides /info, and only that; an agent's own authentication may close it.
    const hidden = error instanceof HttpError && [401, 403, 404].includes(error.status)
    if (!hidden) return failedPoll(error, '/info', target, tools)
  }
  const { expectedRevisionId } = target
  const other = info.revisionId !== undefined && expectedRevisionId !== undefined
  if (other && info.revisionId?.toLowerCase() !== expectedRevisionId.toLowerCase()) {
    return {
      notYet: {
        reason: `/info names another revision (${plainId(info.revisionId ?? '')}) than the one that was deployed (${expectedRevisionId}): an old one still answers`,
        hint: 'The platform has not moved the traffic yet, or something else was deployed meanwhile: look at the revisions of the deployment.',
      },
    }
  }
  return { info }
}

/** Waiting helps against everything but a refused key and a redirect. */
function failedPoll(error: unknown, path: string, target: VerifyTarget, tools: VerifyTools): Poll {
  tools.signal.throwIfAborted()
  const look =
    'Look at the deployment URL and at the deployment’s log; a server that starts slowly wants more time (`timeout-seconds` in verify/, `timeout-minutes` in a deploy).'
  if (error instanceof HttpError && error.status !== 401 && error.status !== 403) {
    return { notYet: { reason: `${path} answered ${error.status}`, hint: look } }
  }
  if (error instanceof NetworkError) {
    const code = error.code === '' ? '' : ` (${error.code})`
    return { notYet: { reason: `${path} gave no answer${code}`, hint: error.hint ?? look } }
  }
  if (error instanceof TimeoutError || error instanceof ProtocolError) {
    const what =
      error instanceof TimeoutError ? 'did not answer in time' : 'gave an answer that cannot be read'
    return { notYet: { reason: `${path} ${what}`, hint: look } }
  }
  const outcome = explain(error, { target, tools, timeoutMs: POLL_TIMEOUT_MS }, `asking ${path}`)
  const known = error instanceof HttpError || error instanceof RedirectError
  return {
    failed: known ? { ...outcome, reason: `The agent server cannot be used: ${outcome.reason}` } : outcome,
  }
}

function plainId(id: string): string {
  return /^[\w.:-]{1,64}$/.test(id) ? id : 'of an odd form'
}
