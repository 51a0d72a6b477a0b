import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { type RunResult, runBundle } from '../helpers/action.ts'
import { startTestEmulator, type TestEmulator } from '../helpers/emulator.ts'
import { deployAgent, type LiveAgent } from '../helpers/live-agent.ts'
import { type Replay, type Reply, startReplay } from '../helpers/replay.ts'

const TOKEN = '2f1b9b6e-5a39-4b2c-9d3c-6f6f0d6f1a11'

let emulator: TestEmulator
let agent: LiveAgent
const replays: Replay[] = []

beforeAll(async () => {
  emulator = await startTestEmulator()
  agent = await deployAgent(emulator)
})
afterAll(() => emulator.close())
afterEach(async () => {
  for (const replay of replays.splice(0)) await replay.close()
})

/** A URL that the emulated agent server minted for a run. */
async function mint(): Promise<string> {
  const headers = { ...emulator.headers, 'content-type': 'application/json' }
  const body = JSON.stringify({
    assistant_id: 'agent',
    input: { messages: [{ role: 'user', content: 'Hello' }] },
    feedback_keys: ['score'],
  })
  const { pathname } = agent.url
  const response = await fetch(new URL(`${pathname.replace(/\/$/, '')}/runs/wait`, agent.url), {
    method: 'POST',
    headers,
    body,
  })
  const answer = (await response.json()) as { __feedback__?: { score: string } }
  const url = answer.__feedback__?.score
  if (url === undefined) throw new Error(`no feedback URL: ${JSON.stringify(answer)}`)
  return url
}

async function serve(...replies: Reply[]): Promise<{ url: string; replay: Replay }> {
  const queue = [...replies]
  const replay = await startReplay(() => queue.shift() ?? { status: 200, body: '{}' })
  replays.push(replay)
  return { replay, url: new URL(`/api/v1/feedback/tokens/${TOKEN}`, replay.url).href }
}

function run(inputs: Record<string, string>): Promise<RunResult> {
  return runBundle({ action: 'feedback', inputs })
}

