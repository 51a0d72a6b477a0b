/**
 * Holds the emulator against everything that was recorded of the real Python server 0.16.7, and the A2A part of
 * 0.5.23, and prints a table:
 * exchanges compared, equal, different on purpose, different. Exit code 1 when the last number is not 0.
 *
 *   node replay/run.mjs [--emulator <file>] [--verbose] [--only <prefix of a name>]
 *
 * `--emulator` takes a built bundle instead of the sources.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { deployAgent, startEmulator } from './emulator.mjs'
import { readExchanges, readReproducible } from './exchanges.mjs'
import { replay } from './replay.mjs'

const { values: flags } = parseArgs({
  options: {
    emulator: { type: 'string' },
    verbose: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
})
/** @type {{differentOnPurpose: Record<string, string>, notReplayed: Record<string, string>}} */
const reasons = JSON.parse(readFileSync(new URL('../differences.json', import.meta.url), 'utf8'))
const isNoKey = (name) => name.startsWith('4-feedback-') && name.includes('nokey')

/** Of the older server only A2A itself is emulated: not its plain-text errors, nor its threads. */
function isA2a({ request, response }) {
  const plainText = response.headers['content-type']?.startsWith('text/plain')
  return !plainText && /^\/(a2a\/|\.well-known)/.test(request.path)
}

/** `*` in an entry stands for any letters; an entry that begins with a file's name is about that file only. */
function listed(list, file, name) {
  return Object.keys(list).some((entry) => {
    const pattern = new RegExp(`^${entry.replaceAll('.', '\\.').replaceAll('*', '.*')}$`)
    return pattern.test(name) || pattern.test(`${file} ${name}`)
  })
}

/** The recorded server asked for no key and took any, with any tenant. */
const withKey =
  (apiKey) =>
  ({ 'x-tenant-id': _tenant, ...headers }) => ({ ...headers, 'x-api-key': apiKey })

/** With LangSmith auth, `good` was the key and `other` that of another workspace. */
const langSmith = (apiKey) => (headers) => {
  const key = headers['x-api-key']
  if (key === 'good') return { ...headers, 'x-api-key': apiKey }
  if (key === 'other') return { ...headers, 'x-api-key': apiKey, 'x-tenant-id': OTHER_WORKSPACE }
  return headers
}
const OTHER_WORKSPACE = 'bbbbbbbb-0000-4000-8000-000000000002'

const SETS = [
  {
    title: 'agent server, before the recorder restarted it',
    file: 'python-0.16.7.jsonl',
    flags: [],
    wanted: (name) => /^[123]-/.test(name),
    credentials: withKey,
  },
  {
    title: 'agent server, after that',
    file: 'python-0.16.7.jsonl',
    flags: ['--terminal-tasks', 'reject'],
    wanted: (name) => !/^[123]-/.test(name) && !isNoKey(name),
    credentials: withKey,
  },
  {
    title: 'cannot mint feedback URLs',
    file: 'python-0.16.7.jsonl',
    flags: ['--no-feedback'],
    wanted: isNoKey,
    credentials: withKey,
  },
  { title: 'mints feedback URLs', file: 'python-0.16.7-feedback.jsonl', flags: [], credentials: withKey },
  {
    title: 'A2A switched off',
    file: 'python-0.16.7-disable-a2a.jsonl',
    flags: ['--disable-a2a'],
    credentials: withKey,
  },
  {
    title: 'A2A 0.3',
    file: 'python-0.5.23.jsonl',
    flags: ['--a2a', '0.3', '--agent-version', '0.5.23'],
    wanted: (name, exchange) => name.startsWith('7') && isA2a(exchange),
    credentials: withKey,
  },
  { title: 'LangSmith auth', file: 'python-0.16.7-langsmith-auth.jsonl', flags: [], credentials: langSmith },
  {
    title: 'custom auth',
    file: 'python-0.16.7-custom-auth.jsonl',
    flags: [],
    credentials: () => (headers) => headers,
  },
]

const reproducible = readReproducible()
const table = []
let failed = 0

for (const set of SETS) {
  const exchanges = readExchanges(set.file).filter(
    (exchange) =>
      (set.wanted?.(exchange.name, exchange) ?? true) &&
      (!flags.only || exchange.name.startsWith(flags.only)),
  )
  const skipped = exchanges.filter(({ name }) => listed(reasons.notReplayed, set.file, name))
  const broken = set.file === 'python-0.16.7.jsonl' && skipped.find(({ name }) => reproducible.has(name))
  if (broken) throw new Error(`${broken.name} is reproducible: differences.json may not leave it out`)

  let results = []
  if (skipped.length < exchanges.length) {
    const emulator = await startEmulator({ entry: flags.emulator, flags: set.flags })
    try {
      const agentUrl = await deployAgent(emulator)
      const skip = (name) => listed(reasons.notReplayed, set.file, name)
      results = await replay({ exchanges, agentUrl, skip, credentials: set.credentials(emulator.apiKey) })
    } finally {
      await emulator.close()
    }
  }
  const unlike = results.filter(({ differences }) => differences.length > 0)
  const onPurpose = unlike.filter(({ name }) => listed(reasons.differentOnPurpose, set.file, name))
  const different = unlike.filter(({ name }) => !listed(reasons.differentOnPurpose, set.file, name))
  failed += different.length
  table.push({
    recorded: `${set.title} (${set.file})`,
    compared: results.length,
    equal: results.length - unlike.length,
    'different on purpose': onPurpose.length,
    different: different.length,
    'not replayed': skipped.length,
  })
  for (const { name, differences } of different) {
    console.log(`\n${name}`)
    for (const { where, recorded, actual } of flags.verbose ? differences : differences.slice(0, 4)) {
      console.log(`  ${where}\n    recorded: ${short(recorded)}\n    emulator: ${short(actual)}`)
    }
  }
}

function short(value) {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined')
  return flags.verbose || text.length <= 300 ? text : `${text.slice(0, 300)}…`
}

const total = { recorded: 'all' }
for (const column of Object.keys(table[0]).slice(1))
  total[column] = table.reduce((sum, row) => sum + row[column], 0)
console.log('\nRecorded exchanges of langgraph-api against the emulator')
print([...table, total])
console.log(`\nRecorded exchanges: ${total.compared - failed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

function print(rows) {
  const columns = Object.keys(rows[0])
  const cells = [columns, ...rows.map((row) => columns.map((column) => String(row[column])))]
  const widths = columns.map((_, index) => Math.max(...cells.map((row) => row[index].length)))
  for (const row of cells) {
    console.log(
      row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  '),
    )
  }
}
