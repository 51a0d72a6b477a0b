/**
 * Time and memory of the source archive, against `tar | gzip -6` over the same tree in the same run:
 *
 *     node bench/archive.mjs [runs]
 *
 * The tree has 150 MB in 2,898 files (two thirds like source text, one third random) in a temporary folder,
 * which is removed in the end. Needs Node 24 (TypeScript runs as it is), tar, gzip and sh.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const MEGABYTE = 1024 * 1024
const runs = Number(process.argv[2] ?? 3)

if (process.argv[2] === '--child') await child(process.argv[3], process.argv[4])
else main()

function main() {
  const base = mkdtempSync(join(tmpdir(), 'agent-deploy-bench-'))
  try {
    const tree = join(base, 'tree')
    grow(tree)
    const rows = []
    for (let run = 1; run <= runs; run++) {
      rows.push({ run, ours: ours(tree, base), tarGzip6: theirs(tree, base) })
    }
    for (const row of rows) print(JSON.stringify(row))
    const peak = Math.max(...rows.map((row) => row.ours.peakMiB))
    print(`Peak ${peak} MiB, limit 150 MiB: ${peak < 150 ? 'kept' : 'BROKEN'}`)
    process.exitCode = peak < 150 ? 0 : 1
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

/** In a process of its own, so that its peak is that of the archive and not of this script. */
function ours(tree, base) {
  const script = fileURLToPath(import.meta.url)
  const text = execFileSync(process.execPath, ['--no-warnings', script, '--child', tree, base], {
    encoding: 'utf8',
  })
  return JSON.parse(text)
}

async function child(tree, base) {
  const { createArchive } = await import('../src/deploy/archive/index.ts')
  const loaded = Math.round(process.resourceUsage().maxRSS / 1024)
  const quiet = () => {}
  const started = performance.now()
  const archive = await createArchive({
    sourcePath: tree,
    configPath: 'langgraph.json',
    workspace: tree,
    tempDir: base,
    signal: new AbortController().signal,
    log: { info: quiet, debug: quiet, warning: quiet, notice: quiet, remote: quiet, group: (_t, w) => w() },
  })
  const seconds = Number(((performance.now() - started) / 1000).toFixed(2))
  const peak = Math.round(process.resourceUsage().maxRSS / 1024)
  const { bytes, entries } = archive
  await archive.remove()
  print(
    JSON.stringify({ seconds, megabytes: megabytes(bytes), entries, peakMiB: peak, ofItLoadedMiB: loaded }),
  )
}

function theirs(tree, base) {
  const out = join(base, 'theirs.tar.gz')
  const started = performance.now()
  execFileSync('sh', ['-c', 'tar -cf - -C "$0" . | gzip -6 > "$1"', tree, out])
  const seconds = Number(((performance.now() - started) / 1000).toFixed(2))
  return { seconds, megabytes: megabytes(statSync(out).size) }
}

function megabytes(bytes) {
  return Number((bytes / MEGABYTE).toFixed(1))
}

function print(line) {
  process.stdout.write(`${line}\n`)
}

/** 2,898 files, 150 MB: 60 folders of small and middling sources, and some large files of data. */
function grow(tree) {
  let state = 20261121
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  const words = Array.from({ length: 4000 }, () =>
    Array.from({ length: 2 + Math.floor(random() * 9) }, () =>
      String.fromCharCode(97 + Math.floor(random() ** 2 * 26)),
    ).join(''),
  )
  const text = (size) => {
    const parts = []
    for (let length = 0; length < size; ) {
      const word = words[Math.floor(random() ** 2 * words.length)]
      parts.push(word, random() < 0.12 ? '\n    ' : ' ')
      length += word.length + 1
    }
    return Buffer.from(parts.join('')).subarray(0, size)
  }
  const noise = (size) => {
    const buffer = Buffer.allocUnsafe(size)
    for (let at = 0; at < size; at++) buffer[at] = Math.floor(random() * 256)
    return buffer
  }
  const put = (path, content) => {
    mkdirSync(join(tree, path, '..'), { recursive: true })
    writeFileSync(join(tree, path), content)
  }
  put('langgraph.json', '{"dependencies": ["."], "graphs": {"agent": "./agent.py:graph"}}\n')
  put('agent.py', 'graph = None\n')
  const small = 2880
  for (let at = 0; at < small; at++) {
    put(`src/part${at % 60}/module${at}.py`, text(Math.floor((75 * MEGABYTE) / small)))
  }
  for (let at = 0; at < 8; at++) put(`data/text${at}.txt`, text(Math.floor((25 * MEGABYTE) / 8)))
  for (let at = 0; at < 8; at++) put(`data/noise${at}.bin`, noise(Math.floor((50 * MEGABYTE) / 8)))
}
