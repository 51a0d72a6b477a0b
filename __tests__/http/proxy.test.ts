import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from '@jest/globals'
import { systemClock } from '../../src/base/clock.ts'
import { NetworkError } from '../../src/http/errors.ts'
import { readProxySettings } from '../../src/http/proxy.ts'
import { Transport } from '../../src/http/transport.ts'
import { runStep } from '../helpers/action.ts'
import { startHostileServer } from '../helpers/hostile-server.ts'
import { startTestProxy } from '../helpers/test-proxy.ts'
import { TEST_CERTIFICATE } from '../helpers/tls.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function setUp(options: { tls?: boolean; login?: string; refuse?: number } = {}) {
  const server = await startHostileServer({ '*': { body: { ok: true } } }, { tls: options.tls ?? false })
  const proxy = await startTestProxy(server.port, options)
  closing.push(proxy.close, server.close)
  return {
    server,
    proxy,
    proxyUrl: (login = '') => `http://${login === '' ? '' : `${login}@`}127.0.0.1:${proxy.port}`,
  }
}

async function get(url: string, env: Record<string, string>) {
  const transport = new Transport({
    proxy: readProxySettings(env),
    signal: new AbortController().signal,
    clock: systemClock,
    random: () => 0,
    userAgent: 'test/1',
  })
  closing.push(() => transport.close())
  return transport
    .send({ method: 'GET', url: new URL(url), headers: { 'x-api-key': 'canary' }, timeoutMs: 10_000 })
    .catch((error: unknown) => error)
}

describe('readProxySettings', () => {
  it('prefers the lower-case names, as curl does', () => {
    expect(
      readProxySettings({ HTTPS_PROXY: 'http://upper', https_proxy: 'http://lower', NO_PROXY: 'a' }),
    ).toMatchObject({
      httpsProxy: 'http://lower',
      httpProxy: undefined,
      noProxy: 'a',
    })
    expect(readProxySettings({ https_proxy: ' ', HTTPS_PROXY: 'http://upper' }).httpsProxy).toBe(
      'http://upper',
    )
  })

  it('knows the passwords, as written and as meant', () => {
    expect(readProxySettings({ HTTP_PROXY: 'http://me:p%40ss@proxy' }).passwords).toEqual(['p%40ss', 'p@ss'])
    expect(readProxySettings({ HTTP_PROXY: 'http://proxy' }).passwords).toEqual([])
  })

  it.each(['proxy:3128', 'socks5://proxy', 'no url', 'http://hunter2:x'])(
    'refuses %j without showing it',
    (value) => {
      expect(() => readProxySettings({ HTTPS_PROXY: `${value}` })).toThrow('HTTPS_PROXY')
      try {
        readProxySettings({ HTTPS_PROXY: value })
      } catch (error) {
        expect((error as Error).message).not.toContain(value)
      }
    },
  )

  it('names the networks that NO_PROXY cannot express', () => {
    expect(readProxySettings({ NO_PROXY: 'localhost,10.0.0.0/8 .x.com' }).ignoredNoProxy).toEqual([
      '10.0.0.0/8',
    ])
  })
})

