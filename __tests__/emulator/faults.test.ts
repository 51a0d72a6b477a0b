import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { startTestEmulator, type TestEmulator } from '../helpers/emulator.ts'
import { DOCKER } from './bodies.ts'

let emulator: TestEmulator

beforeEach(async () => {
  emulator = await startTestEmulator()
})

afterEach(() => emulator.close())

async function held(): Promise<number> {
  return (await emulator.state()).deployments.length
}

/** A deployment that serves. */
async function served(): Promise<string> {
  const { body } = await emulator.call('POST', '/v2/deployments', DOCKER)
  await emulator.watch(body.id, body.latest_revision_id)
  return body.id
}

function runs(id: string): Promise<Response> {
  return fetch(`${emulator.controlPlaneUrl}/d/${id}/runs/stream`, {
    method: 'POST',
    headers: { ...emulator.headers, 'content-type': 'application/json' },
    body: JSON.stringify({
      assistant_id: 'agent',
      input: { messages: [{ role: 'user', content: 'Grüße' }] },
      stream_mode: 'updates',
    }),
  })
}

describe('which requests a fault hits', () => {
  it('so many, after so many, of one method and path', async () => {
    await emulator.fault({
      method: 'GET',
      path: '/v2/deployments',
      after: 1,
      times: 2,
      effect: { status: 503 },
    })
    const seen: number[] = []
    for (let n = 0; n < 5; n += 1) seen.push((await emulator.call('GET', '/v2/deployments?limit=1')).status)
    expect(seen).toEqual([200, 503, 503, 200, 200])
    await emulator.fault({ method: 'GET', path: '/v2/deployments', effect: { status: 503 } })
    expect((await emulator.call('POST', '/v2/deployments', DOCKER)).status).toBe(201)
  })

  it('by a glob: one star within a segment, two across', async () => {
    await emulator.fault({ path: '/v2/*', times: 9, effect: { status: 500 } })
    expect((await emulator.call('GET', '/v2/deployments')).status).toBe(500)
    expect((await emulator.call('GET', '/v2/auth/providers')).status).toBe(200)
    await emulator.clearFaults()
    await emulator.fault({ path: '*', effect: { status: 504 } })
    expect((await emulator.call('GET', '/v2/auth/providers')).status).toBe(504)
    await emulator.fault({ path: '/**', times: null, effect: { status: 502 } })
    expect((await emulator.call('GET', '/v2/auth/providers')).status).toBe(502)
    expect((await emulator.call('GET', '/d/x/info')).status).toBe(502)
    expect((await emulator.call('PUT', '/storage/agent-sources/x')).status).toBe(502)
    expect((await emulator.call('GET', '/api/v1/feedback/tokens/x')).status).toBe(502)
    expect((await emulator.call('GET', '/v2/sandboxes/boxes/box-1')).status).toBe(502)
    expect((await emulator.call('GET', '/_emulator/state')).status).toBe(200)
    await emulator.clearFaults()
    expect((await emulator.call('GET', '/v2/sandboxes/boxes/box-1')).status).toBe(200)
  })

  it.each([
    ['nothing to do', { path: '/x' }],
    ['no path', { effect: { status: 500 } }],
    ['two effects', { path: '/x', effect: { status: 500, delayMs: 1 } }],
    ['an effect of no kind', { path: '/x', effect: { explode: true } }],
    ['a word that is none', { path: '/x', effect: { reset: 'between' } }],
    ['more than it takes', { path: '/x', effect: { delayMs: 1, also: 1 } }],
    ['times below one', { path: '/x', times: 0, effect: { delayMs: 1 } }],
    ['a path that is none', { path: 'x', effect: { delayMs: 1 } }],
  ])('refuses %s', async (_what, spec) => {
    const { status, body } = await emulator.call('POST', '/_emulator/faults', spec)
    expect(status).toBe(422)
    expect(body.detail[0]).toEqual({
      type: expect.any(String),
      loc: expect.any(Array),
      msg: expect.any(String),
    })
  })
})

