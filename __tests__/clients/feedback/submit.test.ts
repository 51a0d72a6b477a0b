import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { type FeedbackField, getFeedback, postFeedback } from '../../../src/clients/feedback/submit.ts'
import { feedbackSecrets, readFeedbackUrl } from '../../../src/clients/feedback/url.ts'
import { HttpError, NetworkError, RedirectError } from '../../../src/http/errors.ts'
import type { Transport } from '../../../src/http/transport.ts'
import { type Replay, type Reply, startReplay, testTransport } from '../../helpers/replay.ts'

const TOKEN = '2f1b9b6e-5a39-4b2c-9d3c-6f6f0d6f1a11'
const PATH = `/api/v1/feedback/tokens/${TOKEN}`

let replay: Replay
let transport: Transport
let queue: Reply[]

beforeEach(async () => {
  queue = []
  transport = testTransport()
  replay = await startReplay(() => queue.shift() ?? { status: 200, body: '{}' })
})

afterEach(async () => {
  await transport.close()
  await replay.close()
})

const url = (path = PATH) => new URL(path, replay.url)
const options = () => ({ deadline: Date.now() + 10_000 })
const FIELDS: FeedbackField[] = [
  ['metadata', '{"z":1,"10":2,"2":3}'],
  ['score', '-0.50'],
  ['correction', '{"id": 12345678901234567890}'],
  ['comment', '"fine \\"so\\" far\\n"'],
]

async function failure(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: Error) => error,
  )
}

describe('POST', () => {
  it('sends the fields in their order and their JSON as it is, without a credential', async () => {
    expect(await postFeedback(transport, url(), FIELDS, options())).toBe(200)
    const [request] = replay.seen
    expect(request).toMatchObject({ method: 'POST', path: PATH })
    expect(request?.text).toBe(
      '{"metadata":{"z":1,"10":2,"2":3},"score":-0.50,"correction":{"id": 12345678901234567890},"comment":"fine \\"so\\" far\\n"}',
    )
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(request?.text.length),
    })
    for (const header of ['authorization', 'x-api-key', 'x-tenant-id', 'cookie']) {
      expect(request?.headers).not.toHaveProperty(header)
    }
  })

  it('tells the status that came', async () => {
    queue = [{ status: 204, body: '' }]
    expect(await postFeedback(transport, url(), FIELDS, options())).toBe(204)
  })

  it('sends again only what was not taken', async () => {
    queue = [
      { status: 429, body: '{}' },
      { status: 503, headers: { 'retry-after': '0' }, body: '' },
    ]
    await postFeedback(transport, url(), FIELDS, options())
    expect(replay.seen).toHaveLength(3)
    expect(new Set(replay.seen.map(({ text }) => text)).size).toBe(1)
  })

  it.each([
    [500, {}],
    [503, {}],
    [404, {}],
    [410, {}],
    [422, {}],
  ])('sends nothing again after %d', async (status, headers) => {
    queue = [{ status, headers, body: '{"detail":"no"}' }]
    const error = await failure(postFeedback(transport, url(), FIELDS, options()))
    expect(error).toBeInstanceOf(HttpError)
    expect((error as HttpError).hint).toMatch(/3 hours|score, value/)
    expect(replay.seen).toHaveLength(1)
  })

  it('sends nothing again after a broken answer', async () => {
    queue = [{ status: 200, headers: { 'content-type': 'application/json' }, body: '{', break: true }]
    expect(await failure(postFeedback(transport, url(), FIELDS, options()))).toBeInstanceOf(NetworkError)
    expect(replay.seen).toHaveLength(1)
  })

  it('follows no redirect', async () => {
    queue = [{ status: 307, headers: { location: url('/elsewhere').href }, body: '' }]
    expect(await failure(postFeedback(transport, url(), FIELDS, options()))).toBeInstanceOf(RedirectError)
    expect(replay.seen).toHaveLength(1)
  })

  it.each([404, 307, 500])('never shows the URL, as after %d', async (status) => {
    queue = [{ status, headers: { location: 'https://other.example/x' }, body: '' }]
    const error = await failure(postFeedback(transport, url(), FIELDS, options()))
    expect(`${error.message} ${(error as HttpError).url}`).not.toContain(TOKEN)
    expect(error.message).toContain('the feedback URL')
  })
})

describe('GET', () => {
  const query = () => new URL(replay.seen.at(-1)?.path ?? '', replay.url)

  it('sends each field as a parameter, correction as URL-encoded JSON', async () => {
    const fields: FeedbackField[] = [
      ['score', '-1'],
      ['value', '"good & bad"'],
      ['comment', '"50 % ü+"'],
      ['correction', '{"b":1,"a":"x y"}'],
    ]
    await getFeedback(transport, url(), fields, options())
    expect(replay.seen[0]?.method).toBe('GET')
    expect(query().pathname).toBe(PATH)
    expect([...query().searchParams]).toEqual([
      ['score', '-1'],
      ['value', 'good & bad'],
      ['comment', '50 % ü+'],
      ['correction', '{"b":1,"a":"x y"}'],
    ])
    expect(query().search).toContain('correction=%7B%22b%22%3A1%2C%22a%22%3A%22x%20y%22%7D')
  })

  it('keeps a query that the URL has already', async () => {
    await getFeedback(transport, url(`${PATH}?sig=a%2Bb`), [['score', '1']], options())
    expect(query().search).toBe('?sig=a%2Bb&score=1')
  })

  it.each([500, 503, 429])('is sent once, because it writes, also after %d', async (status) => {
    queue = [{ status, headers: { 'retry-after': '0' }, body: '' }]
    await failure(getFeedback(transport, url(), [['score', '1']], options()))
    expect(replay.seen).toHaveLength(1)
  })
})

describe('a feedback URL', () => {
  it.each([
    `https://api.smith.langchain.com${PATH}`,
    `https://host.example/prefix${PATH}?x=1`,
    `http://127.0.0.1:8123${PATH}`,
  ])('%s is one', (text) => expect(readFeedbackUrl(text, false)).toBeInstanceOf(URL))

  it('may be http: where that is allowed', () => {
    expect(readFeedbackUrl(`http://host.example${PATH}`, false)).toContain('https://')
    expect(readFeedbackUrl(`http://host.example${PATH}`, true)).toBeInstanceOf(URL)
  })

  it.each([
    'feedback',
    `ftp://host.example${PATH}`,
    `https://user:pass@host.example${PATH}`,
    'https://host.example/api/v1/feedback/tokens/',
    `https://host.example${PATH}/more`,
    `https://host.example/api/v1/feedback?next=${PATH}`,
  ])('%s is none, and the reason does not quote it', (text) => {
    const reason = readFeedbackUrl(text, true)
    expect(typeof reason).toBe('string')
    expect(reason).not.toContain(TOKEN)
  })

  it('is a secret as a whole, and its token is one', () => {
    expect(feedbackSecrets(new URL(`https://host.example${PATH}`))).toEqual([
      `https://host.example${PATH}`,
      TOKEN,
    ])
  })

  it('has no token in a word: masking it would blank the log', () => {
    expect(feedbackSecrets(new URL('https://host.example/other'))).toEqual(['https://host.example/other'])
  })
})
