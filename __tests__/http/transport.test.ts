import { Readable } from 'node:stream'
import { afterEach, describe, expect, it } from '@jest/globals'
import { systemClock } from '../../src/base/clock.ts'
import { CancelledError } from '../../src/base/errors.ts'
import { HttpError, NetworkError, ProtocolError, RedirectError, TimeoutError } from '../../src/http/errors.ts'
import { readProxySettings } from '../../src/http/proxy.ts'
import { type Request, Transport } from '../../src/http/transport.ts'
import {
  type Answer,
  type HostileServer,
  type Script,
  startHostileServer,
} from '../helpers/hostile-server.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function serve(script: Script): Promise<HostileServer> {
  const server = await startHostileServer({ '/x': script })
  closing.push(server.close)
  return server
}

function makeTransport(signal = new AbortController().signal, lines: string[] = []): Transport {
  const transport = new Transport({
    proxy: readProxySettings({}),
    signal,
    clock: systemClock,
    random: () => 0,
    userAgent: 'test/1',
    onExchange: (line) => lines.push(line),
  })
  closing.push(() => transport.close())
  return transport
}

async function ask(script: Script, part: Partial<Request> = {}) {
  const server = await serve(script)
  const request: Request = { method: 'GET', url: new URL(`${server.url}/x`), ...part }
  const answer = await makeTransport()
    .send(request)
    .catch((error: unknown) => error)
  return { answer, server }
}

async function fail<T>(
  kind: new (...args: never[]) => T,
  script: Script,
  part: Partial<Request> = {},
): Promise<T> {
  const { answer } = await ask(script, part)
  expect(answer).toBeInstanceOf(kind)
  return answer as T
}

describe('what is sent', () => {
  it('is JSON with our headers over our own', async () => {
    const { server } = await ask(
      { body: {} },
      { method: 'POST', json: { a: 'é' }, headers: { 'x-api-key': 'k', accept: 'text/plain' } },
    )
    expect(server.requests[0]).toMatchObject({
      method: 'POST',
      body: '{"a":"é"}',
      headers: {
        'content-type': 'application/json',
        accept: 'text/plain',
        'x-api-key': 'k',
        'user-agent': 'test/1',
        'content-length': '10',
      },
    })
  })

  it('is an upload with its length, not in chunks', async () => {
    const { server } = await ask(
      { body: {} },
      {
        method: 'PUT',
        upload: { length: 6, open: () => Readable.from([Buffer.from('abc'), Buffer.from('def')]) },
      },
    )
    expect(server.requests[0]?.body).toBe('abcdef')
    expect(server.requests[0]?.headers['content-length']).toBe('6')
    expect(server.requests[0]?.headers['transfer-encoding']).toBeUndefined()
  })

  it('is told for debugging without its query', async () => {
    const server = await serve({ body: {} })
    const lines: string[] = []
    await makeTransport(undefined, lines).send({
      method: 'GET',
      url: new URL(`${server.url}/x?token=canary`),
    })
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/^GET http:\/\/127\.0\.0\.1:\d+\/x answered 200 after \d+ ms$/)
  })
})

describe('what comes back', () => {
  it('is text, headers and JSON', async () => {
    const { answer } = await ask({ body: { a: 1 }, headers: { 'x-one': '1', 'x-two': ['a', 'b'] } })
    const response = answer as Awaited<ReturnType<Transport['send']>>
    expect(response.status).toBe(200)
    expect(response.json()).toEqual({ a: 1 })
    expect(response.header('x-one')).toBe('1')
    expect(response.header('x-two')).toBe('a, b')
    expect(response.header('x-none')).toBeUndefined()
  })

  it('is decoded, whether it was asked for or not', async () => {
    const { answer } = await ask({ gzip: '{"a":"é"}' })
    expect((answer as { json(): unknown }).json()).toEqual({ a: 'é' })
  })

  it('may be nothing', async () => {
    expect(await ask({ status: 204 })).toMatchObject({ answer: { status: 204, text: '' } })
    expect(await ask({ status: 204, headers: { 'content-encoding': 'gzip' } })).toMatchObject({
      answer: { status: 204, text: '' },
    })
  })

  it('is an error where JSON was wanted and none came', async () => {
    const { answer } = await ask({ body: '<html>' })
    expect(() => (answer as { json(): unknown }).json()).toThrow(ProtocolError)
  })

  it.each(['zstd', 'gzip, gzip', 'x'])('is an error in the unknown coding %s', async (coding) => {
    const error = await fail(ProtocolError, { body: 'x', headers: { 'content-encoding': coding } })
    expect(error.message).toContain('content-encoding')
  })

  it('is an error where gzip was said and none came', async () => {
    await fail(NetworkError, { body: '{"plain": true}', headers: { 'content-encoding': 'gzip' } })
  })
})

