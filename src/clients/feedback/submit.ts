import { Readable } from 'node:stream'
import type { Transport } from '../../http/transport.ts'
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
  const response = await transport.sendWithRetry(
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
  return response.status
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
  const response = await transport.send({
    method: 'GET',
    url: withQuery,
    name: FEEDBACK_URL_NAME,
    timeoutMs: Math.max(1, options.deadline - transport.clock.now()),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  })
  return response.status
}

/** A text goes bare, everything else as its JSON. */
function queryText(json: string): string {
  const value: unknown = JSON.parse(json)
  return typeof value === 'string' ? value : json
}
