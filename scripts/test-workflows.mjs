/**
 * `npm run test:workflows`: the examples under actionlint, and some of them run for real by `act` against the
 * emulator and a stub of GitHub. Not part of `npm test`, because it needs Go to build both tools, once.
 * AGENT_DEPLOY_DIST names another folder of bundles than dist/. Words on the command line choose cases.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startGithubStub } from '../__tests__/helpers/github-stub.ts'
import { CASES } from './workflows/cases.mjs'
import { tool } from './workflows/tools.mjs'
import { copyAction, makeRepository, runWorkflow, startEmulator } from './workflows/workbench.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = process.env.AGENT_DEPLOY_DIST ?? join(root, 'dist')
const chosen = process.argv.slice(2)
const BROKEN = '.github/workflows/broken.yml'
const COMPOSITE = '.github/actions/deploy-agent/action.yml'
/** How much of a failed run is shown, in lines. */
const TAIL = 80

const example = (file) => readFileSync(join(root, 'examples', file), 'utf8')
const workflows = readdirSync(join(root, 'examples'), { recursive: true })
  .filter((file) => file.endsWith('.yml') && basename(file) !== 'action.yml')
  .sort()

/**
 * actionlint looks into local actions only, so `your-org/agent-deploy/verify@v1` becomes `./agent-deploy/verify`:
 * then it checks inputs and outputs, too.
 */
function lint(folder) {
  const local = (file) =>
    example(file).replaceAll(/your-org\/agent-deploy(\/[\w-]+)?@v1/g, './agent-deploy$1')
  const files = { [COMPOSITE]: local('composite/action.yml') }
  for (const file of workflows) files[`.github/workflows/${file.replace('/', '-')}`] = local(file)
  // Proof that it looks at all: a mistake that must be found, and be all that is found.
  files[BROKEN] = local('push-to-main.yml').replace('outputs.deployment-url', 'outputs.deployment-uri')
  makeRepository(folder, files)
  mkdirSync(join(folder, 'agent-deploy'))
  copyAction(root, dist, join(folder, 'agent-deploy'))
  // Its helpers for shell and Python are not everywhere; what they find must not depend on the machine.
  const run = spawnSync(tool('actionlint', root), ['-shellcheck=', '-pyflakes=', '-oneline'], {
    cwd: folder,
    encoding: 'utf8',
  })
  const found = run.stdout.split('\n').filter((line) => line !== '')
  const wrong = found.filter((line) => !line.startsWith(BROKEN))
  if (wrong.length > 0 || found.length !== 1 || !found[0].includes('deployment-uri')) {
    throw new Error(`actionlint ended with ${run.status}\n${run.stdout}${run.stderr}`)
  }
}

async function runCase(one, folder, action) {
  const files = { ...one.files, [COMPOSITE]: example('composite/action.yml') }
  const workflow = '.github/workflows/example.yml'
  const repository = join(folder, 'repository')
  const home = join(folder, 'home')
  mkdirSync(repository)
  mkdirSync(home)
  const sha = makeRepository(repository, { ...files, [workflow]: example(one.workflow) })
  const emulator = await startEmulator(dist)
  const github = await startGithubStub()
  let last = ''
  const run = async ({ name, event }) => {
    const { code, log } = await runWorkflow({
      act: tool('act', root),
      action,
      repository,
      home,
      workflow,
      eventName: name,
      event,
      secrets:
        one.secrets === undefined
          ? {}
          : { LANGSMITH_API_KEY: emulator.apiKey, GITHUB_TOKEN: github.token, ...one.secrets },
      vars: { LANGSMITH_CONTROL_PLANE_URL: emulator.url },
      env: { GITHUB_API_URL: github.apiUrl },
    })
    last = log
    return { code, log }
  }
  try {
    await one.test({ run, emulator, github, sha })
  } catch (error) {
    const lines = last.split('\n').filter((line) => !line.includes('LocalRepositoryCache'))
    const tail = lines.slice(-TAIL).join('\n')
    throw new Error(`${error.message}\n--- the end of the run:\n${tail}`, { cause: error })
  } finally {
    await Promise.all([emulator.stop(), github.close()])
  }
}

const work = realpathSync(mkdtempSync(join(tmpdir(), 'workflows-')))
const counts = { passed: 0, failed: 0 }
async function attempt(name, test) {
  if (chosen.length > 0 && !chosen.some((word) => name.includes(word))) return
  const started = Date.now()
  const folder = mkdtempSync(join(work, 'case-'))
  try {
    await test(folder)
    counts.passed += 1
    console.log(`passed  ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`)
  } catch (error) {
    counts.failed += 1
    console.log(`FAILED  ${name}\n${error.message.replace(/^/gm, '        ')}`)
  }
}

try {
  const action = join(work, 'action')
  copyAction(root, dist, action)
  await attempt(`actionlint: ${workflows.length} workflows`, lint)
  for (const one of CASES) await attempt(one.name, (folder) => runCase(one, folder, action))
} finally {
  rmSync(work, { recursive: true, force: true, maxRetries: 3 })
}
console.log(`Workflows: ${counts.passed} passed, ${counts.failed} failed`)
process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1
