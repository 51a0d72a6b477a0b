import { afterEach, describe, expect, it } from '@jest/globals'
import type { Clock } from '../../src/base/clock.ts'
import { CancelledError } from '../../src/base/errors.ts'
import { HttpError, NetworkError, ProtocolError, RedirectError, TimeoutError } from '../../src/http/errors.ts'
import { proxyError } from '../../src/http/fault.ts'
import { readProxySettings } from '../../src/http/proxy.ts'
import { isAmbiguous, mayRetry, type RetryOptions, waitBefore } from '../../src/http/retry.ts'
import { type Method, Transport } from '../../src/http/transport.ts'
import { type HostileServer, type Script, startHostileServer } from '../helpers/hostile-server.ts'

const facts = { method: 'X', url: 'https://host/' }
const http = (status: number, retryAfterMs?: number) =>
  new HttpError(facts, { status, detail: '', retryAfterMs })
const network = (code: string, neverSent: boolean) => new NetworkError(facts, code, undefined, { neverSent })

/** What may be sent again: of a GET, of a POST; and whether a POST's end is open. */
const TABLE: [string, unknown, boolean, boolean, boolean][] = [
  ['400', http(400), false, false, false],
  ['401', http(401), false, false, false],
  ['404', http(404), false, false, false],
  ['409', http(409), false, false, false],
  ['422', http(422), false, false, false],
  ['429', http(429), true, true, false],
  ['429 with Retry-After', http(429, 5000), true, true, false],
  ['500', http(500), true, false, true],
  ['502', http(502), true, false, true],
  ['503', http(503), true, false, true],
  ['503 with Retry-After', http(503, 0), true, true, false],
  ['504', http(504), true, false, true],
  ['a redirect', new RedirectError(facts, 302, 'host x'), false, false, false],
  ['a refused connection', network('ECONNREFUSED', true), true, true, false],
  ['a reset', network('ECONNRESET', false), true, false, true],
  ['an unknown authority', network('DEPTH_ZERO_SELF_SIGNED_CERT', true), false, false, false],
  ['a proxy that wants a password', proxyError(facts, 407), false, false, false],
  ['a proxy that cannot connect', proxyError(facts, 502), true, true, false],
  ['a passed deadline', new TimeoutError(facts, 1, 'x'), true, false, true],
  ['no JSON', new ProtocolError(facts, 'x'), false, false, true],
  ['a cancel', new CancelledError('x'), false, false, false],
  ['a bug', new TypeError('x'), false, false, false],
]

describe('the table of retries', () => {
  it.each(TABLE)('%s', (_, error, get, post, ambiguous) => {
    expect(mayRetry('GET', error)).toBe(get)
    expect(mayRetry('DELETE', error)).toBe(get)
    expect(mayRetry('PUT', error)).toBe(get)
    expect(mayRetry('POST', error)).toBe(post)
    expect(mayRetry('PATCH', error)).toBe(post)
    expect(isAmbiguous(error)).toBe(ambiguous)
  })

  it('waits longer each time, never past fifteen seconds, and at least what Retry-After says', () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 20].map((attempt) => waitBefore(attempt, http(500), () => 0.999_999))
    for (const [index, wait] of waits.entries()) {
      expect(wait).toBeLessThanOrEqual(15_000)
      expect(wait).toBeGreaterThanOrEqual(waits[index - 1] ?? 0)
    }
    expect(waitBefore(1, http(500), () => 0)).toBeGreaterThanOrEqual(250)
    expect(waitBefore(1, http(429, 40_000), () => 0)).toBe(40_000)
  })
})

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** Time passes only where it is slept. */
function fakeClock(): Clock & { readonly slept: number[] } {
  let now = 1_000_000
  const slept: number[] = []
  return {
    slept,
    now: () => now,
    async sleep(ms, signal) {
      signal?.throwIfAborted()
      slept.push(ms)
      now += ms
    },
  }
}

