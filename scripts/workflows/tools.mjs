/** Tools of other makers, at fixed versions, built by Go into node_modules/.cache, which git ignores. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

const TOOLS = {
  act: { module: 'github.com/nektos/act', version: 'v0.2.89' },
  actionlint: { module: 'github.com/rhysd/actionlint/cmd/actionlint', version: 'v1.7.12' },
}

/**
 * @param {keyof typeof TOOLS} name
 * @param {string} root folder of the repository
 * @returns {string} path of the binary, built when it was not there
 * @throws Error when there is no Go to build it with
 */
export function tool(name, root) {
  const { module, version } = TOOLS[name]
  const folder = join(root, 'node_modules', '.cache', 'workflow-tools', `${name}-${version}`)
  const binary = join(folder, process.platform === 'win32' ? `${name}.exe` : name)
  if (existsSync(binary)) return binary
  process.stdout.write(`Building ${name} ${version} (go install)…\n`)
  mkdirSync(folder, { recursive: true })
  const go = spawnSync('go', ['install', `${module}@${version}`], {
    env: { ...process.env, GOBIN: folder, GOFLAGS: '' },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (go.error?.code === 'ENOENT') {
    throw new Error(
      `${name} ${version} is built with Go, and there is no go on the PATH: install Go 1.24 or newer`,
    )
  }
  if (go.status !== 0) throw new Error(`go install ${module}@${version} failed`)
  return binary
}
