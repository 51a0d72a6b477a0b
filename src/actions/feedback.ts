import { type FeedbackField, getFeedback, postFeedback } from '../clients/feedback/submit.ts'
import { feedbackSecrets, readFeedbackUrl } from '../clients/feedback/url.ts'
import { HttpError, RedirectError } from '../http/errors.ts'
import type { Story } from '../runner/run-action.ts'
import type { Runner } from '../runner/runner.ts'
import { jsonText, mappingText, numberText } from './feedback/json-text.ts'

/** All tries together, in milliseconds. */
const TIMEOUT_MS = 60_000

interface FeedbackInputs {
  readonly url: URL
  readonly method: 'POST' | 'GET'
  readonly fields: readonly FeedbackField[]
}

/** `feedback/`: submits feedback to a pre-signed URL; no credential is ever sent, nothing is written twice. */
export function feedbackStory(): Story {
  return { main }
}

async function main(runner: Runner): Promise<void> {
  const { url, method, fields } = readInputs(runner)
  const submit = method === 'GET' ? getFeedback : postFeedback
  const deadline = runner.clock.now() + TIMEOUT_MS
  try {
    const status = await submit(runner.transport, url, fields, { deadline, signal: runner.signal })
    runner.outputs.set('status', status)
    const names = fields.map(([name]) => name).join(', ')
    runner.log.info(`Feedback submitted by ${method} (${names}): the service answered ${status}`)
    runner.summary.append(`### ✅ Feedback submitted\n\n${names}: the service answered ${status}\n`)
  } catch (error) {
    if (error instanceof HttpError || error instanceof RedirectError)
      runner.outputs.set('status', error.status)
    runner.summary.append('### ❌ Feedback was not submitted\n\nThe error of the step says why.\n')
    throw error
  }
}

/** @throws InputError with everything that is wrong, before any request */
function readInputs(runner: Runner): FeedbackInputs {
  const { inputs } = runner
  const url = readUrl(runner)
  const method = inputs.oneOf('method', ['POST', 'GET']) ?? 'POST'
  const fields = readFields(runner)
  if (method === 'GET' && fields.some(([name]) => name === 'metadata')) {
    inputs.fault('metadata', 'cannot be sent by GET, expected `method: POST`, or no metadata')
  }
  if (fields.length === 0 && inputs.faults.length === 0) {
    inputs.fault(
      'score',
      'is missing, and so are the others: expected at least one of score, value, comment, correction and metadata',
    )
  }
  inputs.check()
  return { url: url as URL, method, fields }
}

/** The URL is a secret while it lasts, so it is masked before anything can print it. */
function readUrl(runner: Runner): URL | undefined {
  const { inputs, secrets } = runner
  const allowHttp = inputs.boolean('allow-http', false)
  const text = inputs.required('feedback-url')
  if (text === '') return undefined
  secrets.mask(text, 'feedback-url')
  const url = readFeedbackUrl(text, allowHttp)
  if (typeof url === 'string') {
    inputs.fault('feedback-url', `is no feedback URL, expected ${url}`)
    return undefined
  }
  for (const secret of feedbackSecrets(url)) secrets.mask(secret, 'feedback-url')
  return url
}

/** The fields that were given, in the order of the inputs. */
function readFields({ inputs }: Runner): FeedbackField[] {
  const fields: FeedbackField[] = []
  const read = (
    name: FeedbackField[0],
    toJson: (text: string) => string | undefined,
    expected: string,
  ): void => {
    const text = inputs.text(name)
    if (text === undefined) return
    const json = toJson(text)
    if (json !== undefined) fields.push([name, json])
    else inputs.fault(name, `is ${quote(text)}, expected ${expected}`)
  }
  read('score', numberText, 'a decimal number such as 1, -1 or 0.5')
  read('value', jsonText, 'a number or JSON (a text in double quotes: \'"good"\')')
  read('comment', JSON.stringify, 'a text')
  read('correction', mappingText, 'a JSON or YAML mapping such as {"answer": "42"}')
  read('metadata', mappingText, 'a JSON or YAML mapping such as {"source": "ci"}')
  return fields
}

function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)
}
