import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { Hono } from 'hono'
import { FeedbackStore, TOKEN_LIFETIME_MS } from '../../../src/emulator/feedback/index.ts'
import { type Served, serveFetch } from '../../helpers/serve.ts'

const RUN = '01a1fc3f-b49a-75de-8a72-75241588d5be'

let now = new Date('2026-11-21T08:00:00.000Z')
let store: FeedbackStore
let server: Served
let base: string

beforeEach(async () => {
  now = new Date('2026-11-21T08:00:00.000Z')
  store = new FeedbackStore({ now: () => now })
  const app = new Hono()
  store.routes(app)
  server = await serveFetch((request) => app.fetch(request))
  base = server.url
})

afterEach(() => server.close())

const mint = (...keys: string[]) => store.mint(base, RUN, keys)
const mintOne = () => mint('user_score').user_score ?? ''

function post(url: string, body: unknown, contentType = 'application/json') {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return fetch(url, {
    method: 'POST',
    body: text,
    headers: contentType ? { 'content-type': contentType } : {},
  })
}

describe('minting', () => {
  it('gives one URL of the recorded form for each key, in order, doubles once', () => {
    const urls = mint('k2', 'k1', 'k2', 'has space/ü', '')
    expect(Object.keys(urls)).toEqual(['k2', 'k1', 'has space/ü', ''])
    for (const url of Object.values(urls)) {
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api\/v1\/feedback\/tokens\/[0-9a-f-]{36}$/)
    }
    expect(new Set(Object.values(urls)).size).toBe(4)
  })

  it('keeps a key named __proto__ as a key', () => {
    expect(Object.keys(mint('__proto__'))).toEqual(['__proto__'])
  })
})

describe('POST', () => {
  it('keeps all five fields as they were sent, without a credential', async () => {
    const url = mintOne()
    const sent = {
      score: -1,
      value: 0.25,
      comment: 'knapp ✓ daneben',
      correction: { answer: [1, { deep: null }] },
      metadata: { commit: 'abc' },
    }
    const answer = await post(url, sent)
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({})
    const [entry] = store.entries()
    expect(entry).toMatchObject({ run_id: RUN, key: 'user_score', url, ...sent })
    expect(entry?.submissions).toEqual([{ method: 'POST', submitted_at: now.toISOString(), ...sent }])
  })

  it('takes null for each field, booleans and objects where the service does, and an empty object', async () => {
    const url = mintOne()
    const bodies = [
      { score: null, value: null, comment: null, correction: null, metadata: null },
      { score: true, value: { a: 1 }, correction: 'say please' },
      { value: 'good' },
      {},
    ]
    for (const body of bodies) expect((await post(url, body)).status).toBe(200)
    expect(store.entries()[0]?.submissions).toHaveLength(4)
  })

  it.each([
    ['a score in words', { score: 'high' }, ['body', 'score']],
    ['a number as text', { score: '1' }, ['body', 'score']],
    ['a list as value', { value: [1] }, ['body', 'value']],
    ['a number as comment', { comment: 5 }, ['body', 'comment']],
    ['a list as correction', { correction: [] }, ['body', 'correction']],
    ['text as metadata', { metadata: 'x' }, ['body', 'metadata']],
    ['a field of no document', { key: 'k' }, ['body', 'key']],
    ['a list', [1], ['body']],
    ['an empty body', '', ['body']],
    ['broken JSON', '{"score":', ['body', 0]],
    ['NaN', '{"score":NaN}', ['body', 0]],
  ])('refuses %s and keeps nothing', async (_what, body, loc) => {
    const answer = await post(mintOne(), body)
    expect(answer.status).toBe(422)
    const { detail } = (await answer.json()) as { detail: { loc: unknown; msg: string; type: string }[] }
    expect(detail).toHaveLength(1)
    expect(detail[0]).toMatchObject({ loc, msg: expect.any(String), type: expect.any(String) })
    expect(store.entries()[0]?.submissions).toEqual([])
  })

  it('names every wrong field', async () => {
    const answer = await post(mintOne(), { score: 'x', comment: 1 })
    const { detail } = (await answer.json()) as { detail: { loc: string[] }[] }
    expect(detail.map((item) => item.loc.at(-1))).toEqual(['score', 'comment'])
  })

  it('wants the JSON content type', async () => {
    const answer = await post(mintOne(), { score: 1 }, 'text/plain')
    expect(answer.status).toBe(422)
    expect((await post(mintOne(), { score: 1 }, 'application/json; charset=utf-8')).status).toBe(200)
  })
})