async function send(
  method: Method,
  script: Script,
  options: RetryOptions = {},
  signal = new AbortController().signal,
) {
  const server: HostileServer = await startHostileServer({ '/x': script })
  const clock = fakeClock()
  const transport = new Transport({
    proxy: readProxySettings({}),
    signal,
    clock,
    random: () => 0.5,
    userAgent: 'test',
  })
  closing.push(() => transport.close(), server.close)
  const told: string[] = []
  const result = await transport
    .sendWithRetry(
      {
        method,
        url: new URL(`${server.url}/x`),
        ...(method === 'GET' ? {} : { json: { a: 1 } }),
        timeoutMs: 2_000,
      },
      { onRetry: (error, waitMs) => told.push(`${error.message} / ${waitMs}`), ...options },
    )
    .catch((error: unknown) => error)
  return { result, tries: server.requests.length, slept: clock.slept, told, server }
}

describe('sendWithRetry', () => {
  it('tries a GET until it is answered, and says so each time', async () => {
    const { result, tries, slept, told } = await send('GET', [
      { status: 500 },
      { reset: 'before' },
      { status: 429 },
      { body: { a: 1 } },
    ])
    expect(result).toMatchObject({ status: 200 })
    expect(tries).toBe(4)
    expect(slept).toHaveLength(3)
    expect(told).toHaveLength(3)
    expect(told[0]).toContain('answered 500 / ')
  })

  it('gives up after the tries it has, with the last error', async () => {
    const { result, tries } = await send('GET', [{ status: 500 }, { status: 502 }, { status: 504 }], {
      retries: 2,
    })
    expect(result).toMatchObject({ status: 504 })
    expect(tries).toBe(3)
  })

  it.each<[string, Script]>([
    ['500', { status: 500 }],
    ['503 without Retry-After', { status: 503 }],
    ['a reset', { reset: 'before' }],
    ['a reset in the body', { reset: 'body' }],
    ['422', { status: 422 }],
    ['a redirect', { status: 307, headers: { location: '/y' } }],
  ])('sends a POST once only after %s', async (_, script) => {
    const { result, tries, slept } = await send('POST', script)
    expect(result).toBeInstanceOf(Error)
    expect(tries).toBe(1)
    expect(slept).toEqual([])
  })

  it('sends a POST again after 429 and 503 with Retry-After, with the same body', async () => {
    const { result, tries, slept, server } = await send('POST', [
      { status: 429, headers: { 'retry-after': '7' } },
      { status: 503, headers: { 'retry-after': '30' } },
      { body: {} },
    ])
    expect(result).toMatchObject({ status: 200 })
    expect(tries).toBe(3)
    expect(slept).toEqual([7_000, 30_000])
    expect(server.requests.map((request) => request.body)).toEqual(['{"a":1}', '{"a":1}', '{"a":1}'])
  })

  it('does not wait past the deadline: the error comes at once', async () => {
    const { result, tries, slept } = await send(
      'GET',
      { status: 503, headers: { 'retry-after': '3600' } },
      { deadline: 1_000_000 + 120_000 },
    )
    expect(result).toMatchObject({ status: 503 })
    expect(tries).toBe(1)
    expect(slept).toEqual([])
  })

  it('ends with the reason of a cancel, without another try', async () => {
    const controller = new AbortController()
    const reason = new CancelledError('stop')
    const { result, tries } = await send(
      'GET',
      () => {
        setTimeout(() => controller.abort(reason), 20)
        return { status: 500, delayMs: 100 }
      },
      {},
      controller.signal,
    )
    expect(result).toBe(reason)
    expect(tries).toBe(1)
  })

  it('ends a wait when cancelled', async () => {
    const controller = new AbortController()
    const reason = new CancelledError('stop')
    const { result, tries } = await send(
      'GET',
      { status: 500 },
      { onRetry: () => controller.abort(reason) },
      controller.signal,
    )
    expect(result).toBe(reason)
    expect(tries).toBe(1)
  })
})
