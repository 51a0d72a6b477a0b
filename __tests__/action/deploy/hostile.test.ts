import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { TestEmulator } from '../../helpers/emulator.ts'
import { deploy, requestsOf, withEmulator } from './support.ts'

let emulator: TestEmulator
let trap: Server
let trapped: string[] = []
let name = ''

withEmulator('hostile', (one, fresh) => {
  emulator = one
  name = fresh
})
beforeAll(async () => {
  trap = createServer((request, response) => {
    trapped.push(`${request.method} ${request.url}`)
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => trap.once('listening', resolve))
})
afterAll(() => void trap.close())
beforeEach(() => {
  trapped = []
})

const run = (inputs: Record<string, string> = {}, options = {}) =>
  deploy(emulator, { name, ...inputs }, options)
const REVISION = { method: 'GET', path: '/v2/deployments/*/revisions/*' }

describe('redirects', () => {
  it.each([
    ['GET', '/v2/deployments'],
    ['POST', '/v2/deployments'],
    ['GET', '/v2/deployments/*/revisions/*'],
    ['GET', '/v2/deployments/*'],
    ['GET', '/v2/auth/providers'],
    ['GET', '/d/*/ok'],
  ])('on %s %s are not followed', async (method, path) => {
    const { port } = trap.address() as AddressInfo
    await emulator.fault({
      method,
      path,
      times: 100,
      effect: { redirect: `http://127.0.0.1:${port}/steal?x=1` },
    })
    const provider = {
      provider_id: 'p',
      name: 'P',
      client_id: 'c',
      auth_url: 'https://a.example',
      token_url: 'https://b.example',
    }
    const result = await run(
      { 'oauth-providers': JSON.stringify([provider]), verify: 'ready' },
      { timeoutMs: 30_000 },
    )
    expect(trapped).toEqual([])
    expect(result.exitCode).toBe(1)
    expect(result.outputs['outcome']).toBe(path.startsWith('/d/') ? 'verification-failed' : 'error')
    expect(result.visible).not.toContain('/steal')
  })

  it('on PATCH is not followed either', async () => {
    await run()
    const { port } = trap.address() as AddressInfo
    await emulator.fault({
      method: 'PATCH',
      path: '/v2/deployments/*',
      times: 9,
      effect: { redirect: `http://127.0.0.1:${port}/steal` },
    })
    const result = await run()
    expect(trapped).toEqual([])
    expect(result.outputs['outcome']).toBe('error')
  })
})

/** An update whose polls have this fault. */
async function update(own: string, effect: object, times: number, inputs: Record<string, string> = {}) {
  const first = await run({ name: own })
  const path = `/v2/deployments/${first.outputs['deployment-id']}/revisions/*`
  await emulator.fault({ method: 'GET', path, times, effect })
  const result = await run({ name: own, ...inputs })
  expect(result.timedOut).toBe(false)
  return result
}

describe('polls', () => {
  it.each([
    ['500', { status: 500, body: 'x' }],
    ['429 with Retry-After', { status: 429, body: {}, headers: { 'retry-after': '0' } }],
    ['a broken connection', { reset: 'before' }],
    ['an answer that is no JSON', { status: 200, body: 'hello' }],
    ['an answer without a status', { status: 200, body: { id: 'x' } }],
  ])('that fail for a while with %s are no failed deploy', async (_title, effect) => {
    await emulator.fault({ ...REVISION, after: 1, times: 4, effect })
    const result = await run()
    expect(result.outputs['outcome']).toBe('deployed')
  })

  it('that fail for good end error, and say that the revision goes on', async () => {
    await emulator.fault({ ...REVISION, after: 1, times: 1000, effect: { status: 500, body: 'x' } })
    const result = await run()
    expect(result.outputs['outcome']).toBe('error')
    expect(result.outputs['revision-id']).not.toBe('')
    expect(result.annotations.filter((annotation) => annotation.type === 'error')).toHaveLength(1)
  })

  it.each([
    [404, 'does not know'],
    [401, 'key was refused'],
    [403, 'key was refused'],
  ])('that answer %s end error at once', async (status, words) => {
    await emulator.fault({ ...REVISION, after: 1, times: 1000, effect: { status, body: { detail: 'gone' } } })
    const before = (await requestsOf(emulator, 'GET', /revisions\/[^/]+$/)).length
    const result = await run()
    expect(result.outputs['outcome']).toBe('error')
    expect(result.outputs['failure-reason']).toContain(words)
    expect((await requestsOf(emulator, 'GET', /revisions\/[^/]+$/)).length - before).toBeLessThanOrEqual(2)
  })
})

describe('polls that take their time', () => {
  // All of these wait for real seconds, so they run side by side.
  it('do not decide what a later one tells, and never hold the job much beyond its time', async () => {
    const soon = { 'timeout-minutes': '0.05' }
    const [hung, endless, trickling, forever] = await Promise.all([
      update(`${name}-a`, { delayMs: 60_000 }, 1, soon),
      update(`${name}-b`, { stream: 'endless' }, 1, soon),
      update(`${name}-c`, { trickleMs: 3 }, 2),
      update(`${name}-d`, { delayMs: 60_000 }, 99, soon),
    ])
    for (const result of [hung, endless, trickling]) expect(result.outputs['outcome']).toBe('deployed')
    expect(forever.outputs['outcome']).toBe('timed-out')
    expect(forever.outputs['failure-reason']).toContain('no status of it could be read')
    expect(forever.ms).toBeLessThan(20_000)
  })
})

describe('answers that never end or are huge', () => {
  it.each([[{ bomb: 'plain' }], [{ bomb: 'gzip' }]])(
    '%j is cut, and the look-up ends error',
    async (effect) => {
      await emulator.fault({ method: 'GET', path: '/v2/deployments', times: 1, effect })
      const result = await run({}, { timeoutMs: 40_000 })
      expect(result.timedOut).toBe(false)
      expect(result.outputs['outcome']).toBe('error')
      expect(result.annotations[0]?.message).toContain('larger than')
    },
  )
})

describe('remote text', () => {
  const ATTACK =
    'x\r::set-output name=outcome::pwned\n::error::fake\n##[add-mask]e\n[link](https://evil.example) ![](https://evil.example/t.png) <img src=x> @everyone'

  it('of an error is shown and executes nothing', async () => {
    await emulator.fault({
      method: 'POST',
      path: '/v2/deployments',
      times: 1,
      effect: { status: 400, body: { detail: ATTACK } },
    })
    const result = await run()
    expect(result.outputs['outcome']).toBe('error')
    expect(result.annotations).toHaveLength(1)
    expect(
      result.executedCommands.filter(
        (command) => !['add-mask', 'group', 'endgroup', 'error', 'debug'].includes(command.name),
      ),
    ).toEqual([])
    expect(result.outputs['failure-reason']).not.toContain('evil')
    expect(result.summary).not.toMatch(/!\[\]\(|<img|\]\(https:\/\/evil/)
  })

  it('of a build log is shown and executes nothing', async () => {
    await emulator.scenario({
      deployment: name,
      statuses: [['BUILD_FAILED', null]],
      logs: [ATTACK, '::stop-commands::abc'],
    })
    const result = await run()
    expect(result.outputs['outcome']).toBe('failed')
    expect(result.visible).toContain('fake')
    expect(result.annotations).toHaveLength(1)
    expect(result.masks.some((mask) => mask.length < 6)).toBe(false)
  })

  it('that echoes a secret in any encoding is redacted', async () => {
    const secret = 'p@ss "word"/ü+=1234'
    const echoes = [
      secret,
      JSON.stringify({ a: secret }),
      Buffer.from(secret).toString('base64'),
      Buffer.from(`id:${secret}`).toString('base64'),
      Buffer.from(secret).toString('base64url'),
      encodeURIComponent(secret),
      new URLSearchParams({ a: secret }).toString(),
    ].join(' ')
    await emulator.fault({
      method: 'POST',
      path: '/v2/deployments',
      times: 1,
      effect: { status: 400, body: { detail: echoes } },
    })
    const result = await run({ secrets: JSON.stringify({ A_SECRET: secret }) })
    const seen =
      `${result.stdout}${result.stderr}`.replace(/^::add-mask::.*$/gm, '') +
      result.summary +
      JSON.stringify(result.outputs)
    expect(result.outputs['outcome']).toBe('error')
    for (const echo of echoes.split(' ').filter((part) => part.length > 8)) expect(seen).not.toContain(echo)
  })
})

describe('a deployment URL', () => {
  it.each(['javascript:alert(1)', 'http://agent.example', 'https://user:pass@agent.example', 'not a url'])(
    '%s is an error and is not put out',
    async (url) => {
      const first = await run()
      const id = first.outputs['deployment-id']
      const { body } = await emulator.call('GET', `/v2/deployments/${id}`)
      body.source_config.custom_url = url
      await emulator.fault({
        method: 'GET',
        path: `/v2/deployments/${id}`,
        times: 99,
        effect: { status: 200, body },
      })
      const result = await run()
      expect(result.exitCode).toBe(1)
      expect(result.outputs['outcome']).toBe('error')
      expect(result.outputs['deployment-url'] ?? '').toBe('')
    },
  )
})
