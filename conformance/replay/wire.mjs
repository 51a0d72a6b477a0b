/** Sends a recorded request as it was, header by header: `fetch` would add an `accept` of its own. */
import { request as httpRequest } from 'node:http'

/**
 * @param {URL} url
 * @param {{method: string, headers: Record<string, string>, body: string}} request
 * @param {{timeoutMs?: number}} [options]
 * @returns {Promise<import('./exchanges.mjs').RecordedResponse>}
 */
export function send(url, request, { timeoutMs = 40_000 } = {}) {
  return new Promise((resolve, reject) => {
    const body = Buffer.from(request.body, 'utf8')
    const headers = { ...request.headers }
    if (body.length > 0) headers['content-length'] = String(body.length)
    else if (['POST', 'PUT', 'PATCH'].includes(request.method)) headers['content-length'] = '0'
    const outgoing = httpRequest(url, { method: request.method, headers, agent: false }, (incoming) => {
      const chunks = []
      incoming.on('data', (chunk) => chunks.push(chunk))
      incoming.on('error', reject)
      incoming.on('end', () => {
        resolve({
          status: incoming.statusCode ?? 0,
          headers: /** @type {Record<string, string>} */ (incoming.headers),
          body: Buffer.concat(chunks).toString('utf8'),
        })
      })
    })
    // Of the whole exchange: heartbeats keep a socket busy for ever.
    const timer = setTimeout(() => outgoing.destroy(new Error(`no end within ${timeoutMs} ms`)), timeoutMs)
    outgoing.on('close', () => clearTimeout(timer))
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
