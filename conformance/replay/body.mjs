/** Bodies as the comparison sees them: JSON, an event stream, or text. */

/**
 * @typedef {{event: string | undefined, data: unknown, id: string | undefined, order: string}} StreamEvent
 * @typedef {{kind: 'empty'} | {kind: 'json', value: unknown} | {kind: 'stream', events: StreamEvent[], lineEnd: string}
 *   | {kind: 'text', value: string}} Body
 */

/**
 * @param {import('./exchanges.mjs').RecordedResponse} response
 * @returns {Body}
 */
export function readBody(response) {
  if (response.body === '') return { kind: 'empty' }
  if ((response.headers['content-type'] ?? '').startsWith('text/event-stream'))
    return readStream(response.body)
  const value = readJson(response.body)
  return value === undefined ? { kind: 'text', value: response.body } : { kind: 'json', value }
}

/** Heartbeats are left out: when they come is a matter of time. */
function readStream(text) {
  const lineEnd = text.includes('\r\n') ? (/(^|[^\r])\n/.test(text) ? 'mixed' : 'CRLF') : 'LF'
  const events = text
    .split(/\r?\n\r?\n/)
    .filter((block) => block !== '' && !/^(:[^\n]*\r?\n?)+$/.test(block))
    .map((block) => {
      const fields = block.split(/\r?\n/).filter((line) => !line.startsWith(':'))
      const get = (name) => fields.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
      const data = get('data')
      return {
        event: get('event'),
        data: data === undefined ? undefined : (readJson(data) ?? data),
        id: get('id'),
        order: fields.map((line) => line.slice(0, line.indexOf(':'))).join(','),
      }
    })
  return { kind: 'stream', events, lineEnd }
}

function readJson(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