describe('what a fault does', () => {
  it('answers with a status, a body and headers, and does not do the work', async () => {
    const effect = { status: 429, body: { detail: 'slow down' }, headers: { 'Retry-After': '3' } }
    await emulator.fault({ method: 'POST', path: '/v2/deployments', effect })
    const answer = await emulator.call('POST', '/v2/deployments', DOCKER)
    expect([answer.status, answer.body, answer.headers.get('retry-after')]).toEqual([
      429,
      { detail: 'slow down' },
      '3',
    ])
    await emulator.fault({ path: '/v2/deployments', effect: { status: 200, body: '<html>' } })
    const html = await emulator.call('GET', '/v2/deployments')
    expect([html.body, html.headers.get('content-type')]).toEqual(['<html>', 'text/plain; charset=utf-8'])
    expect(await held()).toBe(0)
  })

  it.each([
    ['before', 0],
    ['after', 1],
  ])('resets the connection %s the work', async (when, made) => {
    await emulator.fault({ method: 'POST', path: '/v2/deployments', effect: { reset: when } })
    const lost = emulator.call('POST', '/v2/deployments', DOCKER)
    await expect(lost).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } })
    expect(await held()).toBe(made)
  })

  it('holds an answer back when the work was done', async () => {
    await emulator.fault({ method: 'POST', path: '/v2/deployments', effect: { delayMs: 60_000 } })
    const aborted = new AbortController()
    const late = fetch(`${emulator.controlPlaneUrl}/v2/deployments`, {
      method: 'POST',
      headers: { ...emulator.headers, 'content-type': 'application/json' },
      body: JSON.stringify(DOCKER),
      signal: aborted.signal,
    })
    while ((await held()) === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    aborted.abort()
    await expect(late).rejects.toThrow()
  })

  it('sends elsewhere', async () => {
    await emulator.fault({ path: '/v2/deployments', effect: { redirect: 'https://evil.example/x' } })
    const { status, headers } = await emulator.call('GET', '/v2/deployments')
    expect([status, headers.get('location')]).toEqual([307, 'https://evil.example/x'])
  })

  it('lets an answer trickle, byte by byte', async () => {
    await emulator.fault({ path: '/v2/deployments', effect: { trickleMs: 1 } })
    const response = await fetch(`${emulator.controlPlaneUrl}/v2/deployments`, { headers: emulator.headers })
    let pieces = 0
    let text = ''
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      pieces += 1
      text += Buffer.from(chunk).toString()
    }
    expect(JSON.parse(text)).toEqual({ resources: [], offset: 0 })
    expect(pieces).toBeGreaterThan(5)
  })

  it('cuts an answer in half', async () => {
    await emulator.fault({ path: '/v2/deployments', effect: { stream: 'cut' } })
    const response = await fetch(`${emulator.controlPlaneUrl}/v2/deployments`, { headers: emulator.headers })
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow()
  })

  it('never ends an answer', async () => {
    await emulator.fault({ path: '/v2/deployments', effect: { stream: 'endless' } })
    const response = await fetch(`${emulator.controlPlaneUrl}/v2/deployments`, { headers: emulator.headers })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    for (let n = 0; n < 5; n += 1) expect((await reader.read()).done).toBe(false)
    await reader.cancel()
  })

  it.each(['plain', 'gzip'] as const)('sends a bomb (%s), larger than anybody wants', async (bomb) => {
    await emulator.fault({ method: 'GET', path: '/v2/deployments', effect: { bomb } })
    const response = await fetch(`${emulator.controlPlaneUrl}/v2/deployments`, { headers: emulator.headers })
    expect(response.headers.get('content-encoding')).toBe(bomb === 'gzip' ? 'gzip' : null)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    let size = 0
    while (size < 40 * 1024 * 1024) size += (await reader.read()).value?.length ?? 0
    await reader.cancel()
    expect((await emulator.call('GET', '/v2/deployments')).status).toBe(200)
  })
})