describe('GET', () => {
  it('submits score, value, comment and a URL-encoded correction', async () => {
    const query = new URLSearchParams({
      score: '-0.5',
      value: '3',
      comment: 'a & b',
      correction: '{"answer":"ü"}',
    })
    expect((await fetch(`${mintOne()}?${query}`)).status).toBe(200)
    const sent = { score: -0.5, value: 3, comment: 'a & b', correction: { answer: 'ü' } }
    expect(store.entries()[0]?.submissions).toEqual([
      { method: 'GET', submitted_at: now.toISOString(), ...sent },
    ])
  })

  it('keeps no metadata', async () => {
    expect((await fetch(`${mintOne()}?score=1&metadata=%7B%22a%22%3A1%7D`)).status).toBe(200)
    expect(store.entries()[0]).toMatchObject({ score: 1 })
    expect(store.entries()[0]).not.toHaveProperty('metadata')
  })

  it.each([
    ['a correction that is not JSON', 'correction=not%20json', ['query', 'correction']],
    ['a correction that is a number', 'correction=5', ['query', 'correction']],
    ['a score in words', 'score=high', ['query', 'score']],
    ['an infinite score', 'score=1e999', ['query', 'score']],
  ])('refuses %s', async (_what, query, loc) => {
    const answer = await fetch(`${mintOne()}?${query}`)
    expect(answer.status).toBe(422)
    expect(await answer.json()).toMatchObject({ detail: [{ loc }] })
    expect(store.entries()[0]?.submissions).toEqual([])
  })

  it('keeps a value that is no JSON as text', async () => {
    await fetch(`${mintOne()}?value=thumbs%20up`)
    expect(store.entries()[0]).toMatchObject({ value: 'thumbs up' })
  })

  it('does not write on HEAD, and knows no other method', async () => {
    const url = mintOne()
    expect((await fetch(`${url}?score=1`, { method: 'HEAD' })).status).toBe(405)
    expect((await fetch(url, { method: 'PUT', body: '{}' })).status).toBe(405)
    expect(store.entries()[0]?.submissions).toEqual([])
  })
})

describe('which token', () => {
  it('may be used again: the newest submission stands beside the token', async () => {
    const url = mintOne()
    await post(url, { score: 1 })
    await post(url, { score: 0, comment: 'on second thought' })
    const [entry] = store.entries()
    expect(entry).toMatchObject({ score: 0, comment: 'on second thought' })
    expect(entry?.submissions.map((submission) => submission.score)).toEqual([1, 0])
  })

  it('is 404 when unknown, 422 when it is no UUID', async () => {
    const unknown = await post(`${base}/api/v1/feedback/tokens/00000000-0000-4000-8000-000000000000`, {})
    expect([unknown.status, await unknown.json()]).toEqual([404, { detail: 'Feedback token not found' }])
    const bad = await post(`${base}/api/v1/feedback/tokens/nope`, {})
    expect(bad.status).toBe(422)
    expect(await bad.json()).toMatchObject({ detail: [{ loc: ['path', 'token'], type: 'uuid_parsing' }] })
  })

  it('expires after 3 hours', async () => {
    const url = mintOne()
    expect(store.entries()[0]?.expires_at).toBe('2026-11-21T11:00:00.000Z')
    now = new Date(now.getTime() + TOKEN_LIFETIME_MS - 1)
    expect((await post(url, { score: 1 })).status).toBe(200)
    now = new Date(now.getTime() + 1)
    const late = await post(url, { score: 2 })
    expect([late.status, await late.json()]).toEqual([410, { detail: 'Feedback token has expired' }])
    expect(store.entries()[0]?.submissions).toHaveLength(1)
  })
})
