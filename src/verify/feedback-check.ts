import { type FeedbackField, type FeedbackFieldName, postFeedback } from '../clients/feedback/submit.ts'
import { feedbackSecrets, readFeedbackUrl } from '../clients/feedback/url.ts'
import { HttpError } from '../http/errors.ts'
import type { FeedbackSubmission, FeedbackWish } from './checks.ts'
import { explain } from './explain.ts'
import { type CheckContext, type Outcome, PASSED } from './types.ts'

/**
 * The feedback of one run: the `feedback` event must carry exactly the keys that were asked for, each with a
 * URL of a feedback token; then what is to be submitted is, key by key in the order of the check, without any
 * credential. The URLs are masked before anything else is done with them.
 * @param urls data of the `feedback` event as it came; undefined when none came
 * @throws only when the job was cancelled
 */
export async function feedbackOutcome(
  wish: FeedbackWish,
  urls: unknown,
  context: CheckContext,
): Promise<Outcome> {
  const { tools, target } = context
  const given = isRecord(urls) ? urls : {}
  for (const url of Object.values(given)) {
    if (typeof url === 'string') mask(url, tools.mask)
  }
  const wrongKeys = compareKeys(wish, given)
  if (wrongKeys !== undefined) return wrongKeys

  for (const { key, submit } of wish) {
    const url = readFeedbackUrl(String(given[key]), target.allowHttp)
    if (typeof url === 'string') {
      return {
        reason: `The feedback URL of ${JSON.stringify(key)} is not one: expected was ${url}`,
        hint: 'Look at LANGSMITH_ENDPOINT of the deployment: the server mints feedback URLs there.',
      }
    }
    if (submit === undefined) continue
    try {
      const options = { deadline: context.deadline, signal: tools.signal }
      await postFeedback(tools.transport, url, fieldsOf(submit), options)
    } catch (error) {
      return refused(error, key, context)
    }
  }
  return PASSED
}

/** The URL is no part of the deployment, so a refusal says nothing about the deployment's key. */
function refused(error: unknown, key: string, context: CheckContext): Outcome {
  const doing = `submitting feedback ${JSON.stringify(key)}`
  if (!(error instanceof HttpError)) return explain(error, context, doing)
  return {
    reason: `The feedback URL answered ${error.status} while ${doing}`,
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    ...(error.detail === '' ? {} : { said: error.detail }),
  }
}

function compareKeys(wish: FeedbackWish, given: Readonly<Record<string, unknown>>): Outcome | undefined {
  const asked = new Set(wish.map(({ key }) => key))
  const missing = [...asked].filter((key) => !Object.hasOwn(given, key))
  const extra = Object.keys(given).filter((key) => !asked.has(key)).length
  if (missing.length === 0 && extra === 0) return undefined
  const lacks = missing.map((key) => JSON.stringify(key)).join(', ')
  return {
    reason:
      missing.length > 0
        ? `The server gave no feedback URL for ${lacks}`
        : `The server gave ${extra} feedback URL${extra === 1 ? '' : 's'} more than were asked for`,
    hint: 'The server mints feedback URLs at LangSmith: look at LANGSMITH_API_KEY and tracing of the deployment.',
  }
}

/** The fields as they were given, in their order. */
function fieldsOf(submission: FeedbackSubmission): FeedbackField[] {
  return Object.entries(submission)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name as FeedbackFieldName, JSON.stringify(value)])
}

function mask(text: string, register: (secret: string) => void): void {
  const secrets = URL.canParse(text) ? feedbackSecrets(new URL(text)) : [text]
  for (const secret of new Set([text, ...secrets])) if (secret !== '') register(secret)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