describe('faults of an event stream', () => {
  it('cut: one whole event, and a part of the next', async () => {
    const id = await served()
    await emulator.fault({ path: '/d/**', effect: { stream: 'cut' } })
    const response = await runs(id)
    let text = ''
    const read = (async () => {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
        text += Buffer.from(chunk)
    })()
    await expect(read).rejects.toThrow()
    expect(text).toMatch(/^event: metadata\r\ndata: .+\r\n/)
    expect(text).toMatch(/\r\n\r\nevent: updates\r\n/)
    expect(text).not.toMatch(/\r\n$/)
  })

  it('endless: every event, then heartbeats', async () => {
    const id = await served()
    await emulator.fault({ path: '/d/**', effect: { stream: 'endless' } })
    const response = await runs(id)
    let text = ''
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk)
      if (/seen 1[\s\S]*: heartbeat\r\n\r\n: heartbeat/.test(text)) break
    }
    expect(text).toContain('event: updates')
  })

  it('trickle: the same events, split inside a letter too', async () => {
    const id = await served()
    await emulator.fault({ path: '/d/**', effect: { trickleMs: 0 } })
    expect(await (await runs(id)).text()).toContain('echo: Grüße (seen 1)')
  })
})

describe('the record of requests', () => {
  it('has method, path, headers, body and time, and nothing of the admin paths', async () => {
    await emulator.call('POST', '/v2/deployments?x=1', DOCKER, { 'X-Mine': 'yes' })
    const { requests } = await emulator.state()
    expect(requests).toEqual([
      {
        time: expect.stringMatching(/^\d{4}-.*Z$/),
        method: 'POST',
        path: '/v2/deployments',
        query: '?x=1',
        headers: expect.objectContaining({ 'x-api-key': emulator.apiKey, 'x-mine': 'yes' }),
        body: DOCKER,
        status: 201,
      },
    ])
  })

  it('tells which requests got no answer', async () => {
    await emulator.fault({ path: '/v2/deployments', effect: { reset: 'before' } })
    await expect(emulator.call('GET', '/v2/deployments')).rejects.toThrow()
    expect((await emulator.state()).requests).toMatchObject([{ method: 'GET', status: null }])
  })
})

describe('requests that no client of ours makes', () => {
  it.each([
    ['another host than it has', 'GET /v2/deployments HTTP/1.1\r\nHost: evil.example\r\n\r\n', '403'],
    ['a whole URL as target', 'GET http://evil.example/v2/x HTTP/1.1\r\nHost: x\r\n\r\n', '404'],
    [
      'a whole URL that is served',
      'GET http://a.example/v2/deployments?limit=1 HTTP/1.1\r\nHost: x\r\n\r\n',
      '403',
    ],
    ['no path at all', 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n', '404'],
    ['two slashes', 'GET //evil.example/v2/deployments HTTP/1.1\r\nHost: x\r\n\r\n', '404'],
    ['a method of its own', 'TRACE /v2/deployments HTTP/1.1\r\nHost: x\r\n\r\n', '405'],
    ['a broken escape', 'GET /storage/agent-sources/%zz HTTP/1.1\r\nHost: x\r\n\r\n', '404'],
  ])('%s', async (_what, head, status) => {
    const socket = connect(emulator.port, '127.0.0.1')
    socket.write(head)
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    expect(chunk.toString().split(' ')[1]).toBe(status)
    expect((await emulator.call('GET', '/v2/deployments')).status).toBe(200)
  })
})

describe('the state', () => {
  it('is the six lists that are public, and no more; what it was told is asked for by itself', async () => {
    const lists = ['deployments', 'revisions', 'providers', 'sandboxes', 'feedback', 'requests']
    expect(Object.keys(await emulator.state())).toEqual(lists)
    await emulator.fault({ path: '/v2/x', effect: { status: 500 } })
    await emulator.scenario({ deployment: 'later', logs: ['a line'] })
    expect((await emulator.call('GET', '/_emulator/faults')).body).toMatchObject([{ path: '/v2/x', hits: 0 }])
    expect((await emulator.call('GET', '/_emulator/scenarios')).body).toMatchObject([{ deployment: 'later' }])
    expect((await emulator.call('GET', '/_emulator/integrations')).body).toHaveLength(1)
    expect((await emulator.call('GET', '/_emulator/listeners')).body).toEqual([])
    expect((await emulator.call('GET', '/_emulator/uploads')).body).toEqual([])
  })
})