describe('redirects', () => {
  it.each([301, 302, 303, 307, 308])('are not followed: %d', async (status) => {
    const other = await startHostileServer({ '*': { body: {} } })
    closing.push(other.close)
    const error = await fail(
      RedirectError,
      { status, headers: { location: `${other.url}/stolen?key=canary` } },
      { method: 'POST', json: {}, headers: { 'x-api-key': 'canary' } },
    )
    expect(other.requests).toEqual([])
    expect(other.connections()).toBe(0)
    expect(error.message).toContain(`127.0.0.1:${other.port}`)
    expect(error.message).not.toContain('canary')
    expect(error.message).not.toContain('stolen')
  })

  it.each([
    ['/relative?key=canary', 'another path of the same host'],
    ['//evil.example/p?key=canary', 'host evil.example'],
    ['https://me:canary@evil.example/', 'host evil.example'],
    ['javascript:canary', 'another path'],
    ['http://[', 'not a URL'],
    ['', 'nowhere'],
  ])('to %j are named by host only', async (location, named) => {
    const error = await fail(RedirectError, { status: 302, headers: { location } })
    expect(error.message).toContain(named)
    expect(error.message).not.toContain('canary')
  })

  it('without a target are redirects too', async () => {
    expect((await fail(RedirectError, { status: 304 })).target).toContain('no Location')
  })
})

describe('error answers', () => {
  it('tell their detail and nothing else', async () => {
    const error = await fail(
      HttpError,
      {
        status: 422,
        body: {
          detail: [{ loc: ['body', 'name'], msg: 'bad', input: 'canary', ctx: { x: 'canary' } }],
          other: 'canary',
        },
      },
      { method: 'POST', json: {} },
    )
    expect(error).toMatchObject({ status: 422, detail: 'body.name: bad' })
    expect(error.message).toMatch(/^POST http:\/\/127\.0\.0\.1:\d+\/x answered 422: body\.name: bad$/)
    expect(JSON.stringify(error)).not.toContain('canary')
  })

  it('are named instead of their URL where that is a secret', async () => {
    const error = await fail(HttpError, { status: 500 }, { name: 'the feedback URL' })
    expect(error.message).toBe('GET the feedback URL answered 500')
  })

  it.each<[string, Answer]>([
    ['never ends', { status: 503, endless: 'plain' }],
    ['is a bomb', { status: 503, endless: 'gzip' }],
    ['stops in the middle', { status: 503, pieces: ['{"detail":'], end: false }],
    ['comes byte by byte', { status: 503, pieces: Array(500).fill('x'), everyMs: 20 }],
    ['is no gzip', { status: 503, body: 'x', headers: { 'content-encoding': 'gzip' } }],
    ['is of an unknown coding', { status: 503, body: 'x', headers: { 'content-encoding': 'zstd' } }],
  ])('keep their status when the body %s', async (_, answer) => {
    const error = await fail(HttpError, answer, { timeoutMs: 700, idleTimeoutMs: 600 })
    expect(error).toMatchObject({ status: 503, detail: '' })
  })

  it('tell Retry-After', async () => {
    const at = (value: string) => fail(HttpError, { status: 503, headers: { 'retry-after': value } })
    expect((await at('3')).retryAfterMs).toBe(3000)
    expect((await at('soon')).retryAfterMs).toBeUndefined()
  })
})

