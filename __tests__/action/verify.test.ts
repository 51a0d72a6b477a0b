import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { type RunResult, runBundle } from '../helpers/action.ts'
import { startTestEmulator, type TestEmulator } from '../helpers/emulator.ts'
import { deployAgent, type LiveAgent } from '../helpers/live-agent.ts'
import { type Replay, startReplay } from '../helpers/replay.ts'

let emulator: TestEmulator
let agent: LiveAgent
let workspace: string
const replays: Replay[] = []

beforeAll(async () => {
  emulator = await startTestEmulator()
  agent = await deployAgent(emulator)
  workspace = mkdtempSync(join(tmpdir(), 'verify-'))
})
afterAll(async () => {
  await emulator.close()
  rmSync(workspace, { recursive: true, force: true })
})
afterEach(async () => {
  for (const replay of replays.splice(0)) await replay.close()
})

function run(inputs: Record<string, string> = {}, more: object = {}): Promise<RunResult> {
  return runBundle({
    action: 'verify',
    inputs: {
      'deployment-url': agent.url.href,
      'api-key': emulator.apiKey,
      'sandbox-url': emulator.sandboxUrl,
      ...inputs,
    },
    cwd: workspace,
    ...more,
  })
}

const hello = 'input: { messages: [{ role: user, content: Hello }] }'

