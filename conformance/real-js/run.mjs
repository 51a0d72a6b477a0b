/**
 * Our `verify/` against a real `@langchain/langgraph-api` server: what works there passes, what that server has not is
 * told for what it is.
 *   node real-js/run.mjs [--verify <file>]      a built launcher; left out: the sources
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { assert, Checks } from '../clients/check.mjs'
import { startRealServer } from './start.mjs'

const { values: flags } = parseArgs({ options: { verify: { type: 'string' } } })
const SOURCES = new URL('../../src/actions/index.ts', import.meta.url).href
const checks = new Checks('verify/ against @langchain/langgraph-api 1.5.1')
const folder = mkdtempSync(join(tmpdir(), 'verify-real-'))

/** Runs the action as the job's runner does. @returns its exit code, its log and its report */
function verify(url, wanted) {
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
const server = await startRealServer()
try {
  await checks.run('ready', async () => {
    const { exitCode, log, report } = await verify(server.url)
    assert.equal(exitCode, 0, log)
    assert.equal(report.passed, 1)
  })

  await checks.run('runs, assistants of its own, and a thread that two assistants share', async () => {
    const prefixed = { graph: 'agent', config: { configurable: { prefix: 'B' } } }
    const { exitCode, log, report } = await verify(server.url, [
      { name: 'says hello', input: says('Hello'), expect: { text: 'echo: Hello', node: 'agent' } },
      {
        name: 'streams values',
        input: says('x'),
        'stream-mode': ['values', 'messages'],
        expect: { text: 'echo: x' },
      },
      { name: 'its own assistant', assistant: prefixed, input: says('x'), expect: { text: 'B: echo: x' } },
      {
        name: 'hands over',
        thread: [
          { assistant: 'agent', input: says('one'), expect: { text: '(seen 1)' } },
          { assistant: prefixed, input: says('two'), expect: { text: '(seen 2)' } },
        ],
      },
    ])
    assert.equal(exitCode, 0, log)
    assert.equal(report.passed, 4)
  })

  const found = await verify(server.url, [
    { name: 'wrong answer', input: says('x'), expect: { text: 'something else' } },
    { name: 'fails in the stream', assistant: 'failing', input: says('x') },
    { name: 'unknown assistant', assistant: 'nobody', input: says('x') },
    { name: 'feedback', input: says('x'), feedback: { user_score: 1 } },
    { name: 'a2a', a2a: { assistant: 'agent', messages: ['Hello'] } },
  ])
  /** What the reason of each must say. */
  const reasons = {
    'wrong answer': /does not contain/,
    'fails in the stream': /error|fail/i,
    'unknown assistant': /assistant/i,
    feedback: /feedback/i,
    a2a: /A2A/,
  }
  for (const [name, pattern] of Object.entries(reasons)) {
    await checks.run(`tells: ${name}`, async () => {
      assert.equal(found.exitCode, 1, found.log)
      const finding = found.report.checks.find((check) => check.name === name)
      assert.equal(finding.verdict, 'failed')
      assert.match(finding.reason, pattern)
    })
  }
} finally {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
}

console.log(`\nReal JavaScript server: ${checks.passed} passed, ${checks.failed} failed`)
process.exitCode = checks.failed === 0 ? 0 : 1
