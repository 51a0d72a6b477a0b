/**
 * Our `verify/` and our client against a real `@langchain/langgraph-api` server: what works there passes, what that server has not is
 * told for what it is.
 *   node real-js/run.mjs [--verify <file>]      a built launcher; left out: the sources
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { assert, Checks } from '../clients/check.mjs'
import { ourClients } from './clients.mjs'
import { startRealServer } from './start.mjs'

const { values: flags } = parseArgs({ options: { verify: { type: 'string' } } })
const SOURCES = new URL('../../src/actions/index.ts', import.meta.url).href
const checks = new Checks('verify/ against @langchain/langgraph-api 1.5.1')
const folder = mkdtempSync(join(tmpdir(), 'verify-real-'))

/** Runs the action as the job's runner does. @returns its exit code, its log and its report */
function verify(url, wanted, more = {}) {
  const output = join(folder, 'output')
  writeFileSync(output, '')
  writeFileSync(join(folder, 'summary'), '')
  const code = `import { run } from ${JSON.stringify(SOURCES)}; await run('verify')`
  const args = flags.verify ? [flags.verify] : ['--no-warnings', '--input-type=module', '-e', code]
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      RUNNER_TEMP: folder,
      GITHUB_WORKSPACE: folder,
      GITHUB_OUTPUT: output,
      GITHUB_STATE: join(folder, 'summary'),
      GITHUB_STEP_SUMMARY: join(folder, 'summary'),
      'INPUT_DEPLOYMENT-URL': url,
      'INPUT_TIMEOUT-SECONDS': '20',
      INPUT_CONCURRENCY: '8',
      ...more,
      ...(wanted ? { INPUT_CHECKS: JSON.stringify({ checks: wanted }) } : {}),
    },
  })
  let log = ''
  child.stdout.on('data', (chunk) => {
    log += chunk
  })
  return new Promise((resolve) => {
    child.once('close', (exitCode) => {
      const report = readFileSync(output, 'utf8').match(/^(\{"passed".*\})$/m)?.[1]
      resolve({ exitCode, log, report: report === undefined ? undefined : JSON.parse(report) })
    })
  })
}

const says = (content) => ({ messages: [{ role: 'user', content }] })
const prefixed = { graph: 'agent', config: { configurable: { prefix: 'B' } } }
const stops = { assistant: 'interrupting', input: says('x'), expect: { interrupt: true } }

/** What passes. */
const GOOD = [
  { name: 'the default assistant', input: says('Hello'), expect: { text: '/^echo: Hello \\(seen 1\\)$/' } },
  ...['values', 'messages', 'messages-tuple', 'custom', 'debug', 'tasks', 'checkpoints', 'events'].map(
    (mode) => ({
      name: `mode ${mode}`,
      input: says('custom x'),
      'stream-mode': mode,
      expect: { text: 'echo: custom x', node: 'agent' },
    }),
  ),
  ...['messages', 'messages-tuple'].map((mode) => ({
    name: `streamed words, mode ${mode}`,
    assistant: 'tokens',
    input: says('x'),
    'stream-mode': mode,
    expect: { text: '/^alpha beta gamma$/' },
  })),
  { name: 'content blocks', assistant: 'blocks', input: says('x'), expect: { text: '/^block answer$/' } },
  { name: 'two nodes', assistant: 'two', input: says('x'), expect: { text: '/^step one\nstep two$/' } },
  { name: 'no messages', assistant: 'nomessages', input: { question: 'why' }, expect: { text: 're: why' } },
  { name: 'nothing said, as wanted', assistant: 'nullnode', input: says('x'), expect: { text: '' } },
  { name: 'its own assistant', assistant: prefixed, input: says('x'), expect: { text: 'B: echo: x' } },
  {
    name: 'assistants that share a thread',
    thread: [
      { assistant: 'agent', input: says('one'), expect: { text: '(seen 1)' } },
      { assistant: 'counter', input: says('two'), expect: { text: 'count=3' } },
      { assistant: prefixed, input: says('three'), expect: { text: '(seen 3)' } },
    ],
  },
  { name: 'stops to ask', ...stops },
  { name: 'stops to ask, mode messages-tuple', ...stops, 'stream-mode': 'messages-tuple' },
  {
    name: 'goes on with the answer',
    thread: [
      stops,
      {
        assistant: 'interrupting',
        run: { command: { resume: 'yes' } },
        expect: { text: 'resumed with "yes"' },
      },
    ],
  },
  {
    name: 'stops before a node',
    assistant: 'two',
    input: says('x'),
    run: { interrupt_before: ['second'] },
    expect: { interrupt: true, text: '/^step one$/' },
  },
]