describe('a proxy', () => {
  it('gets plain http, with its password, and the service does not get that', async () => {
    const { server, proxy, proxyUrl } = await setUp({ login: 'me:p@ss' })
    const answer = await get('http://service.test/path?a=b', { HTTP_PROXY: proxyUrl('me:p%40ss') })
    expect(answer).toMatchObject({ status: 200 })
    expect(proxy.asked[0]).toMatch(/^(GET http:\/\/service\.test\/path\?a=b|CONNECT service\.test:80)$/)
    expect(server.requests[0]).toMatchObject({
      path: '/path?a=b',
      headers: { host: 'service.test', 'x-api-key': 'canary' },
    })
  })

  it('is not asked for loopback', async () => {
    const { server, proxy, proxyUrl } = await setUp()
    for (const host of ['127.0.0.1', 'localhost', '127.9.9.9'])
      expect(await get(`http://${host}:${server.port}/`, { HTTP_PROXY: proxyUrl() })).toMatchObject({
        ...(host === '127.0.0.1' ? { status: 200 } : {}),
      })
    expect(proxy.asked).toEqual([])
  })

  it.each(['service.test', '.test', '*.test', 'service.test:80', 'x, service.test', '*'])(
    'is not asked for what NO_PROXY=%s names',
    async (noProxy) => {
      const { proxy, proxyUrl } = await setUp()
      // Nobody knows that name here: without the proxy there is no way.
      expect(await get('http://service.test/', { HTTP_PROXY: proxyUrl(), NO_PROXY: noProxy })).toBeInstanceOf(
        NetworkError,
      )
      expect(proxy.asked).toEqual([])
    },
  )

  it.each(['other.test', 'ervice.test', 'service.test:81', '10.0.0.0/8'])(
    'is asked where NO_PROXY=%s names something else',
    async (noProxy) => {
      const { proxy, proxyUrl } = await setUp()
      expect(await get('http://service.test/', { HTTP_PROXY: proxyUrl(), NO_PROXY: noProxy })).toMatchObject({
        status: 200,
      })
      expect(proxy.asked).toHaveLength(1)
    },
  )

  it('is not asked for https when it is set for http only, nor the other way round', async () => {
    const { proxy, proxyUrl } = await setUp()
    expect(await get('https://service.test/', { HTTP_PROXY: proxyUrl() })).toBeInstanceOf(NetworkError)
    expect(await get('http://service.test/', { HTTPS_PROXY: proxyUrl() })).toBeInstanceOf(NetworkError)
    expect(proxy.asked).toEqual([])
  })

  it.each([
    ['http', 'HTTP_PROXY'],
    ['https', 'HTTPS_PROXY'],
  ])('that wants a password is named as such: %s', async (scheme, name) => {
    const { proxyUrl, server } = await setUp({ login: 'me:right' })
    const error = (await get(`${scheme}://service.test/`, { [name]: proxyUrl('me:wrong') })) as NetworkError
    expect(error).toBeInstanceOf(NetworkError)
    expect(error.message).toContain('407')
    expect(error.hint).toContain('proxy')
    expect(error.hint).toContain('password')
    expect(error.neverSent).toBe(true)
    expect(`${error.message} ${error.hint}`).not.toContain('wrong')
    expect(server.requests).toEqual([])
  })

  it('that refuses a tunnel is named as such', async () => {
    const { proxyUrl } = await setUp({ refuse: 403 })
    const error = (await get('https://service.test/', { HTTPS_PROXY: proxyUrl() })) as NetworkError
    expect(error.message).toContain('proxy answered 403')
    expect(error.hint).toContain('NO_PROXY')
  })

  it('that is not there is no answer, and nothing was sent', async () => {
    const { proxy, proxyUrl } = await setUp()
    const url = proxyUrl()
    await proxy.close()
    closing.splice(0, 1)
    const error = (await get('https://service.test/', { HTTPS_PROXY: url })) as NetworkError
    expect(error).toMatchObject({ code: 'ECONNREFUSED', neverSent: true })
  })

  it('never sees the key of a tunnel', async () => {
    const { proxy, proxyUrl, server } = await setUp({ tls: true })
    const error = (await get('https://service.test/', { HTTPS_PROXY: proxyUrl() })) as NetworkError
    expect(error.hint).toContain('NODE_EXTRA_CA_CERTS')
    expect(proxy.asked).toEqual(['CONNECT service.test:443'])
    expect(JSON.stringify(proxy.headers)).not.toContain('canary')
    expect(server.requests).toEqual([])
  })
})

describe('TLS', () => {
  it('of an unknown authority is refused before anything is sent, with the way out', async () => {
    const { server } = await setUp({ tls: true })
    const error = (await get(`${server.url}/`, {})) as NetworkError
    expect(error).toBeInstanceOf(NetworkError)
    expect(error.code).toBe('DEPTH_ZERO_SELF_SIGNED_CERT')
    expect(error.neverSent).toBe(true)
    expect(error.hint).toContain('NODE_EXTRA_CA_CERTS')
    expect(server.requests).toEqual([])
  })

  it('where there is plain http is refused with a hint', async () => {
    const { server } = await setUp()
    const error = (await get(`https://127.0.0.1:${server.port}/`, {})) as NetworkError
    expect(error.hint).toContain('TLS')
    expect(error.neverSent).toBe(true)
  })

  it('of an authority in NODE_EXTRA_CA_CERTS is accepted', async () => {
    const { server } = await setUp({ tls: true })
    const folder = mkdtempSync(join(tmpdir(), 'ca-'))
    writeFileSync(join(folder, 'ca.pem'), TEST_CERTIFICATE)
    const result = await runStep(fileURLToPath(new URL('../runner/stories/story.ts', import.meta.url)), {
      inputs: { story: 'request', url: `${server.url}/` },
      env: { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'), NODE_NO_WARNINGS: '1' },
    })
    rmSync(folder, { recursive: true })
    expect(result).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed' } })
  })
})