describe('limits', () => {
  it.each<[string, Answer]>([
    ['an endless body', { endless: 'plain' }],
    ['a gzip bomb', { endless: 'gzip' }],
    ['a large body with its length', { body: 'x'.repeat(200_000) }],
    ['many small pieces', { pieces: Array(300).fill('x'.repeat(1000)), everyMs: 0 }],
  ])('end %s', async (_, answer) => {
    const before = process.memoryUsage().arrayBuffers
    const error = await fail(ProtocolError, answer, { maxBytes: 100_000 })
    expect(error.message).toContain('larger than 100000 bytes')
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100_000_000)
  })

  it('let a body of exactly the limit through', async () => {
    expect(await ask({ body: 'x'.repeat(1000) }, { maxBytes: 1000 })).toMatchObject({
      answer: { status: 200 },
    })
    await fail(ProtocolError, { body: 'x'.repeat(1001) }, { maxBytes: 1000 })
  })

  it('refuse headers without end', async () => {
    const error = await fail(NetworkError, { hugeHeader: 300_000 })
    expect(error.code).toBe('UND_ERR_HEADERS_OVERFLOW')
  })
})

describe('deadlines', () => {
  it('end a request that is never answered', async () => {
    const error = await fail(TimeoutError, { hang: true }, { timeoutMs: 300 })
    expect(error.message).toMatch(/was not done within 0\.3 s$/)
    expect(error.hint).toBeDefined()
  })

  it('end a wait for the first byte', async () => {
    const error = await fail(TimeoutError, { hang: true }, { headersTimeoutMs: 1000, timeoutMs: 20_000 })
    expect(error.message).toContain('no answer began')
  })

  it('end a body that stops', async () => {
    const error = await fail(
      TimeoutError,
      { pieces: ['{"a":'], end: false },
      { idleTimeoutMs: 1000, timeoutMs: 20_000 },
    )
    expect(error.message).toContain('no byte came')
  })

  it('end a body that trickles on', async () => {
    const error = await fail(
      TimeoutError,
      { pieces: Array(1000).fill('x'), everyMs: 20 },
      { timeoutMs: 500, idleTimeoutMs: 400 },
    )
    expect(error.message).toContain('was not done')
  })

  it('leave no connection behind', async () => {
    const { server } = await ask({ hang: true }, { timeoutMs: 100 })
    await until(() => server.open() === 0)
  })
})

describe('broken connections', () => {
  it('tell a refused one from one that was sent', async () => {
    const server = await startHostileServer()
    await server.close()
    const error = (await makeTransport()
      .send({ method: 'POST', url: new URL(`${server.url}/x`), json: {} })
      .catch((thrown: unknown) => thrown)) as NetworkError
    expect(error).toBeInstanceOf(NetworkError)
    expect(error).toMatchObject({ code: 'ECONNREFUSED', neverSent: true })
    expect(error.hint).toContain('Nothing listens')
  })

  it('name a host that is not there', async () => {
    const error = (await makeTransport()
      .send({ method: 'GET', url: new URL('https://no-such-host.invalid/') })
      .catch((thrown: unknown) => thrown)) as NetworkError
    expect(error).toBeInstanceOf(NetworkError)
    expect(['ENOTFOUND', 'EAI_AGAIN']).toContain(error.code)
    expect(error.neverSent).toBe(true)
  })

  it.each(['before', 'head', 'body'] as const)('may have been sent when reset: %s', async (reset) => {
    const error = await fail(NetworkError, { reset })
    expect(error.neverSent).toBe(false)
  })

  it.each([
    ['no HTTP', 'SSH-2.0-OpenSSH\r\n'],
    ['less than its length', 'HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{}'],
    ['nothing', ''],
    ['a status line only', 'HTTP/1.1 200'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}x'],
    ['a bad chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'],
  ])('are errors when %s comes', async (_, raw) => {
    const error = await fail(NetworkError, { raw })
    expect(error.neverSent).toBe(false)
  })
})

