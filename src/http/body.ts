import type { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { ProtocolError, type RequestFacts } from './errors.ts'

/**
 * The body after its content coding was undone. undici's `request()` never decodes, and servers compress
 * without being asked.
 * @throws ProtocolError for a coding that nobody here knows
 */
export function decode(request: RequestFacts, body: Readable, coding: string | undefined): Readable {
  const decoder = {
    gzip: createGunzip,
    'x-gzip': createGunzip,
    deflate: createInflate,
    br: createBrotliDecompress,
  }
  const name = (coding ?? '').trim().toLowerCase()
  if (name === '' || name === 'identity') return body
  const create = decoder[name as keyof typeof decoder]
  if (create === undefined) {
    throw new ProtocolError(
      request,
      `${request.method} ${request.url}: the answer has an unknown content-encoding`,
      {
        hint: 'Only gzip, deflate and br are understood. Look at the proxy in between.',
      },
    )
  }
  const decoded = create()
  body.on('error', (error) => decoded.destroy(error))
  // Whoever reads gets the error; a body that nobody reads (a redirect's) must not end the process with it.
  decoded.on('error', () => {})
  return body.pipe(decoded)
}

/**
 * Reads a body to its end.
 * @param maxBytes limit in bytes, counted after decoding, so that a compressed bomb is cut too
 * @returns the text (UTF-8)
 * @throws ProtocolError when the body is larger
 */
export async function readText(request: RequestFacts, body: Readable, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    const bytes = chunk as Buffer
    size += bytes.length
    if (size > maxBytes) {
      throw new ProtocolError(
        request,
        `${request.method} ${request.url}: the answer is larger than ${maxBytes} bytes, which no answer of this service is`,
        { hint: 'Look at the URL: something other than the service seems to answer there.' },
      )
    }
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8')
}
