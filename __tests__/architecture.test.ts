/** The shape of the house (design, section 3): arrows go one way, files stay small. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from '@jest/globals'

const SRC = fileURLToPath(new URL('../src', import.meta.url))
const MAX_LINES = 400

/** Which other rooms a room may import. A room that is not here does not exist. */
const ARROWS: Record<string, readonly string[]> = {
  actions: ['base', 'runner', 'deploy', 'verify', 'clients', 'http'],
  runner: ['base', 'clients', 'http'],
  deploy: ['base', 'clients', 'http'],
  verify: ['base', 'clients', 'http'],
  clients: ['base', 'http'],
  http: ['base'],
  base: [],
  emulator: [],
}

interface Import {
  readonly from: string
  /** A file relative to src/, or a package's name. */
  readonly to: string
  readonly isFile: boolean
}

/** Imports, exports from and dynamic imports, types too: a type can carry a wrong belief as well as a value. */
function importsOf(file: string, source: string): Import[] {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
  const found = code.matchAll(
    /(?:^|[\s;}])(?:import|export)\s+(?:type\s+)?[\w*{},\s$]*?from\s*['"]([^'"]+)['"]|^\s*import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm,
  )
  return [...found].map((match) => {
    const name = match[1] ?? match[2] ?? match[3] ?? ''
    return name.startsWith('.')
      ? { from: file, to: relative(SRC, resolve(SRC, dirname(file), name)), isFile: true }
      : { from: file, to: name, isFile: false }
  })
}

/** What is wrong with the imports of a file, one line each. */
function faultsOf({ from, to, isFile }: Import): string[] {
  const room = roomOf(from)
  if (!isFile) {
    const outside = to.startsWith('@actions/') && room !== 'runner'
    return outside ? [`${from} imports ${to}: @actions/* belongs into runner/`] : []
  }
  if (to.startsWith('..')) return [`${from} imports ${to}, which is not in src/`]
  const target = roomOf(to)
  const allowed = target === room || (ARROWS[room] ?? []).includes(target)
  return allowed ? [] : [`${from} imports ${to}: ${room} may not know ${target}`]
}

function roomOf(file: string): string {
  return file.split(/[\\/]/, 1)[0] ?? ''
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
const sources = new Map(files.map((file) => [file, readFileSync(join(SRC, file), 'utf8')]))
const imports = [...sources].flatMap(([file, source]) => importsOf(file, source))

describe('the house', () => {
  it('has the rooms of the design', () => {
    expect([...new Set(files.map(roomOf))].filter((room) => !Object.hasOwn(ARROWS, room))).toEqual([])
  })

  it('has arrows that go one way, and @actions/* in runner/ only', () => {
    expect(imports.flatMap(faultsOf)).toEqual([])
  })

  it('imports files that are there, by their whole name', () => {
    const missing = imports.filter(({ to, isFile }) => isFile && !to.endsWith('.json') && !sources.has(to))
    expect(missing.map(({ from, to }) => `${from} imports ${to}`)).toEqual([])
  })

  it(`has no file of more than ${MAX_LINES} lines`, () => {
    const long = [...sources]
      .map(([file, source]) => ({ file, lines: source.split('\n').length - 1 }))
      .filter(({ lines }) => lines > MAX_LINES)
    expect(long).toEqual([])
  })

  it('prints through one room only', () => {
    const printing = [...sources]
      .filter(([file]) => !['runner', 'emulator'].includes(roomOf(file)))
      .filter(([, source]) => /\bconsole\.|process\.std(out|err)/.test(source))
    expect(printing.map(([file]) => file)).toEqual([])
  })
})

describe('the check itself', () => {
  const check = (from: string, source: string): string[] => importsOf(from, source).flatMap(faultsOf)

  it.each([
    ['http/a.ts', "import { x } from '../clients/y.ts'"],
    ['clients/a.ts', "import type { X } from '../deploy/y.ts'"],
    ['deploy/a.ts', "export { x } from '../runner/y.ts'"],
    ['deploy/a.ts', "const x = await import('../verify/y.ts')"],
    ['emulator/a/b.ts', "import { x } from '../../base/y.ts'"],
    ['clients/a.ts', "import type {\n  X,\n  Y,\n} from '../emulator/y.ts'"],
    ['base/a.ts', "import '../http/y.ts'"],
    ['deploy/a.ts', "import * as core from '@actions/core'"],
    ['actions/a.ts', "const { context } = await import('@actions/github')"],
    ['actions/a.ts', "import { x } from '../../scripts/y.ts'"],
  ])('finds in %s what %s breaks', (from, source) => {
    expect(check(from, source)).toHaveLength(1)
  })

  it.each([
    ['runner/a.ts', "import * as core from '@actions/core'"],
    ['actions/deploy/a.ts', "import { x } from '../../deploy/y.ts'"],
    ['clients/x/a.ts', "import { x } from '../y/z.ts'\nimport { y } from '../../http/y.ts'"],
    ['http/a.ts', "// import { x } from '../clients/y.ts'\n/* import '../deploy/z.ts' */"],
  ])('finds nothing in %s wrong with %s', (from, source) => {
    expect(check(from, source)).toEqual([])
  })

  it('sees every import of the real files', () => {
    const counted = [...sources.values()].join('\n').match(/^(import|export)\b[^'"]*\bfrom '/gm)?.length ?? 0
    expect(imports.length).toBeGreaterThanOrEqual(counted)
    expect(counted).toBeGreaterThan(50)
  })
})