describe('the feedback action', () => {
  it('submits to a minted URL, and the service keeps what was sent', async () => {
    const url = await mint()
    const result = await run({
      'feedback-url': url,
      score: '-0.5',
      value: '{"stars": 4}',
      comment: 'so far\nso good',
      correction: '{"answer": "42"}',
      metadata: 'source: ci\nrun: 7',
    })
    expect(result.stderr).toBe('')
    expect(result).toMatchObject({ exitCode: 0, annotations: [], outputs: { status: '200' } })
    expect(result.summary).toContain('Feedback submitted')
    const { feedback } = await emulator.state()
    expect(feedback.find((entry) => entry['url'] === url)).toMatchObject({
      score: -0.5,
      value: { stars: 4 },
      comment: 'so far\nso good',
      correction: { answer: '42' },
      metadata: { source: 'ci', run: 7 },
    })
  })

  it('submits by GET, with correction as URL-encoded JSON', async () => {
    const url = await mint()
    const result = await run({
      'feedback-url': url,
      method: 'GET',
      score: '1',
      value: '"good"',
      correction: 'a: [1, x y]',
    })
    expect(result).toMatchObject({ exitCode: 0, outputs: { status: '200' } })
    const { feedback } = await emulator.state()
    expect(feedback.find((entry) => entry['url'] === url)).toMatchObject({
      score: 1,
      value: 'good',
      correction: { a: [1, 'x y'] },
    })
  })

  it('keeps the order of keys and the digits of numbers, in JSON and in YAML', async () => {
    const { url, replay } = await serve({ status: 200, body: '{}' }, { status: 200, body: '{}' })
    await run({
      'feedback-url': url,
      score: '0.50',
      correction: '{"10":1,"2":12345678901234567890,"1": {"b":1.0,"a":2}}',
      metadata: '10: b\n2: 1.50\nlist: [x, 7, null, true]\n"1": {z: 12345678901234567890, y: 007}',
    })
    expect(replay.seen[0]?.text).toBe(
      '{"score":0.50,"correction":{"10":1,"2":12345678901234567890,"1": {"b":1.0,"a":2}},"metadata":{"10":"b","2":1.50,"list":["x",7,null,true],"1":{"z":12345678901234567890,"y":7}}}',
    )
    await run({ 'feedback-url': url, score: '+.5' })
    expect(replay.seen[1]?.text).toBe('{"score":0.5}')
  })

  it('sends no credential, whatever the job has', async () => {
    const { url, replay } = await serve()
    await runBundle({
      action: 'feedback',
      inputs: { 'feedback-url': url, score: '1' },
      env: {
        LANGSMITH_API_KEY: 'lsv2_pt_secret',
        INPUT_API_KEY: 'lsv2_pt_secret',
        'INPUT_API-KEY': 'lsv2_pt_secret',
      },
    })
    expect(replay.seen).toHaveLength(1)
    expect(JSON.stringify(replay.seen[0]?.headers)).not.toContain('lsv2_pt_secret')
    expect(Object.keys(replay.seen[0]?.headers ?? {})).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/authorization|x-api-key|cookie/)]),
    )
  })

  it.each([
    ['unknown or expired', { status: 404, body: '{"detail":"Feedback token not found"}' }, '404', /3 hours/],
    [
      'refused fields',
      { status: 422, body: '{"detail":[{"loc":["body","score"],"msg":"no","input":"x"}]}' },
      '422',
      /score/,
    ],
    [
      'a redirect',
      { status: 302, headers: { location: 'https://evil.example/' }, body: '' },
      '302',
      /not followed/,
    ],
    ['a failure', { status: 500, body: 'Internal Server Error' }, '500', /again/],
  ])('is red, once, and tells the status: %s', async (_, reply, status, message) => {
    const { url, replay } = await serve(reply)
    const result = await run({ 'feedback-url': url, score: '1' })
    expect(result).toMatchObject({ exitCode: 1, outputs: { status } })
    expect(result.annotations).toHaveLength(1)
    expect(result.annotations[0]?.message).toMatch(message)
    expect(replay.seen).toHaveLength(1)
    expect(result.visible + result.summary + JSON.stringify(result.annotations)).not.toContain(TOKEN)
  })

  it('masks the URL and its token', async () => {
    const { url } = await serve()
    const result = await run({ 'feedback-url': url, score: '1' })
    expect(result.masks).toEqual(expect.arrayContaining([url, TOKEN]))
    expect(result.visible).not.toContain(TOKEN)
  })

  it('tells all wrong inputs at once, before any request, and never the URL', async () => {
    const { url, replay } = await serve()
    const result = await run({
      'feedback-url': `${url}/wrong-place`,
      score: '1e3',
      value: 'good',
      correction: '[1]',
      metadata: 'a: [',
      method: 'PUT',
      'allow-http': 'yes',
    })
    expect(result.exitCode).toBe(1)
    expect(result.annotations).toHaveLength(1)
    const { message } = result.annotations[0] ?? { message: '' }
    for (const input of [
      'feedback-url',
      'score',
      'value',
      'correction',
      'metadata',
      'method',
      'allow-http',
    ]) {
      expect(message).toContain(`"${input}"`)
    }
    expect(message).toContain('/api/v1/feedback/tokens/<id>')
    expect(result.visible).not.toContain('wrong-place')
    expect(replay.seen).toHaveLength(0)
  })

  it.each([
    [
      'metadata by GET',
      { method: 'GET', metadata: '{"a":1}', score: '1' },
      /"metadata": cannot be sent by GET/,
    ],
    ['nothing to submit', {}, /at least one of score, value, comment, correction and metadata/],
    ['blank inputs', { comment: '  ' }, /at least one of/],
  ])('refuses %s before any request', async (_, inputs, message) => {
    const { url, replay } = await serve()
    const result = await run({ 'feedback-url': url, ...inputs })
    expect(result.exitCode).toBe(1)
    expect(result.annotations[0]?.message).toMatch(message)
    expect(replay.seen).toHaveLength(0)
  })

  it.each([
    ['http: elsewhere', 'http://feedback.example/api/v1/feedback/tokens/x', /https:\/\//],
    ['no URL', 'not-a-url', /a URL such as/],
    ['missing', '', /"feedback-url": is required/],
  ])('refuses a URL that is %s', async (_, url, message) => {
    const result = await run({ 'feedback-url': url, score: '1' })
    expect(result.exitCode).toBe(1)
    expect(result.annotations[0]?.message).toMatch(message)
  })

  it('ends red and quickly when the job is cancelled', async () => {
    const asked = Promise.withResolvers<void>()
    const replay = await startReplay(() => {
      asked.resolve()
      return { status: 200, body: '{', hang: true }
    })
    replays.push(replay)
    const result = await runBundle({
      action: 'feedback',
      inputs: { 'feedback-url': new URL(`/api/v1/feedback/tokens/${TOKEN}`, replay.url).href, score: '1' },
      signalAfter: { until: asked.promise },
    })
    expect(result.exitCode).toBe(1)
    expect(result.msAfterSignal).toBeLessThan(5_000)
  })
})
