import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import type { Transport } from '../../src/http/transport.ts'
import type { FeedbackWish } from '../../src/verify/checks.ts'
import { feedbackOutcome } from '../../src/verify/feedback-check.ts'
import type { Outcome } from '../../src/verify/types.ts'
import { type Replay, type Reply, startReplay, testTransport } from '../helpers/replay.ts'

let transport: Transport
let replay: Replay
let queue: Reply[]
let masks: string[]

beforeEach(async () => {
  queue = []
  masks = []
  transport = testTransport()
  replay = await startReplay(() => queue.shift() ?? { status: 200, body: '{}' })
})

afterEach(async () => {
  await transport.close()
  await replay.close()
})

const url = (token: string) => new URL(`/api/v1/feedback/tokens/${token}`, replay.url).href

function outcome(wish: FeedbackWish, urls: unknown): Promise<Outcome> {
  return feedbackOutcome(wish, urls, {
    target: { url: replay.url, headers: { 'x-api-key': 'never-there' }, allowHttp: false },
    tools: {
      transport,
      clock: transport.clock,
      log: undefined as never,
      signal: transport.signal,
      newId: () => 'id',
      mask: (secret) => masks.push(secret),
    },
    info: {},
    deadline: Date.now() + 5_000,
    timeoutMs: 5_000,
    afterwards: () => {},
  })
}

describe('feedback of a run', () => {
  it('is submitted key by key in the order of the check, as it was written, without a credential', async () => {
    const wish: FeedbackWish = [
      { key: 'second', submit: { comment: 'fine', score: -0.5, metadata: { z: 1, a: [true, null] } } },
      { key: 'asked only' },
      { key: 'first', submit: { score: 1 } },
    ]
    const urls = {
      first: url('token-of-first'),
      second: url('token-of-second'),
      'asked only': url('token-of-third'),
    }
    expect(await outcome(wish, urls)).toEqual({ reason: '' })
    expect(replay.seen.map(({ path, text }) => [path.split('/').at(-1), text])).toEqual([
      ['token-of-second', '{"comment":"fine","score":-0.5,"metadata":{"z":1,"a":[true,null]}}'],
      ['token-of-first', '{"score":1}'],
    ])
    expect(replay.seen.every(({ headers }) => headers['x-api-key'] === undefined)).toBe(true)
    expect(masks).toEqual(
      expect.arrayContaining([...Object.values(urls), 'token-of-first', 'token-of-third']),
    )
  })

  it.each([
    ['no event', undefined, /no feedback URL for "k"/],
    ['an empty event', {}, /no feedback URL for "k"/],
    ['another key', { other: 'x' }, /no feedback URL for "k"/],
    ['one too many', { k: 'https://h.example/api/v1/feedback/tokens/t', other: 'x' }, /1 feedback URL more/],
    ['a name of JavaScript’s own', JSON.parse('{"__proto__":"x"}'), /no feedback URL for "k"/],
    ['no URL', { k: 5 }, /feedback URL of "k" is not one/],
    ['another path', { k: 'https://h.example/tokens/t' }, /api\/v1\/feedback\/tokens/],
    ['http elsewhere', { k: 'http://h.example/api/v1/feedback/tokens/t' }, /https:\/\//],
  ])('is not there: %s', async (_, urls, reason) => {
    const { reason: told, hint } = await outcome([{ key: 'k', submit: { score: 1 } }], urls)
    expect(told).toMatch(reason)
    expect(hint).toMatch(/LANGSMITH/)
    expect(replay.seen).toHaveLength(0)
  })

  it.each([404, 403, 500])('is not taken: %d says nothing about the deployment’s key', async (status) => {
    queue = [{ status, body: '{"detail":"remote words"}' }]
    const told = await outcome([{ key: 'k', submit: { score: 1 } }], { k: url('secret-token') })
    expect(told.reason).toBe(`The feedback URL answered ${status} while submitting feedback "k"`)
    expect(told.said).toBe('remote words')
    expect(told.hint).toMatch(/3 hours/)
    expect(JSON.stringify(told)).not.toContain('secret-token')
    expect(replay.seen).toHaveLength(1)
  })

  it('follows no redirect', async () => {
    queue = [{ status: 302, headers: { location: url('elsewhere') }, body: '' }]
    const told = await outcome([{ key: 'k', submit: { score: 1 } }], { k: url('secret-token') })
    expect(told.reason).toContain('redirect')
    expect(JSON.stringify(told)).not.toContain('secret-token')
    expect(replay.seen).toHaveLength(1)
  })
})
