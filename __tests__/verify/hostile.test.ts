import { afterEach, describe, expect, it } from '@jest/globals'
import { type Verified, verifyAgent } from '../helpers/live-agent.ts'
import { exchange, type Replay, type Reply, recording, type Seen, startReplay } from '../helpers/replay.ts'

/** Runs that go wrong in ways that the emulator does not, and what the JavaScript server does otherwise. */
const replays: Replay[] = []
afterEach(async () => {
  for (const replay of replays.splice(0)) await replay.close()
})

const json = (value: unknown, status = 200): Reply => ({ status, body: JSON.stringify(value) })
const RUN = 'event: metadata\r\ndata: {"run_id":"r-1","attempt":1}\r\n\r\n'
const HI = 'event: updates\r\ndata: {"agent":{"messages":[{"type":"ai","id":"a1","content":"Hi"}]}}\r\n\r\n'

function stream(body: string, more: Partial<Reply> = {}): Reply {
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, body, ...more }
}

interface Script {
  readonly stream?: Reply
  readonly run?: (call: number) => Reply
  readonly thread?: (call: number) => Reply
  readonly other?: (request: Seen) => Reply | undefined
}

async function serve(script: Script): Promise<Replay> {
  let runCalls = 0
  let threadCalls = 0
  const replay = await startReplay((request) => {
    const { method, path } = request
    const other = script.other?.(request)
    if (other !== undefined) return other
    if (path === '/ok') return json({ ok: true })
    if (path === '/info') return json({ version: '0.16.7' })
    if (path === '/assistants/search')
      return json([{ assistant_id: 'a-1', graph_id: 'agent', metadata: { created_by: 'system' } }])
    if (path === '/threads') return json({ thread_id: 't-1' })
    if (path.endsWith('/runs/stream')) return script.stream ?? stream(RUN + HI)
    if (method === 'DELETE') return { status: 204, body: '' }
    if (path.includes('/runs/')) return script.run?.(++runCalls) ?? json({ run_id: 'r-1', status: 'success' })
    return script.thread?.(++threadCalls) ?? json({ thread_id: 't-1', status: 'idle' })
  })
  replays.push(replay)
  return replay
}

async function check(
  script: Script,
  expectation = '{}',
  options = {},
): Promise<Verified & { replay: Replay }> {
  const replay = await serve(script)
  const report = await verifyAgent({
    target: { url: replay.url },
    checks: `checks: [{ name: c, input: {}, expect: ${expectation} }]`,
    options,
  })
  return { ...report, replay }
}

