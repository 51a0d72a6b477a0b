/**
 * Writes the tables of inputs and outputs into README.md, between its markers, from every action.yml, so that
 * the documentation cannot say something else than what runs. `--check` only compares (exit 1 when they differ).
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

const root = fileURLToPath(new URL('..', import.meta.url))
const file = join(root, 'README.md')

/** Marker name and the folder of its action.yml. */
const ACTIONS = {
  deploy: '.',
  verify: 'verify',
  feedback: 'feedback',
  sandbox: 'sandbox',
  delete: 'delete',
  emulator: 'emulator',
}

const cell = (text) => String(text).replaceAll('|', '\\|').replaceAll('\n', ' ').trim()

function table(action, kind) {
  const manifest = parse(readFileSync(join(root, ACTIONS[action], 'action.yml'), 'utf8'))
  const entries = Object.entries(manifest[kind] ?? {})
  for (const [name, { description }] of entries) {
    if (!description) throw new Error(`${action}: ${kind.slice(0, -1)} "${name}" has no description`)
  }
  if (kind === 'outputs') {
    return [
      '| Output | What it is |',
      '|---|---|',
      ...entries.map(([name, { description }]) => `| \`${name}\` | ${cell(description)} |`),
    ]
  }
  const fallback = (input) =>
    input.required ? 'required' : input.default === undefined ? '' : `\`${input.default}\``
  return [
    '| Input | Default | Meaning |',
    '|---|---|---|',
    ...entries.map(
      ([name, input]) => `| \`${name}\` | ${cell(fallback(input))} | ${cell(input.description)} |`,
    ),
  ]
}

const before = readFileSync(file, 'utf8')
const after = before.replace(
  /<!-- (inputs|outputs):([a-z]+) -->\n[\s\S]*?<!-- \/\1:\2 -->/g,
  (_, kind, action) =>
    [`<!-- ${kind}:${action} -->`, '', ...table(action, kind), '', `<!-- /${kind}:${action} -->`].join('\n'),
)
if (process.argv.includes('--check')) {
  if (before !== after) {
    process.stderr.write('README.md is not what action.yml says: run npm run readme\n')
    process.exitCode = 1
  }
} else if (before !== after) {
  writeFileSync(file, after)
}
