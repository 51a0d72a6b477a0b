import { Readable } from 'node:stream'
import { HttpError } from '../../http/errors.ts'
import type { Response, Transport } from '../../http/transport.ts'
import { FEEDBACK_URL_NAME } from './url.ts'

export type FeedbackFieldName = 'score' | 'value' | 'comment' | 'correction' | 'metadata'

/** A field and its value as JSON text: so keys keep their order and numbers their digits. */
export type FeedbackField = readonly [name: FeedbackFieldName, json: string]

export interface SubmitOptions {
  /** Milliseconds since 1970, on the transport's clock. */
  readonly deadline: number
  readonly signal?: AbortSignal
}

/**
 * Submits feedback by `POST` with a JSON body (interface document, endpoint 12). No credential goes along:
 * the URL is one. Sent again only when the service provably did not take it, since each POST writes.
 * @param fields in the order in which they are sent
 * @returns the HTTP status, 2xx
 * @throws HttpError, RedirectError, and what else the transport throws; none of them shows the URL
 */
export async function postFeedback(
  transport: Transport,
  url: URL,
  fields: readonly FeedbackField[],
  options: SubmitOptions,
): Promise<number> {
  const body = Buffer.from(`{${fields.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`)
  const sent = transport.sendWithRetry(
    {
      method: 'POST',
      url,
      name: FEEDBACK_URL_NAME,
      headers: { 'content-type': 'application/json' },
      upload: { length: body.length, open: () => Readable.from([body]) },
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    },
    { deadline: options.deadline, retries: 3 },
  )
  return statusOf(sent)
}

/**
 * Submits feedback by `GET` with query parameters, `correction` as URL-encoded JSON. This GET writes, so it is
 * sent once, whatever comes. `metadata` is not known there: callers refuse it.
 * @returns the HTTP status, 2xx
 * @throws as `postFeedback`
 */
export async function getFeedback(
  transport: Transport,
  url: URL,
  fields: readonly FeedbackField[],
  options: SubmitOptions,
): Promise<number> {
  const withQuery = new URL(url)
  const query = fields.map(([name, json]) => `${name}=${encodeURIComponent(queryText(json))}`)
  withQuery.search = [url.search.slice(1), ...query].filter((part) => part !== '').join('&')
  withQuery.hash = ''
  const sent = transport.send({
    method: 'GET',
    url: withQuery,
    name: FEEDBACK_URL_NAME,
    timeoutMs: Math.max(1, options.deadline - transport.clock.now()),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  })
  return statusOf(sent)
}

/** @throws HttpError with what to do about it, which the service's own words do not say */
async function statusOf(sent: Promise<Response>): Promise<number> {
  try {
    return (await sent).status
  } catch (error) {
    if (!(error instanceof HttpError) || error.hint !== undefined) throw error
    throw new HttpError(error, error, hintFor(error.status))
  }
}

function hintFor(status: number): string {
  if (status === 422)
    return 'The service refuses a field: look at what it says about score, value, comment, correction and metadata.'
  if (status === 429 || status >= 500)
    return 'The service is busy or failed: run the step again while the URL lasts (3 hours).'
  return 'The URL is unknown or expired: it lasts 3 hours from the end of its run. Take a fresh one from the `feedback` event of a new run.'
}

/** A text goes bare, everything else as its JSON. */
function queryText(json: string): string {
  const value: unknown = JSON.parse(json)
  return typeof value === 'string' ? value : json
}
