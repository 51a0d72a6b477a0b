import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { startTestEmulator, type TestEmulator } from '../helpers/emulator.ts'
import { deployAgent, type LiveAgent, type Verified, verifyAgent } from '../helpers/live-agent.ts'

let emulator: TestEmulator
let agent: LiveAgent
const closing: TestEmulator[] = []

beforeAll(async () => {
  emulator = await startTestEmulator()
  agent = await deployAgent(emulator)
})
afterAll(async () => {
  for (const one of [emulator, ...closing]) await one.close()
})

function check(checks: string, options: object = {}): Promise<Verified> {
  return verifyAgent({
    target: { url: agent.url, headers: { 'x-api-key': emulator.apiKey } },
    checks,
    options,
  })
}

const hello = 'input: { messages: [{ role: user, content: Hello }] }'

describe('ready', () => {
  it('passes on a live server, and leaves no thread behind', async () => {
    const url = agent.url
    const target = { url, headers: { 'x-api-key': emulator.apiKey }, expectedRevisionId: agent.revisionId }
    const before = (await emulator.state()).requests.length
    const report = await verifyAgent({ target })
    expect(report).toMatchObject({
      passed: 1,
      failed: 0,
      checks: [{ name: 'ready', verdict: 'passed', reason: '' }],
    })
    const asked = (await emulator.state()).requests.slice(before).map(({ method, path }) => {
      return `${method} ${path.replace(/^\/d\/[^/]+/, '').replace(/[0-9a-f-]{36}/g, '*')}`
    })
    expect(asked).toEqual([
      'GET /ok',
      'GET /info',
      'POST /assistants/search',
      'GET /assistants/*',
      'POST /threads',
      'DELETE /threads/*',
    ])
  })

  it.each([
    [{}, /wants a key and none was sent: it answered 403/, /Give `api-key`/],
    [{ 'x-api-key': 'wrong-key' }, /does not accept the key \(`x-api-key`\)/, /workspace/],
    [{ authorization: 'Bearer nonsense' }, /does not accept the headers \(authorization\)/, /agent-headers/],
  ])('tells no key from a wrong one: %j', async (headers, reason, hint) => {
    const { checks } = await verifyAgent({ target: { url: agent.url, headers } })
    expect(checks[0]).toMatchObject({
      verdict: 'failed',
      reason: expect.stringMatching(reason),
      hint: expect.stringMatching(hint),
    })
    expect(checks[0]?.reason).not.toContain('wrong-key')
  })
})