describe('the verify action', () => {
  it('is green and tells its outputs when the server is ready', async () => {
    const result = await run()
    expect(result.stderr).toBe('')
    expect(result).toMatchObject({ exitCode: 0, annotations: [], outputs: { passed: '1', failed: '0' } })
    expect(JSON.parse(result.outputs['report'] ?? '')).toEqual({
      passed: 1,
      failed: 0,
      checks: [{ name: 'ready', verdict: 'passed', reason: '', seconds: expect.any(Number) }],
    })
    expect(result.summary).toContain('ready')
    expect(result.outputs['junit-path']).toBeUndefined()
  })

  it('runs checks of every kind, given as text, as JSON or as a file', async () => {
    const checks = `checks:
  - { name: says hello, ${hello}, expect: { text: "echo: Hello", node: agent }, feedback: { user_score: 1 } }
  - name: hands over
    thread:
      - { assistant: agent, ${hello} }
      - { assistant: counter, ${hello}, expect: { text: count=3 } }
  - { name: speaks A2A, a2a: { messages: [Hello, And again], expect: { text: And again } } }
  - { name: sandbox is up, sandbox: { name: box-1, expect: { status: ready } } }`
    mkdirSync(join(workspace, 'ci'), { recursive: true })
    writeFileSync(join(workspace, 'ci', 'checks.yml'), checks)
    for (const given of [checks, 'ci/checks.yml']) {
      const result = await run({ checks: given })
      expect([result.visible, result.exitCode]).toEqual([result.visible, 0])
      expect(result.outputs).toMatchObject({ passed: '4', failed: '0' })
    }
    const json = JSON.stringify({ checks: [{ input: { messages: [] } }] })
    expect((await run({ checks: json })).outputs).toMatchObject({ passed: '1', failed: '0' })
  })

  it('is red when a check fails, with one annotation, and still writes everything', async () => {
    const result = await run({
      checks: `checks:
  - { name: fine, ${hello} }
  - { name: wrong words, ${hello}, expect: { text: Goodbye } }
  - { name: breaks, assistant: failing, ${hello} }`,
      'junit-path': 'reports/deep/verify.xml',
    })
    expect(result.exitCode).toBe(1)
    expect(result.outputs).toMatchObject({
      passed: '1',
      failed: '2',
      'junit-path': 'reports/deep/verify.xml',
    })
    expect(result.annotations).toHaveLength(1)
    expect(result.annotations[0]?.message).toContain('2 of 3 checks failed')
    expect(result.annotations[0]?.message).toContain('wrong words: The answer does not contain "Goodbye"')
    expect(result.outputs['report']).not.toContain('deliberate failure')
    expect(result.visible).toContain('deliberate failure in node')
    expect(result.summary).toMatch(/2 of 3 checks failed/)
    expect(result.summary).toContain('wrong words')
    const junit = readFileSync(join(workspace, 'reports', 'deep', 'verify.xml'), 'utf8')
    expect(junit).toMatch(/<testsuite [^>]*tests="3" failures="2"/)
    expect(junit).toContain('The answer does not contain &quot;Goodbye&quot;')
  })

  it('sends no credential without a key, and says so when one is wanted', async () => {
    const result = await run({ 'api-key': '' })
    expect(result.exitCode).toBe(1)
    expect(result.annotations[0]?.message).toMatch(/wants a key and none was sent/)
    const { requests } = await emulator.state()
    expect(requests.at(-1)?.headers['x-api-key']).toBeUndefined()
  })

  it('lets agent-headers stand in place of ours, masks them, and sends them to the deployment only', async () => {
    const result = await run({
      'api-key': 'not-the-key-of-this-server',
      'agent-headers': `X-Api-Key: ${emulator.apiKey}\nX-Own: own-header-value`,
      checks: `checks: [{ ${hello}, feedback: { score: 1 } }]`,
    })
    expect(result.exitCode).toBe(0)
    expect(result.masks).toEqual(
      expect.arrayContaining(['not-the-key-of-this-server', emulator.apiKey, 'own-header-value']),
    )
    const { requests, feedback } = await emulator.state()
    expect(requests.findLast(({ path }) => path.endsWith('/runs/stream'))?.headers).toMatchObject({
      'x-api-key': emulator.apiKey,
      'x-own': 'own-header-value',
    })
    const submitted = requests.findLast(({ path }) => path.includes('/feedback/tokens/'))
    expect(submitted?.headers['x-own']).toBeUndefined()
    expect(submitted?.headers['x-api-key']).toBeUndefined()
    expect(result.masks).toContain(feedback.at(-1)?.['url'])
  })

  it('tells all wrong inputs at once, before any request', async () => {
    const before = (await emulator.state()).requests.length
    const result = await run({
      'deployment-url': 'http://agent.example.com',
      'timeout-seconds': 'soon',
      concurrency: '1.5',
      'allow-http': 'yes',
      'agent-headers': 'no colon here',
      checks: 'checks: [{ nmae: x }, { expect: { text: /(/ } }]',
    })
    expect(result.exitCode).toBe(1)
    expect(result.annotations).toHaveLength(1)
    const message = result.annotations[0]?.message ?? ''
    for (const input of [
      '"deployment-url"',
      '"timeout-seconds"',
      '"concurrency"',
      '"allow-http"',
      '"agent-headers"',
      'checks[0].nmae: unknown key',
      'checks[1].expect.text',
    ]) {
      expect(message).toContain(input)
    }
    expect(message).not.toContain('no colon here')
    expect((await emulator.state()).requests).toHaveLength(before)
  })

  it.each([
    ['no-such-file.yml', /no-such-file\.yml.*ENOENT/],
    ['- a\n- b', /several lines/],
    ['off', /is "off"/],
  ])('says what is wrong with `checks`: %j', async (checks, message) => {
    const result = await run({ checks })
    expect(result.exitCode).toBe(1)
    expect(result.annotations[0]?.message).toMatch(message)
  })

  it('names the file and the place of a fault in it', async () => {
    writeFileSync(join(workspace, 'bad.yml'), 'checks:\n  - expect: { node: 5 }\n')
    const result = await run({ checks: 'bad.yml' })
    expect(result.annotations[0]?.message).toMatch(/file "bad\.yml": checks\[0\]\.expect\.node: 5/)
  })

  it('fails every check when the server is not reached', async () => {
    const replay = await startReplay(() => ({ status: 502, body: 'Bad Gateway' }))
    replays.push(replay)
    const result = await run({
      'deployment-url': replay.url.href,
      'timeout-seconds': '0.7',
      checks: 'checks: [{ input: {} }, { input: {} }]',
    })
    expect(result).toMatchObject({ exitCode: 1, outputs: { passed: '0', failed: '2' } })
    expect(result.annotations[0]?.message).toContain('not reachable within 0.7 s: /ok answered 502')
  })

  it('runs no command that the server dictates', async () => {
    const evil = '::error::evil%0A\n::set-output name=report::evil\r\n##[warning]evil <img src=x> ]]> &'
    const replay = await startReplay(({ path }) => {
      if (path === '/ok') return { status: 200, body: '{"ok":true}' }
      if (path === '/info') return { status: 200, body: JSON.stringify({ version: evil }) }
      if (path === '/threads') return { status: 200, body: '{"thread_id":"t"}' }
      if (path === '/assistants/search') {
        const one = { assistant_id: 'a', graph_id: 'agent', metadata: { created_by: 'system' } }
        return { status: 200, body: JSON.stringify([one]) }
      }
      const error = `event: error\ndata: ${JSON.stringify({ error: evil, message: evil })}\n\n`
      return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: error }
    })
    replays.push(replay)
    const result = await run({
      'deployment-url': replay.url.href,
      checks: 'checks: [{ input: {} }]',
      'junit-path': 'evil.xml',
    })
    expect(result.exitCode).toBe(1)
    expect(result.annotations).toHaveLength(1)
    const names = new Set(result.executedCommands.map(({ name }) => name))
    for (const expected of ['error', 'group', 'endgroup', 'add-mask']) names.delete(expected)
    expect([...names]).toEqual([])
    expect(result.annotations[0]?.message).not.toContain('evil')
    expect(result.outputs['report']).not.toContain('evil')
    expect(result.summary).not.toContain('<img')
    expect(readFileSync(join(workspace, 'evil.xml'), 'utf8')).toContain(']]&gt;')
  })

  it('ends within five seconds when it is cancelled, red', async () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const begun = Promise.withResolvers<void>()
      const replay = await startReplay(({ path }) => {
        if (path === '/ok') begun.resolve()
        return path === '/ok' ? { status: 503, body: '{}' } : undefined
      })
      replays.push(replay)
      const result = await run(
        { 'deployment-url': replay.url.href, 'timeout-seconds': '60' },
        { signalAfter: { signal, until: begun.promise } },
      )
      expect([signal, result.exitCode, result.endedBy]).toEqual([signal, 1, null])
      expect(result.msAfterSignal).toBeLessThan(5_000)
      expect(result.annotations).toHaveLength(1)
      expect(result.annotations[0]?.message).toMatch(/cancelled/)
    }
  })
})
