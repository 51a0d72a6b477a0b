/**
 * The demo: the built action against the emulator, as the runner would run it. No account, no network.
 * Shows what a person sees in the job log, the outputs, and where the summaries are.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { readOutputs } from './file-commands.mjs'
import { printJobLog } from './job-log.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, '.demo')
const color = process.stdout.isTTY && !process.env.NO_COLOR
const paint = (code, text) => (color ? `\u001b[${code}m${text}\u001b[0m` : text)
const bold = (text) => paint('1', text)
const say = (text = '') => process.stdout.write(`${text}\n`)

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })

/** Starts the emulator on a free port; resolves with what its `--json` line says. */
function startEmulator() {
  const child = spawn(process.execPath, [join(root, 'dist/emulator/index.js'), '--port', '0', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the emulator ended with ${code} before it was ready`)))
    createInterface({ input: child.stdout }).once('line', (line) => resolve({ child, ...JSON.parse(line) }))
  })
}

/** Runs the root action as a step: declared inputs as INPUT_*, the file commands as empty files. */
async function runStep(name, inputs, env = {}) {
  const manifest = parse(readFileSync(join(root, 'action.yml'), 'utf8'))
  const step = join(folder, name)
  mkdirSync(step)
  const files = {}
  for (const file of ['OUTPUT', 'STATE', 'ENV', 'PATH', 'STEP_SUMMARY']) {
    files[`GITHUB_${file}`] = join(step, file === 'STEP_SUMMARY' ? 'summary.md' : file.toLowerCase())
    writeFileSync(files[`GITHUB_${file}`], '')
  }
  writeFileSync(join(step, 'event.json'), '{}')
  const declared = {}
  for (const [input, { default: fallback = '' }] of Object.entries(manifest.inputs)) {
    const value = inputs[input] ?? (String(fallback).startsWith('${{') ? '' : fallback)
    declared[`INPUT_${input.toUpperCase()}`] = String(value)
  }
  const child = spawn(process.execPath, [join(root, manifest.runs.main)], {
    cwd: step,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: step,
      GITHUB_ACTIONS: 'true',
      GITHUB_EVENT_NAME: 'push',
      GITHUB_EVENT_PATH: join(step, 'event.json'),
      GITHUB_REPOSITORY: 'acme/support-agent',
      GITHUB_REF: 'refs/heads/main',
      GITHUB_SHA: '8f4b2f0b9d0a5a5e6f2f6b0f8d3c1e7a9b4c5d6e',
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_API_URL: 'https://api.github.com',
      GITHUB_RUN_ID: '1',
      GITHUB_WORKSPACE: step,
      RUNNER_TEMP: step,
      ...files,
      ...declared,
      ...env,
    },
  })
  printJobLog(child.stdout, { paint, write: (line) => say(`  ${line}`) })
  printJobLog(child.stderr, { paint, write: (line) => say(`  ${line}`) })
  const exitCode = await new Promise((resolve) => child.once('close', resolve))
  return {
    exitCode,
    outputs: readOutputs(readFileSync(files.GITHUB_OUTPUT, 'utf8')),
    summary: files.GITHUB_STEP_SUMMARY,
  }
}

async function show(title, name, inputs, { env, want }) {
  say()
  say(bold(`━━ ${title}`))
  say()
  const { exitCode, outputs, summary } = await runStep(name, inputs, env)
  say()
  say(bold('  Outputs'))
  for (const [key, value] of Object.entries(outputs)) {
    say(`    ${paint('36', key)}: ${value.length > 160 ? `${value.slice(0, 160)}…` : value}`)
  }
  const right = exitCode === want.exitCode && outputs.outcome === want.outcome
  const verdict = exitCode === 0 ? paint('32', 'green') : paint('31', 'red')
  say()
  say(
    `  The step is ${verdict}, outcome ${bold(outputs.outcome ?? '(none)')}: ${right ? 'as it should be' : `expected ${want.outcome}`}`,
  )
  return { title, right, outputs, summary }
}

const CHECKS = `
checks:
  - name: answers a question
    assistant: agent
    input: { messages: [{ role: user, content: Hello }] }
    expect: { text: "echo: Hello", node: agent, within-seconds: 30 }
    feedback: { user_score: 1, quality: { score: 0.5, comment: fine } }
  - name: hands the thread from one assistant to another
    thread:
      - { assistant: agent, input: { messages: [{ role: user, content: Remember me }] }, expect: { text: seen 1 } }
      - { assistant: counter, input: { messages: [{ role: user, content: How many? }] }, expect: { text: count=3 } }
  - name: holds an A2A conversation
    a2a: { assistant: agent, method: send, messages: [Hello, And again], expect: { text: And again } }
`

const WRONG = `
checks:
  - name: knows the capital of France
    assistant: agent
    input: { messages: [{ role: user, content: What is the capital of France? }] }
    expect: { text: Paris }
`

const PROVIDERS = `
- provider_id: acme-sso
  name: Acme single sign-on
  client_id: agent
  client_secret_env: SSO_CLIENT_SECRET
  auth_url: https://sso.acme.example/authorize
  token_url: https://sso.acme.example/token
`

const emulator = await startEmulator()
const results = []
try {
  say(bold('Agent Deploy: the demo'))
  say(`The emulator plays the control plane and the agent servers at ${emulator.controlPlaneUrl}`)
  const base = {
    'api-key': emulator.apiKey,
    'workspace-id': emulator.workspaceId,
    'control-plane-url': emulator.controlPlaneUrl,
    name: 'support-agent',
    'poll-interval-seconds': '0.2',
    'poll-max-interval-seconds': '1',
  }
  const secrets = 'OPENAI_API_KEY=sk-demo-4f9a1c\nDATABASE_PASSWORD=correct horse battery staple'
  const first = {
    ...base,
    'image-uri': 'ghcr.io/acme/support-agent:1.0.0',
    secrets,
    'oauth-providers': PROVIDERS,
  }
  const update = { ...base, 'image-uri': 'ghcr.io/acme/support-agent:1.1.0', secrets }
  results.push(
    await show('1. A first deploy, with an OAuth provider', '1-create', first, {
      env: { SSO_CLIENT_SECRET: 'demo-client-secret' },
      want: { exitCode: 0, outcome: 'deployed' },
    }),
    await show(
      '2. An update, proved by a run, a shared thread, feedback and A2A',
      '2-update',
      { ...update, verify: CHECKS },
      {
        want: { exitCode: 0, outcome: 'deployed' },
      },
    ),
    await show(
      '3. An agent that answers wrongly',
      '3-wrong-answer',
      { ...update, verify: WRONG },
      {
        want: { exitCode: 1, outcome: 'verification-failed' },
      },
    ),
  )
  await fetch(new URL('/_emulator/scenarios', emulator.controlPlaneUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      deployment: 'support-agent',
      statuses: [
        ['QUEUED', 3],
        ['BUILDING', 12],
        ['BUILD_FAILED', null],
      ],
      logs: [
        '#7 RUN pip install -r requirements.txt',
        'ERROR: No matching distribution found for langgraf==1.2',
      ],
    }),
  })
  results.push(
    await show('4. A revision whose build fails', '4-build-fails', update, {
      want: { exitCode: 1, outcome: 'failed' },
    }),
  )
} finally {
  emulator.child.removeAllListeners('exit')
  emulator.child.kill()
}

say()
say(bold('━━ What happened'))
say()
for (const { title, right, outputs, summary } of results) {
  say(
    `  ${right ? paint('32', '✔') : paint('31', '✘')} ${title}: ${outputs.outcome}. Summary: ${relative(process.cwd(), summary)}`,
  )
}
const right = results.every((result) => result.right)
say()
say(
  right
    ? 'Two green, two red, each for the right reason. Nothing left this machine.'
    : 'Something ended otherwise than it should: see above.',
)
if (!right) process.exitCode = 1