describe('a run', () => {
  it.each([
    ['left out: updates', ''],
    ['updates', 'stream-mode: updates,'],
    ['values', 'stream-mode: values,'],
    ['messages', 'stream-mode: messages,'],
    ['messages-tuple', 'stream-mode: [messages-tuple],'],
    ['several', 'stream-mode: [values, messages-tuple, debug],'],
    ['custom', 'stream-mode: custom,'],
  ])('is read in stream mode %s, and `updates` is always asked for', async (_name, mode) => {
    const report = await check(
      `checks: [{ ${mode} ${hello}, expect: { text: "/^echo: Hello \\\\(seen 1\\\\)$/", node: agent } }]`,
    )
    expect(report.checks[0]).toMatchObject({ reason: '', said: 'echo: Hello (seen 1)' })
    const sent = (await emulator.state()).requests.findLast(({ path }) => path.endsWith('/runs/stream'))
    expect(sent?.body).toMatchObject({ stream_mode: expect.arrayContaining(['updates']) })
  })

  it('joins the words of a streaming model', async () => {
    const { checks } = await check(`checks:
      - { assistant: tokens, stream-mode: messages-tuple, ${hello}, expect: { text: "/^alpha beta gamma$/" } }
      - { assistant: tokens, stream-mode: messages, ${hello}, expect: { text: "/^alpha beta gamma$/" } }`)
    expect(checks.map(({ reason }) => reason)).toEqual(['', ''])
  })

  it('is not satisfied by the user’s own words', async () => {
    const report = await check(`checks: [{ assistant: two, ${hello}, expect: { text: Hello } }]`)
    expect(report.checks[0]).toMatchObject({
      reason: 'The answer does not contain "Hello"',
      said: 'step one\nstep two',
    })
  })

  it('compares with upper and lower case, by a regular expression, and with the empty text', async () => {
    const { checks } = await check(`checks:
      - { ${hello}, expect: { text: hello } }
      - { ${hello}, expect: { text: /HELLO/i } }
      - { ${hello}, expect: { text: /nothing of this/ } }
      - { ${hello}, expect: { text: "" } }`)
    expect(checks.map(({ reason }) => reason)).toEqual([
      'The answer does not contain "hello"',
      '',
      'The answer does not match /nothing of this/',
      '',
    ])
  })

  it('of a graph without messages is compared by the JSON of its updates', async () => {
    const report = await check(
      'checks: [{ assistant: nomessages, input: { question: why }, expect: { text: \'"answer":"re: why"\' } }]',
    )
    expect(report.checks[0]?.reason).toBe('')
  })

  it('in which every node wrote nothing has an empty answer', async () => {
    const { checks } = await check(`checks:
      - { assistant: nullnode, ${hello} }
      - { assistant: nullnode, ${hello}, expect: { text: "" } }
      - { assistant: nullnode, ${hello}, expect: { node: nullnode } }`)
    expect(checks.map(({ reason }) => reason)).toEqual([
      'The answer is empty: the run is a success and no AI message has text',
      '',
      '',
    ])
  })

  it('looks for the node that wrote', async () => {
    const report = await check(`checks: [{ assistant: two, ${hello}, expect: { node: third } }]`)
    expect(report.checks[0]?.reason).toBe(
      'No update of the node "third" came; the nodes that wrote: first, second',
    )
  })

  it('merges `run` last', async () => {
    const { checks } = await check(`checks:
      - { assistant: ctxecho, ${hello}, run: { context: { prefix: P-1 } }, expect: { text: P-1 } }
      - { ${hello}, run: { input: { messages: [{ role: user, content: Other }] } }, expect: { text: Other } }
      - { ${hello}, run: { stream_mode: values }, expect: { text: Hello, node: agent } }`)
    expect(checks.map(({ reason }) => reason)).toEqual(['', '', ''])
  })

  it('that fails inside its stream is a failure, with what the server said kept apart', async () => {
    const report = await check(
      `checks: [{ assistant: failing, ${hello} }, { input: {}, run: { input: null } }]`,
    )
    expect(report.checks[0]).toMatchObject({
      reason: 'The run failed inside its stream, which carried an error event',
      hint: expect.stringMatching(/trace/),
      said: 'ValueError: deliberate failure in node',
    })
    expect(report.checks[1]?.hint).toMatch(/got no input/)
  })

  it('that does not end is ended by its time, longer or shorter than that of the others', async () => {
    const started = Date.now()
    const report = await check(`checks: [{ assistant: slow, ${hello}, expect: { within-seconds: 0.8 } }]`)
    expect(report.checks[0]).toMatchObject({
      reason: expect.stringMatching(
        /^The run was not done within 0\.8 s: its stream stayed open \(\d+ events? came\)$/,
      ),
      hint: expect.stringMatching(/within-seconds/),
    })
    expect(Date.now() - started).toBeLessThan(8_000)
    const { requests } = await emulator.state()
    expect(requests.findLast(({ method }) => method === 'DELETE')?.path).toMatch(/\/threads\//)
  })

  it('that stops to ask fails, unless that is expected', async () => {
    const { checks } = await check(`checks:
      - { assistant: interrupting, ${hello} }
      - { assistant: interrupting, ${hello}, expect: { interrupt: true, text: "approve?" } }
      - { ${hello}, expect: { interrupt: true } }
      - { ${hello}, run: { interrupt_before: [agent] } }`)
    expect(checks.map(({ reason }) => reason)).toEqual([
      'The run stopped to ask: its thread is interrupted',
      '',
      'The run went to its end, where it was expected to stop and ask',
      'The run stopped to ask: its thread is interrupted',
    ])
    expect(checks[0]?.said).toContain('approve?')
  })

  it('whose fields are refused names the status, and keeps the server’s words apart', async () => {
    const report = await check(`checks: [{ stream-mode: banana, ${hello} }]`)
    expect(report.checks[0]).toMatchObject({
      reason: 'The server answered 422 while running the agent',
      hint: expect.stringMatching(/stream-mode/),
      said: expect.stringContaining('banana'),
    })
  })
})

describe('the assistant of a check', () => {
  it('is not there: the sentence names what is', async () => {
    const { checks } = await check(`checks:
      - { assistant: nope, ${hello} }
      - { assistant: 00000000-0000-4000-8000-000000000000, ${hello} }
      - { assistant: { graph: nope }, ${hello} }`)
    const graphs =
      'The server has no graph or assistant "nope"; its graphs: agent, blocks, counter, ctxecho, failing, interrupting, nomessages, nullnode, slow, tokens, two'
    expect(checks.map(({ reason }) => reason)).toEqual([
      graphs,
      'The server has no assistant with the id 00000000-0000-4000-8000-000000000000',
      graphs,
    ])
  })

  it('is read by its id before its first run', async () => {
    const report = await check(`checks: [{ assistant: fe096781-5601-53d2-b2f6-0d3403f7e9ca, ${hello} }]`)
    expect(report.passed).toBe(1)
    const { requests } = await emulator.state()
    expect(
      requests.some(({ method, path }) => method === 'GET' && path.includes('/assistants/fe096781')),
    ).toBe(true)
  })

  it('is created, read back, used and deleted', async () => {
    const before = (await emulator.state()).requests.length
    const report = await check(
      `checks: [{ assistant: { graph: agent, config: { configurable: { prefix: P } }, name: mine, metadata: { a: 1 } }, ${hello}, expect: { text: "P: echo" } }]`,
    )
    expect(report.checks[0]?.reason).toBe('')
    const own = (await emulator.state()).requests
      .slice(before)
      .filter(({ path }) => path.includes('/assistants'))
    expect(own.map(({ method }) => method)).toEqual(['POST', 'GET', 'DELETE'])
    expect(own[0]?.body).toEqual({
      graph_id: 'agent',
      config: { configurable: { prefix: 'P' } },
      name: 'mine',
      metadata: { a: 1 },
    })
  })

  it('is deleted after a check that failed too', async () => {
    const before = (await emulator.state()).requests.length
    const report = await check(`checks: [{ assistant: { graph: failing }, ${hello} }]`)
    expect(report.failed).toBe(1)
    const deleted = (await emulator.state()).requests
      .slice(before)
      .filter(({ method }) => method === 'DELETE')
    expect(deleted.map(({ path }) => path.split('/')[3])).toEqual(['threads', 'assistants'])
  })
})

describe('a thread', () => {
  it('is shared: a later assistant sees what an earlier one saved', async () => {
    const report = await check(`checks:
      - thread:
          - { assistant: agent, ${hello}, expect: { text: seen 1 } }
          - { assistant: counter, ${hello}, expect: { text: count=3 } }
          - { assistant: agent, ${hello}, expect: { text: seen 3 } }`)
    expect(report.checks).toHaveLength(1)
    expect(report.checks[0]).toMatchObject({
      reason: '',
      said: 'echo: Hello (seen 1)\ncount=3\necho: Hello (seen 3)',
    })
  })

  it('names the run that fails, and ends there', async () => {
    const before = (await emulator.state()).requests.length
    const report = await check(`checks:
      - name: hands over
        thread:
          - { assistant: agent, ${hello} }
          - { assistant: counter, ${hello}, expect: { text: count=1 } }
          - { assistant: agent, ${hello} }`)
    expect(report.checks[0]?.reason).toBe('Run 2 of 3: The answer does not contain "count=1"')
    const runs = (await emulator.state()).requests
      .slice(before)
      .filter(({ path }) => path.endsWith('/runs/stream'))
    expect(runs).toHaveLength(2)
  })

  it('goes on after it stopped to ask', async () => {
    const report = await check(`checks:
      - thread:
          - { assistant: interrupting, ${hello}, expect: { interrupt: true } }
          - { assistant: interrupting, run: { command: { resume: "go" } }, expect: { text: resumed with 'go' } }`)
    expect(report.checks[0]?.reason).toBe('')
  })

  it('shares its time, but for a run with a time of its own', async () => {
    const slow = `{ assistant: slow, ${hello}, expect: { within-seconds: 1.2 } }`
    const timeouts = await check(`checks: [{ thread: [${slow}] }]`, { timeoutMs: 300 })
    expect(timeouts.checks[0]?.reason).toMatch(/^Run 1 of 1: The run was not done within 1\.2 s/)
    const shared = await check(`checks: [{ thread: [{ ${hello} }, { assistant: slow, ${hello} }] }]`, {
      timeoutMs: 1_800,
    })
    expect(shared.checks[0]?.reason).toMatch(/^Run 2 of 2: The run was not done within 1\.8 s/)
  })
})

describe('feedback', () => {
  it('is asked for, submitted as written, and its URLs are masked', async () => {
    const report = await check(
      `checks: [{ ${hello}, feedback: { user_score: 1, quality: { comment: fine, score: -0.5, metadata: { b: 1, a: 2 } } } }]`,
    )
    expect(report.checks[0]?.reason).toBe('')
    const { feedback, requests } = await emulator.state()
    const mine = feedback.slice(-2)
    expect(mine).toMatchObject([
      { key: 'user_score', score: 1 },
      { key: 'quality', comment: 'fine', score: -0.5, metadata: { b: 1, a: 2 } },
    ])
    for (const { url } of mine) expect(report.masks).toContain(url)
    const posts = requests.filter(({ path }) => path.includes('/feedback/tokens/'))
    expect(posts.length).toBeGreaterThan(0)
    for (const { headers } of posts) expect(headers['x-api-key']).toBeUndefined()
  })

  it('is asked for without submitting, when only keys are listed', async () => {
    const before = (await emulator.state()).requests.length
    const report = await check(`checks: [{ ${hello}, feedback: [user_score] }]`)
    expect(report.checks[0]?.reason).toBe('')
    const after = (await emulator.state()).requests.slice(before)
    expect(after.some(({ path }) => path.includes('/feedback/tokens/'))).toBe(false)
  })

  it('that the server cannot mint is told as that, not as a failed run', async () => {
    const other = await startTestEmulator({ feedback: false })
    closing.push(other)
    const live = await deployAgent(other)
    const headers = { 'x-api-key': other.apiKey }
    const report = await verifyAgent({
      target: { url: live.url, headers },
      checks: `checks: [{ ${hello}, feedback: [user_score] }, { assistant: failing, ${hello}, feedback: [user_score] }]`,
    })
    expect(report.checks[0]).toMatchObject({
      reason: 'The server cannot make feedback URLs: the run failed after its answer, when it asked for them',
      hint: expect.stringMatching(/LANGSMITH_API_KEY/),
    })
    expect(report.checks[1]?.reason).toBe('The run failed inside its stream, which carried an error event')
  })
})

describe('the JavaScript server’s habits', () => {
  it('are understood: LF, ids, no heartbeats, other statuses', async () => {
    const other = await startTestEmulator({ profile: 'js' })
    closing.push(other)
    const live = await deployAgent(other)
    const report = await verifyAgent({
      target: { url: live.url, headers: { 'x-api-key': other.apiKey } },
      checks: `checks:
        - { stream-mode: [values, messages-tuple], ${hello}, expect: { text: "/^echo: Hello .seen 1.$/" } }
        - thread: [{ ${hello} }, { assistant: counter, ${hello}, expect: { text: count=3 } }]
        - { assistant: nope, ${hello} }
        - { assistant: failing, ${hello} }`,
    })
    expect(report.checks.map(({ reason }) => reason)).toEqual([
      '',
      '',
      expect.stringMatching(/^The server has no graph or assistant "nope"/),
      expect.stringMatching(/^The run failed inside its stream/),
    ])
  })
})

describe('checks side by side', () => {
  it('keep their order', async () => {
    const names = Array.from({ length: 7 }, (_, i) => `c${i}`)
    const report = await check(
      `{ concurrency: 2, checks: [${names.map((name) => `{ name: ${name}, ${hello}, expect: { text: seen 1 } }`).join(', ')}] }`,
    )
    expect(report.checks.map(({ name }) => name)).toEqual(names)
    expect(report.passed).toBe(7)
  })

  it('leave nothing behind, however they end', async () => {
    const report = await check(`concurrency: 3
checks:
  - { ${hello} }
  - { ${hello}, expect: { text: Paris } }
  - { assistant: failing, ${hello} }
  - { assistant: slow, ${hello}, expect: { within-seconds: 0.3 } }
  - { assistant: { graph: agent, name: mine }, ${hello} }
  - thread: [{ ${hello} }, { assistant: counter, ${hello} }]`)
    expect(report).toMatchObject({ passed: 3, failed: 3 })
    // Of the other tests of this file neither.
    const { requests } = await emulator.state()
    const made = requests.filter(({ method, path, status }) => {
      return method === 'POST' && /\/d\/[^/]+\/(threads|assistants)$/.test(path) && status === 200
    })
    const deleted = requests.filter(({ method, path, status }) => {
      return method === 'DELETE' && /\/(threads|assistants)\//.test(path) && status === 204
    })
    expect(made.length).toBeGreaterThanOrEqual(7)
    expect(deleted).toHaveLength(made.length)
  })
})