describe('a cancel', () => {
  const cancelled = new CancelledError('stop')

  it.each<[string, Answer]>([
    ['waiting for the answer', { hang: true }],
    ['reading the body', { pieces: ['{'], end: false }],
    ['reading an endless body', { endless: 'plain' }],
    ['reading an error', { status: 500, pieces: ['{'], end: false }],
  ])('while %s ends it with the reason', async (_, answer) => {
    const server = await serve(answer)
    const controller = new AbortController()
    const sending = makeTransport(controller.signal).send({
      method: 'GET',
      url: new URL(`${server.url}/x`),
      maxBytes: Number.MAX_SAFE_INTEGER,
    })
    await until(() => server.requests.length === 1)
    setTimeout(() => controller.abort(cancelled), 50)
    await expect(sending).rejects.toBe(cancelled)
    await until(() => server.open() === 0)
  })

  it('of the request itself works the same', async () => {
    const server = await serve({ status: 500, pieces: ['{'], end: false })
    const controller = new AbortController()
    setTimeout(() => controller.abort(cancelled), 100)
    const sending = makeTransport().send({
      method: 'GET',
      url: new URL(`${server.url}/x`),
      signal: controller.signal,
    })
    await expect(sending).rejects.toBe(cancelled)
  })

  it('before the request sends nothing', async () => {
    const server = await serve({ body: {} })
    const sending = makeTransport(AbortSignal.abort(cancelled)).send({
      method: 'GET',
      url: new URL(`${server.url}/x`),
    })
    await expect(sending).rejects.toBe(cancelled)
    expect(server.connections()).toBe(0)
  })
})

describe('streams', () => {
  it('come as they are sent, and are closed when the caller stops', async () => {
    const server = await serve({ pieces: ['one', 'two', 'three'], everyMs: 50, end: false })
    const stream = await makeTransport().stream({ method: 'GET', url: new URL(`${server.url}/x`) })
    let text = ''
    for await (const chunk of stream.chunks) {
      text += Buffer.from(chunk).toString()
      if (text.endsWith('two')) break
    }
    stream.close()
    stream.close()
    expect(text).toBe('onetwo')
    await until(() => server.open() === 0)
  })

  it('end by their deadline, however much comes', async () => {
    const server = await serve({ pieces: Array(1000).fill(': heartbeat\n'), everyMs: 20 })
    const stream = await makeTransport().stream({
      method: 'GET',
      url: new URL(`${server.url}/x`),
      timeoutMs: 400,
    })
    await expect(drain(stream.chunks)).rejects.toBeInstanceOf(TimeoutError)
  })

  it('end with an error when they break', async () => {
    const server = await serve({ reset: 'body' })
    const stream = await makeTransport().stream({ method: 'GET', url: new URL(`${server.url}/x`) })
    await expect(drain(stream.chunks)).rejects.toBeInstanceOf(NetworkError)
  })

  it('throw an error answer before anything is read', async () => {
    const server = await serve({ status: 403, body: { detail: 'no' } })
    const opening = makeTransport().stream({ method: 'GET', url: new URL(`${server.url}/x`) })
    await expect(opening).rejects.toMatchObject({ status: 403, detail: 'no' })
  })
})

describe('connections', () => {
  it('are kept between requests and closed in the end', async () => {
    const server = await serve({ body: {} })
    const transport = makeTransport()
    for (let index = 0; index < 20; index++)
      await transport.send({ method: 'GET', url: new URL(`${server.url}/x`) })
    // undici opens a second one when it is asked again before it noticed that the first is free.
    expect(server.connections()).toBeLessThanOrEqual(2)
    await transport.close()
    await until(() => server.open() === 0)
  })
})

async function drain(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of chunks);
}

async function until(isDone: () => boolean): Promise<void> {
  while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 5))
}
