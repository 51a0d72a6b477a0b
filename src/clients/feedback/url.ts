import { readUrl, URL_EXPECTATION } from '../../http/url.ts'

/** Shown in place of a feedback URL, which is a credential while it lasts (3 hours by default). */
export const FEEDBACK_URL_NAME = 'the feedback URL'

/** `<feedback_url>/api/v1/feedback/tokens/<token_id>` (interface document, "Feedback keys and feedback URLs"). */
const TOKEN_PATH = /\/api\/v1\/feedback\/tokens\/[^/]+$/

/**
 * Reads a feedback URL: `https:` (or `http:` for loopback or with `allowHttp`), no user name, and the path of
 * a feedback token. A wrong host cannot be told, but a wrong URL must not be written to.
 * @returns the URL, or a sentence of what was expected, which never quotes it
 */
export function readFeedbackUrl(text: string, allowHttp: boolean): URL | string {
  const url = readUrl(text, allowHttp)
  if (typeof url === 'string') return URL_EXPECTATION[url]
  if (!TOKEN_PATH.test(url.pathname)) return 'a path that ends in /api/v1/feedback/tokens/<id>'
  return url
}

/** A mask this short would blank the log; real tokens are UUIDs. */
const SHORTEST_MASK = 6

/** What of a feedback URL must not be seen in a log: the whole, and the token alone. */
export function feedbackSecrets(url: URL): string[] {
  const token = url.pathname.slice(url.pathname.lastIndexOf('/') + 1)
  return token.length < SHORTEST_MASK ? [url.href] : [url.href, token]
}
