/**
 * dist/ from src/: `tsc` to build/, then ncc over its JavaScript. Two bundles, `actions` (all actions) and
 * `emulator`; the files that `action.yml` names are launchers of a few lines. Whitespace is taken out
 * because a job downloads dist/ (design, section 6); names stay, so that a stack trace can be read.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { minify } from '@swc/core'
import ncc from '@vercel/ncc'
import { licences } from './licences.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = process.argv[2] ? resolve(process.argv[2]) : join(root, 'dist')
// Inside the repository also for a private dist: ncc looks for packages from there upwards.
const build = process.argv[2] ? join(root, 'build', `private-${process.pid}`) : join(root, 'build', 'main')

/** Launchers: where `action.yml` points, and the story it runs. */
const LAUNCHERS = {
  'index.js': ['./actions/index.js', 'deploy'],
  'post.js': ['./actions/index.js', 'post'],
  'feedback.js': ['./actions/index.js', 'feedback'],
  'sandbox.js': ['./actions/index.js', 'sandbox'],
  'delete.js': ['./actions/index.js', 'delete'],
  'verify.js': ['./actions/index.js', 'verify'],
  'emulate.js': ['./actions/index.js', 'emulate'],
  'emulate-post.js': ['./actions/index.js', 'emulate-post'],
}

/** Loads the bundle only where it can run: an older Node would print a line of a megabyte and no reason. */
function launcher(target, story) {
  return `if (Number(process.versions.node.split('.')[0]) < 22) {
  console.log(\`::error::Agent Deploy needs Node 24 (a runner of version 2.327.0 or newer), and this is Node \${process.versions.node}\`)
  process.exitCode = 1
} else {
  const { run } = await import('${target}')
  await run('${story}')
}
`
}

function tsc() {
  rmSync(build, { recursive: true, force: true })
  const run = spawnSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', root, '--outDir', build],
    {
      stdio: 'inherit',
    },
  )
  if (run.status !== 0) throw new Error('tsc failed')
  // ncc decides between ESM and CommonJS by the nearest package.json.
  writeFileSync(join(build, 'package.json'), '{"type":"module"}\n')
}

function write(path, content) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

async function bundle(entry, folder) {
  const { code, assets } = await ncc(join(build, entry), {
    cache: false,
    quiet: true,
    minify: false,
    sourceMap: false,
    target: 'es2024',
  })
  const files = { 'index.js': code }
  for (const [name, asset] of Object.entries(assets)) files[name] = asset.source
  for (const [name, source] of Object.entries(files)) {
    let text = source.toString()
    if (name.endsWith('.js')) {
      const small = await minify(text, {
        module: true,
        compress: false,
        mangle: false,
        format: { comments: false },
      })
      text = `${small.code}\n`
    }
    write(join(dist, folder, name), text)
  }
}

tsc()
rmSync(dist, { recursive: true, force: true })
await bundle('actions/index.js', 'actions')
await bundle('emulator/cli.js', 'emulator')
for (const [file, [target, story]] of Object.entries(LAUNCHERS)) {
  write(join(dist, file), launcher(target, story))
}
write(join(dist, 'package.json'), '{"type":"module"}\n')
write(join(dist, 'licenses.txt'), licences(root, readFileSync))
rmSync(build, { recursive: true, force: true })