/** What fails, and what the reason of each must say. */
const BAD = [
  [{ name: 'wrong answer', input: says('x'), expect: { text: 'something else' } }, /does not contain/],
  [
    {
      name: 'the user’s own words',
      assistant: 'counter',
      input: says('magic'),
      'stream-mode': ['values', 'messages', 'debug'],
      expect: { text: 'magic' },
    },
    /does not contain/,
  ],
  [{ name: 'nothing said', assistant: 'nullnode', input: says('x') }, /answer is empty/],
  [{ name: 'fails in the stream', assistant: 'failing', input: says('x') }, /failed inside its stream/],
  [{ name: 'no input' }, /failed inside its stream/],
  [
    { name: 'does not end', assistant: 'slow', input: says('x'), expect: { 'within-seconds': 1 } },
    /not done/,
  ],
  [{ name: 'stops unasked', assistant: 'interrupting', input: says('x') }, /stopped to ask/],
  [{ name: 'does not stop', input: says('x'), expect: { interrupt: true } }, /went to its end/],
  [{ name: 'unknown graph', assistant: 'nobody', input: says('x') }, /no graph or assistant "nobody"/],
  [
    { name: 'unknown graph of its own assistant', assistant: { graph: 'nobody' }, input: says('x') },
    /"nobody"/,
  ],
  [
    { name: 'unknown id', assistant: '00000000-0000-4000-8000-000000000000', input: says('x') },
    /no assistant with the id/,
  ],
  [{ name: 'unknown mode', input: says('x'), 'stream-mode': 'banana' }, /answered 400/],
  [{ name: 'feedback', input: says('x'), feedback: { user_score: 1 } }, /cannot make feedback URLs/],
  [
    { name: 'a2a', a2a: { assistant: 'agent', messages: ['Hello'] } },
    /JavaScript agent server, which has none/,
  ],
]

/** @param {string} kind `threads` or `assistants` */
async function left(url, kind) {
  const answer = await fetch(`${url}/${kind}/search`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"limit":1000}',
  })
  return (await answer.json()).filter(({ metadata }) => metadata.created_by !== 'system')
}

const server = await startRealServer()
try {
  await checks.run('ready', async () => {
    const { exitCode, log, report } = await verify(server.url)
    assert.equal(exitCode, 0, log)
    assert.deepEqual([report.passed, report.failed], [1, 0])
  })

  const good = await verify(server.url, GOOD)
  for (const [index, { name }] of GOOD.entries()) {
    await checks.run(`passes: ${name}`, async () => {
      const finding = good.report?.checks[index]
      assert.deepEqual([finding?.verdict, finding?.reason], ['passed', ''], good.log)
    })
  }

  const bad = await verify(
    server.url,
    BAD.map(([check]) => check),
  )
  for (const [index, [{ name }, reason]] of BAD.entries()) {
    await checks.run(`tells: ${name}`, async () => {
      const finding = bad.report?.checks[index]
      assert.equal(finding?.verdict, 'failed', bad.log)
      assert.match(finding.reason, reason)
    })
  }

  await ourClients(server.url, checks)

  await checks.run('exit codes, and nothing left behind', async () => {
    assert.deepEqual([good.exitCode, bad.exitCode], [0, 1])
    assert.deepEqual(await left(server.url, 'threads'), [])
    assert.deepEqual(await left(server.url, 'assistants'), [])
  })
} finally {
  await server.close()
}

await checks.run('tells: not reachable', async () => {
  const { exitCode, report } = await verify(server.url, undefined, { 'INPUT_TIMEOUT-SECONDS': '1' })
  assert.equal(exitCode, 1)
  assert.match(report.checks[0].reason, /not reachable within 1 s: \/ok gave no answer \(ECONNREFUSED\)/)
})
rmSync(folder, { recursive: true, force: true })

console.log(`\nReal JavaScript server: ${checks.passed} passed, ${checks.failed} failed`)
process.exitCode = checks.failed === 0 ? 0 : 1
