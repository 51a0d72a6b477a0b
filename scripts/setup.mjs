/**
 * Installs what package-lock.json names, unless it is there already, so that the README's commands work
 * on a fresh clone. Plain Node 20 and npm; everything after it runs on the Node 24 that it installs.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const installed = `${root}node_modules/.package-lock.json`
const wanted = `${root}package-lock.json`

if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(wanted).mtimeMs) {
  process.stdout.write('Installing dependencies (npm ci)…\n')
  const npm = spawnSync('npm ci --ignore-scripts --loglevel=error', {
    cwd: root,
    stdio: 'inherit',
    shell: true,
  })
  if (npm.status !== 0) process.exitCode = npm.status ?? 1
}
