/**
 * Conformance: the emulator held against what was recorded of real servers and against official clients, and our own
 * actions against a real server. Installs what each part needs first. The last line counts; exit code 1 when anything
 * differs or fails.
 *
 *   node conformance/run.mjs [--src] [--only comparison|replay|clients|cli|real-js]
 *
 * Emulator and actions are those of dist/; with `--src` they are run from the sources.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const EMULATOR = { emulator: 'emulator/index.js' }

/**
 * Each prints a line `… <n> passed, <n> failed` last. `install` names the
 * folders whose packages it needs, `bundles` what of dist/ it is told by which flag.
 */
const PARTS = [
  { name: 'comparison', script: 'replay/comparison.mjs', install: [], bundles: {} },
  { name: 'replay', script: 'replay/run.mjs', install: [], bundles: EMULATOR },
  { name: 'clients', script: 'clients/run.mjs', install: ['.'], bundles: EMULATOR },
  { name: 'cli', script: 'cli/deploy.mjs', install: ['cli'], bundles: { ...EMULATOR, deploy: 'index.js' } },
  { name: 'real-js', script: 'real-js/run.mjs', install: ['real-js'], bundles: { verify: 'verify.js' } },
]

const here = fileURLToPath(new URL('.', import.meta.url))
const dist = fileURLToPath(new URL('../dist/', import.meta.url))
const { values: flags } = parseArgs({
  options: { src: { type: 'boolean', default: false }, only: { type: 'string' } },
})

function install(folder) {
  const installed = `${here}${folder}/node_modules/.package-lock.json`
  const wanted = `${here}${folder}/package-lock.json`
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(wanted).mtimeMs) return true
  console.log(`Installing conformance/${folder === '.' ? '' : folder} (npm ci)…`)
  const npm = spawnSync('npm ci --ignore-scripts --loglevel=error', {
    cwd: `${here}${folder}`,
    stdio: 'inherit',
    shell: true,
  })
  return npm.status === 0
}

/** @returns {Promise<{passed: number, failed: number}>} what the part's last line counts */
function run({ script, bundles }) {
  const args = ['--no-warnings', `${here}${script}`]
  if (!flags.src) for (const [flag, file] of Object.entries(bundles)) args.push(`--${flag}`, `${dist}${file}`)
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
    process.stdout.write(chunk)
  })
  return new Promise((resolve) => {
    child.once('close', (code) => {
      const counted = [...output.matchAll(/(\d+) passed, (\d+) failed/g)].at(-1)
      const passed = Number(counted?.[1] ?? 0)
      const failed = Number(counted?.[2] ?? 0)
      resolve({ passed, failed: failed === 0 && (code !== 0 || !counted) ? 1 : failed })
    })
  })
}

const total = { passed: 0, failed: 0 }
for (const part of PARTS.filter(({ name }) => flags.only === undefined || name === flags.only)) {
  console.log(`\n── ${part.name}`)
  const counted = part.install.every(install) ? await run(part) : { passed: 0, failed: 1 }
  total.passed += counted.passed
  total.failed += counted.failed
}
console.log(`\nConformance: ${total.passed} passed, ${total.failed} failed`)
process.exitCode = total.failed === 0 ? 0 : 1
