/** What a workflow run needs around it: the action as a job downloads it, a repository, the two services. */
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Copies what a job downloads of this repository: every action.yml, and dist/.
 * @param {string} root folder of the repository
 * @param {string} dist folder of the built bundles
 * @param {string} target an empty folder
 */
export function copyAction(root, dist, target) {
  if (!existsSync(join(dist, 'index.js'))) {
    throw new Error(`${dist} has no index.js: run \`npm run build\` first`)
  }
  cpSync(dist, join(target, 'dist'), { recursive: true })
  const folders = readdirSync(root, { withFileTypes: true }).filter((one) => one.isDirectory())
  for (const folder of ['.', ...folders.map((one) => one.name)]) {
    const file = join(root, folder, 'action.yml')
    if (!existsSync(file)) continue
    mkdirSync(join(target, folder), { recursive: true })
    cpSync(file, join(target, folder, 'action.yml'))
  }
}

/** An agent as small as can be: the emulator serves the graph's name, and answers by itself. */
export const AGENT = {
  'langgraph.json': '{ "dependencies": ["."], "graphs": { "agent": "./agent.py:graph" } }\n',
  'agent.py': 'graph = None\n',
  'requirements.txt': 'langgraph\n',
}

/**
 * Makes a committed git repository `octo/agent`.
 * @param {string} folder is made
 * @param {Record<string, string>} files content by path
 * @returns {string} the commit
 */
export function makeRepository(folder, files) {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  const git = (...args) => {
    const run = spawnSync('git', ['-c', 'user.name=Octo', '-c', 'user.email=octo@example.com', ...args], {
      cwd: folder,
      encoding: 'utf8',
    })
    if (run.status !== 0) throw new Error(`git ${args.join(' ')} failed: ${run.stderr}`)
    return run.stdout.trim()
  }
  git('init', '--quiet', '--initial-branch=main')
  git('remote', 'add', 'origin', 'https://github.com/octo/agent.git')
  git('add', '--all')
  git('commit', '--quiet', '--message=An agent')
  return git('rev-parse', 'HEAD')
}

/**
 * Starts an emulator of its own.
 * @param {string} dist folder of the built bundles
 * @returns {Promise<{url: string, apiKey: string, state(): Promise<any>, scenario(spec: object): Promise<void>, stop(): Promise<void>}>}
 */
export async function startEmulator(dist) {
  const child = spawn(process.execPath, [join(dist, 'emulator', 'index.js'), '--json', '--speed', '100'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const line = await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve)
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`The emulator ended with ${code}`)))
  })
  const { controlPlaneUrl: url, apiKey } = JSON.parse(String(line))
  return {
    url,
    apiKey,
    state: async () => (await fetch(`${url}/_emulator/state`)).json(),
    scenario: async (spec) => {
      const answer = await fetch(`${url}/_emulator/scenarios`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(spec),
      })
      if (answer.status !== 201) throw new Error(`The emulator refused the scenario: ${await answer.text()}`)
    },
    stop: () =>
      new Promise((resolve) => {
        child.removeAllListeners('exit')
        child.once('exit', resolve)
        child.kill('SIGTERM')
      }),
  }
}

/**
 * Runs one workflow by `act` on this machine (host mode, no Docker, nothing fetched).
 * @param {object} options
 * @param {string} options.act path of the binary
 * @param {string} options.action folder of `copyAction`
 * @param {string} options.repository folder of `makeRepository`
 * @param {string} options.home a folder that serves as home and cache
 * @param {string} options.workflow path in the repository
 * @param {string} options.eventName
 * @param {object} [options.event] the event's JSON
 * @param {Record<string, string>} [options.secrets]
 * @param {Record<string, string>} [options.vars]
 * @param {Record<string, string>} [options.env]
 * @returns {Promise<{code: number | null, log: string}>} exit code, and what act printed
 */
export async function runWorkflow(options) {
  const event = join(options.home, 'event.json')
  writeFileSync(event, JSON.stringify(options.event ?? {}))
  const pairs = (flag, values = {}) =>
    Object.entries(values).flatMap(([name, value]) => [flag, `${name}=${value}`])
  const args = [
    ...[options.eventName, '--workflows', options.workflow, '--eventpath', event, '--actor', 'octocat'],
    ...['--platform', 'ubuntu-latest=-self-hosted', '--pull=false', '--action-offline-mode'],
    // A `.env` in the tree would be loaded by itself.
    ...['--no-cache-server', '--env-file', '/dev/null'],
    ...['--local-repository', `your-org/agent-deploy@v1=${options.action}`],
    ...pairs('--secret', options.secrets),
    ...pairs('--var', options.vars),
    ...pairs('--env', options.env),
  ]
  const child = spawn(options.act, args, {
    cwd: options.repository,
    // The job inherits this; `node` must be the one that a runner has.
    env: {
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      HOME: options.home,
      XDG_CACHE_HOME: join(options.home, 'cache'),
      NO_COLOR: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk) => {
      log += chunk
    })
  }
  const timer = setTimeout(() => child.kill('SIGKILL'), 5 * 60_000)
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  clearTimeout(timer)
  return { code, log }
}
