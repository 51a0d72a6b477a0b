import { shorten } from '../base/text.ts'

/** At most this many characters of an error answer are shown: it is a quote, not a report. */
const MAX_DETAIL = 2000

/**
 * What an error answer says of itself, and nothing else: of the control plane and the agent server only
 * `detail`, of an A2A endpoint only `error.code` and `error.message`. Other members can quote the request
 * (`input` and `ctx` of a validation error do), and requests carry secrets.
 * @param body the answer's text
 * @returns one line per item; "" for HTML, plain text and everything else
 */
export function errorDetail(body: string): string {
  return shorten(describe(body), MAX_DETAIL)
}

function describe(body: string): string {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return ''
  }
  if (!isRecord(value)) return ''
  if ('detail' in value) return describeDetail(value['detail'])
  if (isRecord(value['error'])) return describeJsonRpc(value['error'])
  return ''
}

function describeDetail(detail: unknown): string {
  if (typeof detail === 'string') return detail
  if (Array.isArray(detail))
    return detail
      .map(describeItem)
      .filter((line) => line !== '')
      .join('\n')
  if (isRecord(detail)) {
    const { error, message } = detail
    return [error, message].filter((part) => typeof part === 'string' && part !== '').join(': ')
  }
  return ''
}

/** FastAPI's validation item: `loc` joined by dots, then `msg`. */
function describeItem(item: unknown): string {
  if (typeof item === 'string') return item
  if (!isRecord(item)) return ''
  const loc = Array.isArray(item['loc'])
    ? item['loc'].filter((part) => ['string', 'number'].includes(typeof part))
    : []
  const msg = typeof item['msg'] === 'string' ? item['msg'] : ''
  return [loc.join('.'), msg].filter((part) => part !== '').join(': ')
}

function describeJsonRpc(error: Record<string, unknown>): string {
  const { code, message } = error
  return [code, message].filter((part) => typeof part === 'string' || typeof part === 'number').join(': ')
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
