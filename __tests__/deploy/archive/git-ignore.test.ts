import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { listFiles } from '../../../src/deploy/archive/walk.ts'
import { type Leaf, plant, temporary, tree } from './tree.ts'

const signal = new AbortController().signal

async function ours(root: string, workspace = root): Promise<string[]> {
  return (await listFiles({ root, workspace, signal })).entries.map((entry) => entry.path)
}

function git(root: string, ...args: string[]): string {
  return execFileSync('git', ['-c', 'core.excludesFile=', '-C', root, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
}

function hasGit(): boolean {
  try {
    return git('.', '--version') !== ''
  } catch {
    return false
  }
}

/** What git would add, relative to the folder. */
function theirs(root: string): string[] {
  const text = git(root, 'ls-files', '-z', '--others', '--exclude-standard', '--cached')
  return text.split('\0').filter((path) => path !== '')
}

const withGit = hasGit() ? describe : describe.skip

withGit('as git itself', () => {
  const table: [title: string, leaves: Record<string, Leaf>][] = [
    ['a name at any depth', { '.gitignore': '*.log\n', 'a.log': '', 'b/a.log': '', 'b/c.txt': '' }],
    ['an anchored name', { '.gitignore': '/a\nb/c\n', a: '', 'd/a': '', 'b/c': '', 'd/b/c': '' }],
    ['folders only', { '.gitignore': 'a/\n', 'd/a': '', 'a/x': '', 'e/a/x': '' }],
    ['a file comes back', { '.gitignore': '*.log\n!keep.log\n', 'a.log': '', 'd/keep.log': '' }],
    ['not out of an ignored folder', { '.gitignore': 'a/\n!a/x\n', 'a/x': '', b: '' }],
    ['but out of a folder whose content is', { '.gitignore': 'a/*\n!a/x\n', 'a/x': '', 'a/y': '' }],
    ['a rule below beats one above', { '.gitignore': '*.log\n', 'a/.gitignore': '!*.log\n', 'x.log': '', 'a/x.log': '', 'a/b/x.log': '' }], // biome-ignore format: a row
    ['a folder brought back below', { '.gitignore': 'a/b/\n', 'a/.gitignore': '!b/\n', 'a/b/x': '' }],
    ['a rule below is anchored there', { 'a/.gitignore': '/x\ny/z\n', x: '', 'a/x': '', 'a/b/x': '', 'a/y/z': '', 'a/b/y/z': '' }], // biome-ignore format: a row
    ['rules of an ignored folder are not read', { '.gitignore': 'a\n', 'a/.gitignore': '!*\n', 'a/x': '' }],
    ['**', { '.gitignore': '**/x\na/**\n!a/**/\n!a/b/c\n', 'd/x': '', x: '', 'a/b/c': '', 'a/c': '' }],
    ['classes and marks', { '.gitignore': '[ab].x\n[!ab].y\n?.z\n', 'a.x': '', 'c.x': '', 'a.y': '', 'c.y': '', 'aa.z': '', 'a.z': '' }], // biome-ignore format: a row
    ['comments, escapes, blanks', { '.gitignore': '#a\n\\#b\n\\!c\nd  \ne\\ \n\n', '#a': '', '#b': '', '!c': '', d: '', 'e ': '' }], // biome-ignore format: a row
    ['CRLF and a byte order mark', { '.gitignore': '\uFEFFa\r\nb/\r\n', a: '', 'b/x': '', c: '' }],
    ['letter case', { '.gitignore': 'README\n', readme: '', 'd/README': '' }],
    ['special letters in the folder of rules', { '[a*]/.gitignore': '/x\ny\n', '[a*]/x': '', '[a*]/b/y': '', 'a/x': '', 'a/y': '' }], // biome-ignore format: a row
    [
      'odd names',
      { '.gitignore': '*.no\n', 'a b "c" \'d\'.txt': '', 'ü/é.txt': '', 'ü/é.no': '', 'x\ny': '' },
    ],
    ['a lone slash, a lone !, a backslash at the end', { '.gitignore': '/\n!\nx\\\n', x: '', 'x\\': '' }],
  ]
  it.each(table)('%s', async (_title, leaves) => {
    const root = tree(leaves)
    git(root, 'init', '-q')
    expect((await ours(root)).sort()).toEqual(theirs(root).sort())
  })

  it('in a folder of the repository, with rules above it', async () => {
    const root = tree({
      '.gitignore': '*.log\n/apps/one/gen/\n!/apps/one/keep.log\n',
      'apps/.gitignore': 'one/tmp\n',
      'apps/one/.gitignore': '/local\n',
      'apps/one/x.log': '',
      'apps/one/keep.log': '',
      'apps/one/gen/x': '',
      'apps/one/tmp': '',
      'apps/one/local': '',
      'apps/one/sub/local': '',
      'apps/one/agent.py': '',
    })
    git(root, 'init', '-q')
    const folder = join(root, 'apps', 'one')
    expect((await ours(folder, root)).sort()).toEqual(theirs(folder).sort())
    expect(await ours(folder, root)).toEqual(['.gitignore', 'agent.py', 'keep.log', 'sub/local'])
  })

  it('over random trees and patterns', async () => {
    const random = generator(20261121)
    for (let round = 0; round < 60; round++) {
      const root = temporary()
      git(root, 'init', '-q')
      const files = grow(root, random)
      const [mine, gits] = [(await ours(root)).sort(), theirs(root).sort()]
      if (JSON.stringify(mine) !== JSON.stringify(gits))
        expect({ files, mine }).toEqual({ files, mine: gits })
    }
  }, 60_000)
})

describe('where the rules begin', () => {
  const leaves = {
    '.gitignore': 'top\n',
    'a/.gitignore': 'middle\n',
    'a/b/.gitignore': 'low\n',
    'a/b/top': '',
    'a/b/middle': '',
    'a/b/low': '',
  }

  it('at the nearest folder that holds .git, which may be a file', async () => {
    const root = tree(leaves)
    plant(root, { 'a/.git': 'gitdir: elsewhere\n' })
    expect(await ours(join(root, 'a/b'), root)).toEqual(['.gitignore', 'top'])
  })

  it('else at the workspace', async () => {
    const root = tree(leaves)
    expect(await ours(join(root, 'a/b'), root)).toEqual(['.gitignore'])
    expect(await ours(join(root, 'a/b'), join(root, 'a'))).toEqual(['.gitignore', 'top'])
  })

  it('else at the folder itself', async () => {
    const root = tree(leaves)
    expect(await ours(join(root, 'a/b'), join(root, 'elsewhere'))).toEqual(['.gitignore', 'middle', 'top'])
  })

  it('anew in a repository inside the repository', async () => {
    const root = tree({
      '.gitignore': '*.log\n',
      '.git': 'gitdir: x\n',
      'x.log': '',
      'inner/.git': 'gitdir: y\n',
      'inner/.gitignore': '*.tmp\n',
      'inner/x.log': '',
      'inner/x.tmp': '',
    })
    expect(await ours(root)).toEqual(['.gitignore', 'inner/.gitignore', 'inner/x.log'])
  })

  it('leaves out everything in a folder that git ignores as a whole', async () => {
    const root = tree({ '.git': 'x', '.gitignore': 'build\n', 'build/.gitignore': '!*\n', 'build/a': '' })
    expect(await ours(join(root, 'build'), root)).toEqual([])
    plant(root, { 'build/.dockerignore': '!**\n' })
    expect(await ours(join(root, 'build'), root)).toEqual(['.dockerignore', '.gitignore', 'a'])
  })
})

/** Mulberry32: the same trees in every run. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const NAMES = [
  'a',
  'b',
  'ab',
  'foo',
  'x.log',
  'y.log',
  '.h',
  'c d',
  'B',
  '[z]',
  'a*b',
  '#n',
  '!e',
  'a+b',
  '(x)',
]
const PARTS = ['*', '*.log', '**', '?', 'a*', '*b', '[ab]', '[!a]', '[^a]', '[[:alpha:]]', '\\a', '\\*', '**a', '\\#n', '\\!e', '#n', '*.*', 'fo?', '\\[z\\]', 'c\\ d', '.*', '***'] // biome-ignore format: a row

function grow(root: string, random: () => number): Record<string, string> {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const files: Record<string, string> = {}
  const put = (path: string, text: string): void => {
    try {
      mkdirSync(join(root, dirname(path)), { recursive: true })
      writeFileSync(join(root, path), text)
      files[path] = text
    } catch {
      // The name is a folder already, or the folder a file.
    }
  }
  const folders = new Set([''])
  for (let at = 0; at < 20; at++) {
    const parts = Array.from({ length: pick([1, 2, 2, 3, 4]) }, () => pick(NAMES))
    for (let depth = 1; depth < parts.length; depth++) folders.add(`${parts.slice(0, depth).join('/')}/`)
    put(parts.join('/'), '')
  }
  const pattern = (): string => {
    const parts = Array.from({ length: pick([1, 1, 1, 2, 2, 3]) }, () => pick([...NAMES, ...PARTS]))
    const marks = [random() < 0.3 ? '!' : '', random() < 0.3 ? '/' : '', random() < 0.3 ? '/' : '']
    return `${marks[0]}${marks[1]}${parts.join('/')}${marks[2]}${random() < 0.05 ? ' ' : ''}`
  }
  for (const folder of folders) {
    if (folder !== '' && random() > 0.3) continue
    put(`${folder}.gitignore`, Array.from({ length: pick([1, 2, 3, 5]) }, pattern).join('\n'))
  }
  return files
}
