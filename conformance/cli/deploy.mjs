/**
 * `langgraphjs deploy --remote` of `@langchain/langgraph-cli`, unchanged, against the emulator: a first deploy and an
 * update.
 *   node cli/deploy.mjs [--emulator <file>]
 */
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { assert, Checks } from '../clients/check.mjs'
import { startEmulator } from '../replay/emulator.mjs'

const { values: flags } = parseArgs({ options: { emulator: { type: 'string' } } })
const here = fileURLToPath(new URL('.', import.meta.url))
const cli = join(here, 'node_modules/@langchain/langgraph-cli/dist/cli/cli.mjs')
const checks = new Checks('@langchain/langgraph-cli 1.5.1')

const project = mkdtempSync(join(tmpdir(), 'cli-bot-'))
cpSync(join(here, 'fixture'), project, { recursive: true })
writeFileSync(join(project, '.env'), 'OPENAI_API_KEY=not-a-key\n')
const emulator = await startEmulator({ entry: flags.emulator })

/** @returns {Promise<{code: number | null, output: string}>} */
function deploy() {
  const args = [
    'deploy',
    '--remote',
    '--no-input',
    '--name',
    'cli-bot',
    '--host-url',
    emulator.controlPlaneUrl,
  ]
  const env = {
    PATH: process.env.PATH,
    HOME: project,
    LANGSMITH_API_KEY: emulator.apiKey,
    LANGGRAPH_CLI_NO_ANALYTICS: '1',
  }
  const child = spawn(process.execPath, [cli, ...args], {
    cwd: project,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  child.stderr.on('data', (chunk) => {
    output += chunk
  })
  return new Promise((resolve) => child.once('exit', (code) => resolve({ code, output })))
}

const state = async () => (await fetch(`${emulator.controlPlaneUrl}/_emulator/state`)).json()

try {
  let first
  await checks.run('deploys a project from source', async () => {
    const { code, output } = await deploy()
    assert.equal(code, 0, output)
    const { deployments, revisions } = await state()
    assert.equal(deployments.length, 1)
    assert.equal(deployments[0].name, 'cli-bot')
    assert.equal(revisions.length, 1)
    first = deployments[0].id
    assert.match(output, /Deployed|successful/i)
  })

  await checks.run('what it uploaded decides what is served', async () => {
    const url = `${emulator.controlPlaneUrl}/d/${first}`
    const headers = { 'x-api-key': emulator.apiKey, 'content-type': 'application/json' }
    const found = await fetch(`${url}/assistants/search`, { method: 'POST', headers, body: '{}' })
    assert.deepEqual(
      (await found.json()).map(({ graph_id }) => graph_id),
      ['echo'],
    )
    assert.equal((await fetch(`${url}/.well-known/agent-card.json?assistant_id=x`, { headers })).status, 404)
  })

  await checks.run('a second deploy makes a revision and no second deployment', async () => {
    const { code, output } = await deploy()
    assert.equal(code, 0, output)
    const { deployments, revisions } = await state()
    assert.deepEqual(
      deployments.map(({ id }) => id),
      [first],
    )
    assert.equal(revisions.length, 2)
  })
} finally {
  await emulator.close()
  rmSync(project, { recursive: true, force: true })
}

console.log(`\nOfficial CLI: ${checks.passed} passed, ${checks.failed} failed`)
process.exitCode = checks.failed === 0 ? 0 : 1
