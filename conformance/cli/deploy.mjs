/**
 * `langgraphjs deploy --remote` of `@langchain/langgraph-cli`, unchanged, against the emulator: a first deploy and an
 * update; then the archive that it made against the one that our action makes of the same project.
 *   node cli/deploy.mjs [--emulator <file>] [--deploy <file>]      built bundles; left out: the sources
 */
import { spawn } from 'node:child_process'
import { chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Parser } from 'tar'
import { assert, Checks } from '../clients/check.mjs'
import { startEmulator } from '../replay/emulator.mjs'

const { values: flags } = parseArgs({ options: { emulator: { type: 'string' }, deploy: { type: 'string' } } })
const SOURCES = new URL('../../src/actions/index.ts', import.meta.url).href
const here = fileURLToPath(new URL('.', import.meta.url))
const cli = join(here, 'node_modules/@langchain/langgraph-cli/dist/cli/cli.mjs')
const checks = new Checks('@langchain/langgraph-cli 1.5.1')

const project = mkdtempSync(join(tmpdir(), 'cli-bot-'))
cpSync(join(here, 'fixture'), project, { recursive: true })
/** What the CLI ships, and we never do. */
const SECRETS = ['.env', '.env.production', '.npmrc', 'id_rsa', 'server.pem']
for (const name of SECRETS) writeFileSync(join(project, name), 'OPENAI_API_KEY=not-a-key\n')
writeFileSync(join(project, '.gitignore'), 'ignored.txt\n')
writeFileSync(join(project, 'ignored.txt'), 'ignored')
writeFileSync(join(project, 'empty'), '')
writeFileSync(join(project, 'with space and ü.txt'), 'x')
writeFileSync(join(project, 'start.sh'), '#!/bin/sh\n')
chmodSync(join(project, 'start.sh'), 0o755)
const runner = mkdtempSync(join(tmpdir(), 'cli-runner-'))
const emulator = await startEmulator({ entry: flags.emulator })

/** @returns {Promise<{code: number | null, output: string}>} */
function run(args, env) {
  const child = spawn(process.execPath, args, {
    cwd: project,
    env: { PATH: process.env.PATH, HOME: project, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })))
}

function deployByCli() {
  const args = [
    'deploy',
    '--remote',
    '--no-input',
    '--name',
    'cli-bot',
    '--host-url',
    emulator.controlPlaneUrl,
  ]
  return run([cli, ...args], { LANGSMITH_API_KEY: emulator.apiKey, LANGGRAPH_CLI_NO_ANALYTICS: '1' })
}

function deployByAction() {
  for (const name of ['output', 'state', 'summary']) writeFileSync(join(runner, name), '')
  const code = `import { run } from ${JSON.stringify(SOURCES)}; await run('deploy')`
  return run(flags.deploy ? [flags.deploy] : ['--no-warnings', '--input-type=module', '-e', code], {
    RUNNER_TEMP: runner,
    GITHUB_WORKSPACE: project,
    GITHUB_OUTPUT: join(runner, 'output'),
    GITHUB_STATE: join(runner, 'state'),
    GITHUB_STEP_SUMMARY: join(runner, 'summary'),
    'INPUT_API-KEY': emulator.apiKey,
    'INPUT_CONTROL-PLANE-URL': emulator.controlPlaneUrl,
    INPUT_NAME: 'cli-bot',
    INPUT_SOURCE: 'internal_source',
    'INPUT_POLL-INTERVAL-SECONDS': '0.1',
  })
}

/** @returns {Promise<Record<string, string>>} type, execute bit and content of each entry, by its path */
async function entriesOf(upload) {
  const answer = await fetch(`${emulator.controlPlaneUrl}/_emulator/uploads/${upload.id}`)
  assert.equal(answer.status, 200)
  const entries = {}
  const parser = new Parser({
    onReadEntry: (entry) => {
      const chunks = []
      entry.on('data', (chunk) => chunks.push(chunk))
      entry.on('end', () => {
        const kind = `${entry.type}${entry.mode & 0o100 ? ', executable' : ''}`
        entries[entry.path.replace(/^\.\//, '')] = `${kind}: ${Buffer.concat(chunks).toString('base64')}`
      })
    },
  })
  const done = new Promise((resolve, reject) => parser.on('end', resolve).on('error', reject))
  parser.end(Buffer.from(await answer.arrayBuffer()))
  await done
  return entries
}

const state = async () => (await fetch(`${emulator.controlPlaneUrl}/_emulator/state`)).json()
const uploads = async () => (await fetch(`${emulator.controlPlaneUrl}/_emulator/uploads`)).json()

try {
  let first
  await checks.run('deploys a project from source', async () => {
    const { code, output } = await deployByCli()
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
    const { code, output } = await deployByCli()
    assert.equal(code, 0, output)
    const { deployments, revisions } = await state()
    assert.deepEqual(
      deployments.map(({ id }) => id),
      [first],
    )
    assert.equal(revisions.length, 2)
  })

  await checks.run('our archive of the same project is the same, but for secrets', async () => {
    const theirs = await entriesOf((await uploads()).at(-1))
    const { code, output } = await deployByAction()
    assert.equal(code, 0, output)
    const ours = await entriesOf((await uploads()).at(-1))
    for (const name of SECRETS) {
      assert.ok(Object.hasOwn(theirs, name), `the CLI left out ${name}`)
      delete theirs[name]
    }
    assert.ok('src/graph.mjs' in ours && 'start.sh' in ours)
    assert.deepEqual(ours, theirs)
  })
} finally {
  await emulator.close()
  rmSync(runner, { recursive: true, force: true })
  rmSync(project, { recursive: true, force: true })
}

console.log(`\nOfficial CLI: ${checks.passed} passed, ${checks.failed} failed`)
process.exitCode = checks.failed === 0 ? 0 : 1
