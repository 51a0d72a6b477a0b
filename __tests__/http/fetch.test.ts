import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from '@jest/globals'
import { NetworkError, ProtocolError, RedirectError, TimeoutError } from '../../src/http/errors.ts'
import { type Fetch, makeFetch } from '../../src/http/fetch.ts'
import { readProxySettings } from '../../src/http/proxy.ts'

let server: Server | undefined
const cancel = new AbortController()

afterEach(async () => {
  server?.closeAllConnections()
  await new Promise((done) => (server === undefined ? done(undefined) : server.close(done)))
  server = undefined
})

async function serve(listener: RequestListener): Promise<string> {
  const made = createServer(listener)
  server = made
  await new Promise<void>((ready) => made.listen(0, '127.0.0.1', ready))
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}/path?token=hush`
}

function fetchWith(options: { timeoutMs?: number; graceMs?: number; signal?: AbortSignal } = {}): Fetch {
  return makeFetch({
    proxy: readProxySettings({}),
    timeoutMs: 5_000,
    maxBytes: 1_000,
    signal: cancel.signal,
    graceMs: 100,
    ...options,
  })
}

const failureOf = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => {
      throw new Error('it did not fail')
    },
    (error: unknown) => error as Error,
  )

describe('makeFetch', () => {
  it('sends method, headers and body, and gives status, headers and text of any status', async () => {
    const url = await serve((request, response) => {
      let body = ''
      request.setEncoding('utf8').on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () => {
        response.writeHead(418, { 'x-seen': `${request.method} ${request.headers['x-one']}` }).end(body)
      })
    })
    const answer = await fetchWith()(url, { method: 'POST', headers: { 'x-one': '1' }, body: 'hello' })
    expect([answer.status, answer.headers.get('x-seen'), await answer.text()]).toEqual([
      418,
      'POST 1',
      'hello',
    ])
  })

  it.each([204, 205, 304])('takes %i, which has no body', async (status) => {
    const url = await serve((_request, response) => response.writeHead(status).end())
    const answer = await fetchWith()(url)
    expect([answer.status, await answer.text()]).toEqual([status, ''])
  })

  it.each([301, 302, 303, 307, 308])('does not follow %i', async (status) => {
    let asked = 0
    const url = await serve((_request, response) => {
      asked += 1
      response.writeHead(status, { location: 'https://elsewhere.example/?key=hush' }).end()
    })
    const error = await failureOf(fetchWith()(url))
    expect(error).toBeInstanceOf(RedirectError)
    expect(error.message).toContain('host elsewhere.example')
    expect(error.message).not.toContain('hush')
    expect(asked).toBe(1)
  })

  it.each([
    ['plain', (text: Buffer) => text, {}],
    ['compressed', (text: Buffer) => gzipSync(text), { 'content-encoding': 'gzip' }],
  ])('refuses a body over the limit, %s', async (_how, encode, headers) => {
    const url = await serve((_request, response) =>
      response.writeHead(200, headers).end(encode(Buffer.alloc(1_001))),
    )
    expect(await failureOf(fetchWith()(url))).toBeInstanceOf(ProtocolError)
  })

  it('takes a body at the limit', async () => {
    const url = await serve((_request, response) => response.end(Buffer.alloc(1_000)))
    expect((await (await fetchWith()(url)).arrayBuffer()).byteLength).toBe(1_000)
  })

  it.each<[string, RequestListener]>([
    ['is silent', () => {}],
    ['stops in the middle of the body', (_request, response) => void response.write('half')],
    [
      'trickles',
      (_request, response) => {
        const timer = setInterval(() => response.write('.'), 20)
        response.on('close', () => clearInterval(timer))
      },
    ],
  ])('gives up at the deadline when the server %s', async (_how, listener) => {
    const error = await failureOf(fetchWith({ timeoutMs: 200 })(await serve(listener)))
    expect(error).toBeInstanceOf(TimeoutError)
    expect(error.message).not.toContain('hush')
  })

  it('tells a refused and a broken connection', async () => {
    const url = await serve((request) => request.socket.destroy())
    expect(await failureOf(fetchWith()(url))).toBeInstanceOf(NetworkError)
    server?.closeAllConnections()
    await new Promise((done) => server?.close(done))
    server = undefined
    const refused = await failureOf(fetchWith()(url))
    expect(refused).toMatchObject({ code: 'ECONNREFUSED', neverSent: true })
  })

  it('gives a request under way a little more when the job is cancelled, and one begun afterwards no more', async () => {
    const job = new AbortController()
    const url = await serve((_request, response) => {
      setTimeout(() => response.end('late'), 150)
    })
    const patient = fetchWith({ signal: job.signal, graceMs: 3_000 })(url)
    const hasty = failureOf(fetchWith({ signal: job.signal, graceMs: 10 })(url))
    setTimeout(() => job.abort(new Error('cancelled')), 50)
    expect(await (await patient).text()).toBe('late')
    expect(await hasty).toBeInstanceOf(TimeoutError)
    expect(await failureOf(fetchWith({ signal: job.signal, graceMs: 10 })(url))).toBeInstanceOf(TimeoutError)
  })
})