describe('a stream', () => {
  it('in order passes', async () => {
    expect((await check({}, '{ text: Hi }')).find('c')).toMatchObject({ reason: '', said: 'Hi' })
  })

  it('that breaks is told as that, with what came before', async () => {
    const { find, replay } = await check({ stream: stream(`${RUN}${HI}event: upd`, { break: true }) })
    expect(find('c')).toMatchObject({
      reason: expect.stringMatching(/^The run's stream broke after 2 events/),
      hint: expect.stringMatching(/proxy/),
      said: 'Hi',
    })
    expect(replay.seen.some(({ method, path }) => method === 'DELETE' && path === '/threads/t-1')).toBe(true)
  })

  it('that never ends is ended, and its heartbeats do not help', async () => {
    const { find } = await check({ stream: stream(`${RUN}: heartbeat\r\n\r\n`, { hang: true }) }, '{}', {
      timeoutMs: 1_200,
    })
    expect(find('c').reason).toBe(
      'The run was not done within 1.2 s: its stream stayed open (1 event and 1 heartbeat came)',
    )
  })

  it('that never begins is ended too', async () => {
    const { find } = await check({ stream: stream('', { hang: true }) }, '{}', { timeoutMs: 600 })
    expect(find('c').reason).toMatch(/^The run was not done within 0\.6 s|^Not done within 0\.6 s/)
  })

  it('cut in the middle of an event, and closed in order, cannot be read', async () => {
    const { find } = await check({ stream: stream(`${RUN}event: updates\r\ndata: {"agent":{"mess`) })
    expect(find('c').reason).toMatch(/^The run's stream cannot be read after 1 event: .*not JSON$/)
  })

  it('closed while the run goes on was cut', async () => {
    const { find } = await check(
      { stream: stream(RUN + HI), run: () => json({ run_id: 'r-1', status: 'running' }) },
      '{}',
      { timeoutMs: 900 },
    )
    expect(find('c')).toMatchObject({
      reason: "The run's stream closed too early: the run's status is still running",
      said: 'Hi',
    })
  })

  it('closed a moment before the run’s status says so is in order', async () => {
    const { find } = await check({
      run: (call) => json({ status: call < 3 ? 'running' : 'success' }),
      thread: (call) => json({ thread_id: 't-1', status: call < 3 ? 'busy' : 'idle' }),
    })
    expect(find('c').reason).toBe('')
  })

  it('without any state event proves nothing', async () => {
    const { find } = await check({ stream: stream(RUN) })
    expect(find('c').reason).toMatch(/stream told nothing of what the graph did$/)
  })

  it('that names no run is none of an agent server', async () => {
    const { find } = await check({ stream: stream(HI) })
    expect(find('c').reason).toMatch(/^The run’s stream closed without naming a run/)
  })

  it('may name its run in Content-Location alone', async () => {
    const headers = { 'content-type': 'text/event-stream', 'content-location': '/threads/t-1/runs/r-7' }
    const { find, replay } = await check({ stream: stream(HI, { headers }) })
    expect(find('c').reason).toBe('')
    expect(replay.seen.some(({ path }) => path === '/threads/t-1/runs/r-7')).toBe(true)
  })

  it('that is no event stream is named', async () => {
    const { find } = await check({
      stream: { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' },
    })
    expect(find('c').reason).toMatch(/answered something that is no event stream/)
  })
})

describe('a run', () => {
  it.each([
    ['interrupted', /^The run was cancelled/],
    ['error', /^The run failed: its status is error/],
    ['timeout', /time limit/],
    ['::error::odd', /none of success, error, timeout, interrupted$/],
  ])('with the status %s fails, though its stream closed in order', async (status, reason) => {
    const { find } = await check({ run: () => json({ run_id: 'r-1', status }) })
    expect(find('c').reason).toMatch(reason)
    expect(find('c').reason).not.toContain('::')
  })

  it('that is gone was rolled back', async () => {
    const { find } = await check({ run: () => json({ detail: 'Not Found' }, 404) })
    expect(find('c').reason).toMatch(/^The run r-1 is gone/)
  })

  it('that is a success on an interrupted thread stopped to ask, whatever its stream said', async () => {
    const thread = () => json({ thread_id: 't-1', status: 'interrupted' })
    expect((await check({ thread })).find('c').reason).toBe(
      'The run stopped to ask: its thread is interrupted',
    )
    expect((await check({ thread }, '{ interrupt: true }')).find('c').reason).toBe('')
  })

  it('with an empty answer is told apart from a wrong one', async () => {
    const empty = stream(
      `${RUN}event: updates\ndata: {"agent":{"messages":[{"type":"ai","id":"a","content":""}]}}\n\n`,
    )
    const reason = 'The answer is empty: the run is a success and no AI message has text'
    expect((await check({ stream: empty })).find('c').reason).toBe(reason)
    expect((await check({ stream: empty }, '{ text: Hi }')).find('c').reason).toBe(reason)
    expect((await check({ stream: empty }, '{ text: "" }')).find('c').reason).toBe('')
    expect((await check({}, '{ text: Bye }')).find('c').reason).toBe('The answer does not contain "Bye"')
  })

  it('on a busy thread, or refused for its fields, is told by its status', async () => {
    for (const status of [409, 400]) {
      const { find } = await check({ stream: json({ detail: 'words of the server' }, status) })
      expect(find('c')).toMatchObject({
        reason: `The server answered ${status} while running the agent`,
        said: 'words of the server',
      })
    }
  })
})

describe('refusals recorded of servers with authentication', () => {
  it.each([
    [
      'python-0.16.7-custom-auth',
      '6-custom-none-assistants',
      {},
      /wants a key and none was sent: it answered 401/,
    ],
    [
      'python-0.16.7-custom-auth',
      '6-custom-forbidden-assistants',
      { 'x-api-key': 'k' },
      /not accept the key.*403/,
    ],
    [
      'python-0.16.7-custom-auth',
      '6-custom-forbidden-assistants',
      { 'x-own': 'k' },
      /not accept the headers \(x-own\)/,
    ],
    [
      'python-0.16.7-custom-auth',
      '6-custom-boom-assistants',
      { 'x-api-key': 'k' },
      /answered 500 while looking/,
    ],
    [
      'python-0.16.7-langsmith-auth',
      '6-ls-none-threads',
      {},
      /wants a key and none was sent: it answered 403/,
    ],
    ['python-0.16.7-langsmith-auth', '6-ls-bad-threads', { 'x-api-key': 'k' }, /not accept the key/],
    ['python-0.16.7-langsmith-auth', '6-ls-other-threads', { 'x-api-key': 'k' }, /not accept the key/],
  ])('%s %s with %j', async (file, name, headers, reason) => {
    const { response } = exchange(recording(file), name)
    const replay = await serve({
      other: ({ path }) => (path === '/assistants/search' ? response : undefined),
    })
    const report = await verifyAgent({
      target: { url: replay.url, headers },
      checks: 'checks: [{ input: {} }]',
    })
    expect(report.checks[0]).toMatchObject({
      reason: expect.stringMatching(reason),
      hint: expect.any(String),
    })
  })
})

describe('the JavaScript server', () => {
  it('sends its error first and as a bare text', async () => {
    const { find } = await check({ stream: stream('event: error\ndata: "Graph not found"\n\n') })
    expect(find('c')).toMatchObject({
      reason: 'The run failed inside its stream, which carried an error event',
      said: 'Graph not found',
    })
  })

  it('refuses an unknown assistant with 404 as plain text', async () => {
    const replay = await serve({
      stream: {
        status: 404,
        headers: { 'content-type': 'text/plain' },
        body: 'No assistant found for "nope".',
      },
    })
    const report = await verifyAgent({
      target: { url: replay.url },
      checks: 'checks: [{ assistant: nope, input: {} }]',
    })
    expect(report.checks[0]?.reason).toBe('The server has no graph or assistant "nope"; its graphs: agent')
  })

  it('accepts an assistant of a graph that is not there, whose runs fail', async () => {
    const made = { assistant_id: 'a-9', graph_id: 'nope', metadata: {} }
    const replay = await serve({
      stream: stream(
        `${RUN}event: error\ndata: {"error":"Error","message":"Graph \\"nope\\" not found"}\n\n`,
      ),
      other: ({ method, path }) => {
        if (path === '/assistants' || (method === 'GET' && path === '/assistants/a-9')) return json(made)
        if (path !== '/assistants/search') return undefined
        return json([made, { assistant_id: 'a-1', graph_id: 'agent', metadata: { created_by: 'system' } }])
      },
    })
    const report = await verifyAgent({
      target: { url: replay.url },
      checks: 'checks: [{ assistant: { graph: nope }, input: {} }]',
    })
    expect(report.checks[0]).toMatchObject({
      reason: 'The server has no graph or assistant "nope"; its graphs: agent',
      said: 'Error: Graph "nope" not found',
    })
  })

  it('waits for LangSmith when it mints feedback URLs: the hint names that', async () => {
    const replay = await serve({ stream: stream(RUN + HI, { hang: true }) })
    const report = await verifyAgent({
      target: { url: replay.url },
      checks: 'checks: [{ input: {}, feedback: [score] }]',
      options: { timeoutMs: 500 },
    })
    expect(report.checks[0]?.hint).toMatch(/feedback URLs.*LANGSMITH_API_KEY/)
  })

  it('ends its lines with LF and numbers its events', async () => {
    const body = `${RUN}${HI}`.replaceAll('\r\n', '\n').replaceAll('\n\n', '\nid: 0\n\n')
    expect((await check({ stream: stream(body) }, '{ text: Hi }')).find('c').reason).toBe('')
  })
})

describe('minting of feedback URLs', () => {
  it('that fails without a word of LangSmith is told by a graph at its end', async () => {
    const failed = `${RUN}${HI}event: error\ndata: {"error":"JSONDecodeError","message":"Expecting value"}\n\n`
    for (const [next, reason] of [
      [[], /^The server cannot make feedback URLs/],
      [['agent'], /^The run failed inside its stream/],
    ] as const) {
      const replay = await serve({
        stream: stream(failed),
        other: ({ path }) => (path.endsWith('/state') ? json({ next }) : undefined),
      })
      const report = await verifyAgent({
        target: { url: replay.url },
        checks: 'checks: [{ input: {}, feedback: [score] }]',
      })
      expect(report.checks[0]?.reason).toMatch(reason)
    }
  })
})

describe('checks side by side', () => {
  it('are no more at once than was said, and as many', async () => {
    let now = 0
    let most = 0
    const replay = await serve({})
    const checks = Array.from({ length: 6 }, () => '{ input: {} }').join(', ')
    const seenThreads = (): number =>
      replay.seen.filter(({ method, path }) => method === 'POST' && path === '/threads').length
    const report = await verifyAgent({
      target: { url: replay.url },
      checks: `{ concurrency: 2, checks: [${checks}] }`,
    })
    expect(report.passed).toBe(6)
    expect(seenThreads()).toBe(6)
    // Of the requests in order: threads that were made less threads that were deleted are the checks at once.
    for (const { method, path } of replay.seen) {
      if (method === 'POST' && path === '/threads') now++
      if (method === 'DELETE') now--
      most = Math.max(most, now)
    }
    expect(most).toBe(2)
  })
})

describe('a cancel', () => {
  it('is the only thing that is thrown, in the wait and in a run', async () => {
    const down = await serve({ other: ({ path }) => (path === '/ok' ? json({}, 503) : undefined) })
    const hanging = await serve({ stream: stream(RUN, { hang: true }) })
    for (const replay of [down, hanging]) {
      const cancel = new AbortController()
      const reason = new Error('cancelled by the test')
      const verified = verifyAgent({
        target: { url: replay.url },
        checks: 'checks: [{ input: {} }]',
        signal: cancel.signal,
      })
      setTimeout(() => cancel.abort(reason), 150)
      await expect(verified).rejects.toBe(reason)
    }
  })
})

describe('remote text', () => {
  it('is in no reason, whatever the server says', async () => {
    const evil = '::error::evil\n::set-output name=x::y'
    const said = JSON.stringify({ error: evil, message: evil })
    const scripts: Script[] = [
      { stream: stream(`${RUN}event: error\ndata: ${said}\n\n`) },
      { stream: json({ detail: evil }, 422) },
      { stream: json({ detail: evil }, 500) },
      { run: () => json({ status: evil }) },
      { stream: stream(`${RUN}event: updates\ndata: ${JSON.stringify({ [evil]: { answer: evil } })}\n\n`) },
      { other: ({ path }) => (path === '/threads' ? json({ detail: evil }, 403) : undefined) },
      { other: ({ path }) => (path === '/assistants/search' ? json([{ [evil]: 1 }]) : undefined) },
      {
        other: ({ path }) =>
          path === '/assistants/search'
            ? json(
                [evil, 'b'].map((id) => ({
                  assistant_id: id,
                  graph_id: id,
                  metadata: { created_by: 'system' },
                })),
              )
            : undefined,
      },
    ]
    for (const script of scripts) {
      const { find } = await check(script, '{ text: Hello, node: n }')
      expect(find('c').verdict).toBe('failed')
      expect(find('c').reason).not.toContain('evil')
      expect(find('c').hint ?? '').not.toContain('evil')
    }
  })
})
