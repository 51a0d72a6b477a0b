import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { AgentDeployError, CancelledError, InputError } from '../../../src/base/errors.ts'
import { type Archive, ArchiveTooLargeError, createArchive } from '../../../src/deploy/archive/index.ts'
import { type Leaf, memoryLog, plant, temporary, tree, type Unpacked, unpack } from './tree.ts'

const CONFIG = JSON.stringify({ dependencies: ['.'], graphs: { agent: './agent.py:graph' } })
const AGENT = { 'langgraph.json': CONFIG, 'agent.py': 'graph = 1\n' }

interface Made {
  archive: Archive
  entries: Unpacked[]
  paths: string[]
  log: ReturnType<typeof memoryLog>
  tempDir: string
}

interface Given {
  sourcePath?: string
  configPath?: string
  workspace?: string
  maxBytes?: number
  signal?: AbortSignal
  tempDir?: string
}

async function make(root: string, given: Given = {}): Promise<Made> {
  const log = memoryLog()
  const tempDir = temporary()
  const archive = await createArchive({
    sourcePath: '.',
    configPath: 'langgraph.json',
    workspace: root,
    signal: new AbortController().signal,
    tempDir,
    log,
    ...given,
  })
  const entries = await unpack(readFileSync(archive.path))
  return { archive, entries, paths: entries.map((entry) => entry.path), log, tempDir }
}

async function refused(root: string, given: Given = {}): Promise<AgentDeployError> {
  const error = await make(root, given).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(AgentDeployError)
  return error as AgentDeployError
}

describe('what goes in', () => {
  it('is what the folder holds, as plain files in the order of their names', async () => {
    const { archive, entries, log } = await make(
      tree({
        ...AGENT,
        'src/tool.py': 'x',
        'src/run.sh': { run: '#!/bin/sh\n' },
        'src/empty.txt': '',
        'empty/folder': { folder: true },
        'odd/a b "c" \'d\' $e.txt': 'odd',
        'odd/ü-é-日本.txt': 'umlaut',
        'odd/-rf': '1',
        'odd/@file': '2',
        'odd/c:x\\y': '3',
        [`odd/${'long'.repeat(50)}.txt`]: 'long',
        [`odd/${'deep/'.repeat(60)}x.txt`]: 'deep',
        [`odd/${'ü'.repeat(100)}.txt`]: 'long umlaut',
      }),
    )
    expect(entries.map(({ path, mode, text }) => [path, mode, text])).toEqual([
      ['agent.py', 0o644, 'graph = 1\n'],
      ['langgraph.json', 0o644, CONFIG],
      ['odd/-rf', 0o644, '1'],
      ['odd/@file', 0o644, '2'],
      ['odd/a b "c" \'d\' $e.txt', 0o644, 'odd'],
      ['odd/c:x\\y', 0o644, '3'],
      [`odd/${'deep/'.repeat(60)}x.txt`, 0o644, 'deep'],
      [`odd/${'long'.repeat(50)}.txt`, 0o644, 'long'],
      ['odd/ü-é-日本.txt', 0o644, 'umlaut'],
      [`odd/${'ü'.repeat(100)}.txt`, 0o644, 'long umlaut'],
      ['src/empty.txt', 0o644, ''],
      ['src/run.sh', 0o755, '#!/bin/sh\n'],
      ['src/tool.py', 0o644, 'x'],
    ])
    for (const entry of entries) expect(entry.type).toBe('File')
    expect(archive).toMatchObject({ entries: 13, leftOut: [], graphs: ['agent'], disableA2a: false })
    expect(archive.configPath).toBe('langgraph.json')
    expect(archive.bytes).toBe(statSync(archive.path).size)
    expect(log.lines).toEqual([
      expect.stringMatching(/^info: The archive of source-path has 13 files, \d+ KB/),
    ])
  })

  it('never is what looks like a secret or a tool’s folder, at any depth', async () => {
    const secrets = [
      '.env', '.env.production', '.Env.Local', 'id_rsa', 'id_dsa', 'id_ecdsa', 'id_ed25519', 'a.pem', 'a.key', 'a.p12', 'a.pfx', 'a.jks', 'B.PEM',
      '.npmrc', '.pypirc', '.netrc', '.aws/credentials', '.ssh/config', '.gnupg/x', '.docker/config.json',
    ] // biome-ignore format: a list
    const tools = [
      '.git/HEAD',
      'node_modules/x.js',
      '.venv/x',
      'venv/x',
      '__pycache__/x.pyc',
      '.tox/x',
      '.mypy_cache/x',
    ]
    const kept = ['.env.example', '.env.sample', '.env.template', 'id_rsa.pub', 'config.json', '.docker/x', 'env', 'a.pem.md', 'key', 'x/venv', '.gitignore'] // biome-ignore format: a list
    const leaves: Record<string, Leaf> = { ...AGENT, '.dockerignore': '!**\n' }
    for (const path of [...secrets, ...tools, ...kept]) {
      if (path !== 'x/venv') leaves[`deep/er/${path}`] = 's3cret'
      leaves[path] = 's3cret'
    }
    leaves['deep/venv2/venv'] = 'a file of that name'
    delete leaves['x/venv']
    const { archive, paths, log } = await make(tree(leaves))
    const expected = [...kept.filter((path) => path !== 'x/venv')].flatMap((path) => [
      path,
      `deep/er/${path}`,
    ])
    expect(paths.sort()).toEqual(
      [...Object.keys(AGENT), '.dockerignore', 'deep/venv2/venv', ...expected].sort(),
    )
    for (const path of secrets) {
      const top = path.replace(/^(\.aws|\.ssh|\.gnupg)\/.*/, '$1/')
      expect(archive.leftOut).toContain(top)
      expect(archive.leftOut).toContain(`deep/er/${top}`)
    }
    for (const path of tools) expect(archive.leftOut).toContain(path.replace(/\/.*/, '/'))
    const told = log.lines.filter((line) => line.includes('for safety'))
    expect(told).toHaveLength(1)
    for (const name of ['deep/er/.env', 'id_rsa', 'a.pem', '.npmrc', '.git/', 'node_modules/'])
      expect(told[0]).toContain(name)
  })

  it('says nothing of secrets that an ignore file leaves out', async () => {
    const { archive, log } = await make(
      tree({ ...AGENT, '.gitignore': '.env\n', '.env': 'x', '.venv/x': '' }),
    )
    expect(archive.leftOut).toEqual(['.venv/'])
    expect(log.lines.join()).not.toContain('.env,')
  })

  it('stores a hard link as a file', async () => {
    const root = tree({ ...AGENT, 'one.txt': 'shared' })
    linkSync(join(root, 'one.txt'), join(root, 'two.txt'))
    const { entries } = await make(root)
    expect(entries.filter((entry) => entry.text === 'shared').map(({ path, type }) => [path, type])).toEqual([
      ['one.txt', 'File'],
      ['two.txt', 'File'],
    ])
  })

  it('is the same to the byte for the same tree', async () => {
    const leaves = { ...AGENT, 'b/x.sh': { run: 'x' }, 'ü.txt': 'y', 'a/z': 'z'.repeat(3_000_000) }
    const [one, two] = [await make(tree(leaves)), await make(tree(leaves))]
    expect(readFileSync(one.archive.path).equals(readFileSync(two.archive.path))).toBe(true)
  })

  it('has the folder of the input as its root', async () => {
    const root = tree({ 'apps/one/langgraph.json': CONFIG, 'apps/one/agent.py': '', 'apps/two/x': '', y: '' })
    expect((await make(root, { sourcePath: 'apps/one' })).paths).toEqual(['agent.py', 'langgraph.json'])
    const wide = await make(root, { sourcePath: join(root, 'apps'), configPath: './one/langgraph.json' })
    expect(wide.paths).toEqual(['one/agent.py', 'one/langgraph.json', 'two/x'])
    expect(wide.archive.configPath).toBe('one/langgraph.json')
  })
})

describe('links', () => {
  it('to files and folders inside are stored as these', async () => {
    const { entries } = await make(
      tree({
        ...AGENT,
        'data/a.txt': 'A',
        'data/b/c.sh': { run: 'C' },
        'link.txt': { link: 'data/a.txt' },
        'src/data': { link: '../data' },
        'src/again': { link: 'data' },
      }),
    )
    const found = Object.fromEntries(entries.map(({ path, type, mode, text }) => [path, [type, mode, text]]))
    expect(found).toMatchObject({
      'link.txt': ['File', 0o644, 'A'],
      'src/data/a.txt': ['File', 0o644, 'A'],
      'src/data/b/c.sh': ['File', 0o755, 'C'],
      'src/again/b/c.sh': ['File', 0o755, 'C'],
    })
    expect(entries).toHaveLength(9)
  })

  it('that make a cycle are cut', async () => {
    const root = tree({
      ...AGENT,
      'a/x': '',
      'a/self': { link: '.' },
      'a/up': { link: '..' },
      'a/to-b': { link: '../b' },
      'b/to-a': { link: '../a' },
    })
    const { paths } = await make(root)
    // Each way ends where it would come to a folder that it came through.
    expect(paths).toEqual(['a/x', 'agent.py', 'b/to-a/x', 'langgraph.json'])
  })

  it('to an absolute path inside are inside', async () => {
    const root = tree({ ...AGENT, 'a.txt': 'A' })
    plant(root, { 'abs.txt': { link: join(root, 'a.txt') } })
    expect((await make(root)).paths).toContain('abs.txt')
  })

  it.each([
    ['a file', '/etc/hostname'],
    ['a folder', '../..'],
    ['a file of the neighbour', '../../outside.txt'],
    ['nothing', '../../not-there.txt'],
    ['a folder with the same beginning', '../../source-2'],
  ])('out of the folder are an error that names them: to %s', async (_title, target) => {
    const root = tree({ 'outside.txt': '', 'source-2/x': '' })
    plant(join(root, 'source'), { ...AGENT, 'sub/leak': { link: target } })
    const error = await refused(root, { sourcePath: 'source' })
    expect(error.message).toMatch(/^"sub\/leak" in source-path is a link out of that folder/)
    expect(error.hint).toContain('.dockerignore')
  })

  it('out of the folder are no error where they are left out', async () => {
    const root = tree({
      ...AGENT,
      '.gitignore': 'ignored\n',
      ignored: { link: '/etc' },
      '.venv': { link: '/usr' },
      node_modules: { link: '../not-there' },
      '.env': { link: '/etc/hostname' },
      '.dockerignore': 'other\n',
      other: { link: '/etc/hostname' },
    })
    const { archive, paths } = await make(root)
    expect(paths).toEqual(['.dockerignore', '.gitignore', 'agent.py', 'langgraph.json'])
    expect(archive.leftOut).toEqual(
      ['.env', '.venv', 'node_modules'].map((path) => (path === '.venv' ? '.venv/' : path)),
    )
  })

  it('to a secret inside are left out as it is', async () => {
    const { archive, paths } = await make(
      tree({
        ...AGENT,
        '.env': 'x',
        'conf/settings.txt': { link: '../.env' },
        '.ssh/id': 'x',
        keys: { link: '.ssh' },
        lib: { link: 'node_modules/pkg' },
        'node_modules/pkg/index.js': '',
      }),
    )
    expect(paths).toEqual(['agent.py', 'langgraph.json'])
    expect([...archive.leftOut].sort()).toEqual([
      '.env',
      '.ssh/',
      'conf/settings.txt',
      'keys/',
      'lib/',
      'node_modules/',
    ])
  })

  it('that point nowhere inside, or in a ring, are left out with a warning', async () => {
    const { paths, log } = await make(
      tree({ ...AGENT, gone: { link: 'not-there' }, one: { link: 'two' }, two: { link: 'one' } }),
    )
    expect(paths).toEqual(['agent.py', 'langgraph.json'])
    expect(log.lines).toContainEqual(expect.stringMatching(/^warning: .*gone, one, two$/))
  })
})

describe('the config', () => {
  const config = (value: unknown): string => JSON.stringify(value)
  const graphs = { agent: './agent.py:graph' }

  it('tells graphs, A2A and its env file', async () => {
    const { archive, log } = await make(
      tree({
        'langgraph.json': config({
          graphs: { ...graphs, two: { path: './src/two.ts:make', description: 'x' }, three: 'pkg.mod:graph' },
          http: { disable_a2a: true },
          env: './.env',
        }),
        'agent.py': '',
        'src/two.ts': '',
        '.env': 'KEY=1',
      }),
    )
    expect(archive).toMatchObject({ graphs: ['agent', 'two', 'three'], disableA2a: true })
    expect(log.lines).toContainEqual(expect.stringMatching(/^notice: The env file ".\/.env" .* `secrets`/))
  })

  it('has paths relative to its own folder', async () => {
    const root = tree({
      'apps/one/langgraph.json': config({
        graphs,
        dependencies: ['.', '../../shared', 'langchain'],
        env: '../../ok.txt',
      }),
      'apps/one/agent.py': '',
      'shared/x.py': '',
      'ok.txt': '',
    })
    const { archive, log } = await make(root, { configPath: 'apps/one/langgraph.json' })
    expect(archive.graphs).toEqual(['agent'])
    expect(log.lines.join()).not.toContain('notice')
  })

  const faults: [title: string, leaves: Record<string, Leaf>, message: RegExp, hint: RegExp][] = [
    ['is not there', { 'agent.py': '' }, /"config-path": "langgraph.json" is not a file in source-path "."/, /actions\/checkout/],
    ['lies elsewhere', { 'agents/a/langgraph.json': CONFIG }, /is not a file/, /There is "agents\/a\/langgraph.json"/],
    ['is a folder', { 'langgraph.json/x': '' }, /is not a file/, /./],
    ['is ignored by git', { ...AGENT, '.gitignore': '*.json\n' }, /"langgraph.json" is there, but is left out/, /!langgraph.json/],
    ['is no JSON', { ...AGENT, 'langgraph.json': '{\n  "env": {"K": "hunter2"},,\n}' }, /"langgraph.json" is not JSON( \(line 2, column 27\))?$/, /[Cc]omments and commas/],
    ['is cut', { ...AGENT, 'langgraph.json': '{"graphs": ' }, /is not JSON/, /./],
    ['is a list', { ...AGENT, 'langgraph.json': '[]' }, /is not a JSON object/, /./],
    ['has no graphs', { ...AGENT, 'langgraph.json': '{}' }, /has no "graphs"/, /./],
    ['has empty graphs', { ...AGENT, 'langgraph.json': '{"graphs":{}}' }, /has no "graphs"/, /./],
    ['has a number as graph', { ...AGENT, 'langgraph.json': config({ graphs: { a: 1 } }) }, /graph "a": expected/, /./],
    ['has a graph without a path', { ...AGENT, 'langgraph.json': config({ graphs: { a: {} } }) }, /graph "a": expected/, /./],
    ['has a graph without a variable', { ...AGENT, 'langgraph.json': config({ graphs: { a: './agent.py' } }) }, /graph "a" is ".\/agent.py": expected/, /./],
    ['has a graph that is not there', { ...AGENT, 'langgraph.json': config({ graphs: { a: './x.py:g' } }) }, /graph "a" points to "x.py", which is nothing/, /./],
    ['has a graph that is a folder', { ...AGENT, 'd/x': '', 'langgraph.json': config({ graphs: { a: './d:g' } }) }, /points to "d", which is a folder/, /./],
    ['has a graph that is left out', { ...AGENT, '.gitignore': 'gen/\n', 'gen/x.py': '', 'langgraph.json': config({ graphs: { a: 'gen/x.py:g' } }) }, /points to "gen\/x.py", which is a file that is left out/, /./],
    ['has a graph without a slash that is not there', { ...AGENT, 'langgraph.json': config({ graphs: { a: 'x.py:g' } }) }, /points to "x.py", which is nothing/, /./],
    ['has a graph outside', { ...AGENT, 'langgraph.json': config({ graphs: { a: '../x.py:g' } }) }, /graph "a" points out of source-path: "..\/x.py"/, /./],
    ['has an absolute graph', { ...AGENT, 'langgraph.json': config({ graphs: { a: '/x.py:g' } }) }, /points out of source-path/, /./],
    ['has a dependency that is not there', { ...AGENT, 'langgraph.json': config({ graphs, dependencies: ['./lib'] }) }, /dependency ".\/lib" is not there/, /./],
    ['has a dependency that is a file', { ...AGENT, 'langgraph.json': config({ graphs, dependencies: ['./agent.py'] }) }, /dependency ".\/agent.py" is a file/, /./],
    ['has a dependency that is left out', { ...AGENT, '.dockerignore': 'lib\n', 'lib/x': '', 'langgraph.json': config({ graphs, dependencies: ['./lib'] }) }, /dependency ".\/lib" has no file in the archive/, /./],
  ] // biome-ignore format: rows
  it.each(faults)('%s', async (_title, leaves, message, hint) => {
    const error = await refused(tree(leaves))
    expect(error).toBeInstanceOf(InputError)
    expect(error.message).toMatch(message)
    expect(error.hint).toMatch(hint)
    expect(error.message).not.toContain('hunter2')
  })

  it('tells all faults at once', async () => {
    const error = await refused(
      tree({
        ...AGENT,
        'langgraph.json': config({ graphs: { a: 1, b: './x.py:g' }, dependencies: ['./lib'] }),
      }),
    )
    expect((error as InputError).faults).toHaveLength(3)
  })

  it('says which inputs hold a dependency outside of source-path', async () => {
    const root = tree({
      'apps/one/langgraph.json': config({ graphs, dependencies: ['.', '../shared', '../../libs/x'] }),
      'apps/one/agent.py': '',
      'apps/shared/x.py': '',
      'libs/x/y.py': '',
    })
    const error = await refused(root, { sourcePath: 'apps/one' })
    expect(error.message).toContain(
      'dependency "../shared", "../../libs/x" lies outside source-path "apps/one"',
    )
    expect(error.message).toContain('use source-path: . and config-path: apps/one/langgraph.json')
    // What it says is right.
    expect((await make(root, { configPath: 'apps/one/langgraph.json' })).archive.graphs).toEqual(['agent'])

    plant(root, { 'apps/one/langgraph.json': config({ graphs, dependencies: ['../shared'] }) })
    expect((await refused(root, { sourcePath: join(root, 'apps/one') })).message).toContain(
      'use source-path: apps and config-path: one/langgraph.json',
    )
    expect((await refused(join(root, 'apps/one'))).message).toContain('lies outside the workspace')
  })
})

describe('wrong inputs', () => {
  it.each([
    ['not-there', 'langgraph.json', /"source-path": "not-there" is not a folder/],
    ['agent.py', 'langgraph.json', /"source-path": "agent.py" is not a folder/],
    ['.', '../langgraph.json', /"config-path": "..\/langgraph.json" lies outside source-path/],
    ['.', '/langgraph.json', /lies outside source-path/],
    ['.', 'a/../../langgraph.json', /lies outside source-path/],
    ['.', '.', /is not a file/],
  ])('source-path %j, config-path %j', async (sourcePath, configPath, message) => {
    const error = await refused(tree(AGENT), { sourcePath, configPath })
    expect(error).toBeInstanceOf(InputError)
    expect(error.message).toMatch(message)
  })

  it('a pattern that Docker refuses', async () => {
    expect((await refused(tree({ ...AGENT, '.dockerignore': 'a\n[\n' }))).message).toContain(
      'Line 2 of .dockerignore',
    )
  })
})

describe('the file', () => {
  it('is for this user only, and gone after remove', async () => {
    const { archive, tempDir } = await make(tree(AGENT))
    expect(statSync(archive.path).mode & 0o777).toBe(0o600)
    expect(archive.path.startsWith(tempDir)).toBe(true)
    await archive.remove()
    await archive.remove()
    expect(readdirSync(tempDir)).toEqual([])
  })

  it('over the limit is refused, with the largest files named, and leaves nothing', async () => {
    const root = tree({ ...AGENT, 'big.bin': 'ab'.repeat(2_000_000), 'small.txt': 'x' })
    const tempDir = temporary()
    const error = await refused(root, { maxBytes: 1000, tempDir })
    expect(error).toBeInstanceOf(ArchiveTooLargeError)
    expect(error.message).toMatch(/larger than 1 KB compressed.* Largest: big.bin \(3.8 MB\)/)
    expect(error.hint).toContain('.dockerignore')
    expect(readdirSync(tempDir)).toEqual([])
  })

  it('is not begun when the job is cancelled', async () => {
    const controller = new AbortController()
    controller.abort(new CancelledError('cancelled'))
    const tempDir = temporary()
    const given = { signal: controller.signal, tempDir }
    expect(await refused(tree(AGENT), given)).toBeInstanceOf(CancelledError)
    expect(readdirSync(tempDir)).toEqual([])
  })

  it('is removed when the job is cancelled in the middle', async () => {
    const root = tree(AGENT)
    for (let at = 0; at < 40; at++)
      writeFileSync(join(root, `big${at}.bin`), Buffer.alloc(1_000_000, `${at}`))
    const controller = new AbortController()
    const tempDir = temporary()
    const making = make(root, { signal: controller.signal, tempDir })
    making.catch(() => {})
    while (!readdirSync(tempDir).some((name) => existsSync(join(tempDir, name, 'source.tar.gz')))) {
      await new Promise((go) => setImmediate(go))
    }
    controller.abort(new CancelledError('cancelled'))
    await expect(making).rejects.toBeInstanceOf(CancelledError)
    expect(readdirSync(tempDir)).toEqual([])
  })

  it('cannot be made in a RUNNER_TEMP that is a file', async () => {
    const root = tree(AGENT)
    const error = await refused(root, { tempDir: join(root, 'agent.py') })
    expect(error.message).toMatch(/No folder can be made/)
  })

  it('holds what a file had when it was opened, though it grows', async () => {
    const root = tree({ ...AGENT, 'grows.log': 'x'.repeat(2_000_000) })
    const making = make(root)
    const timer = setInterval(() => appendFileSync(join(root, 'grows.log'), 'y'), 1)
    const { entries } = await making.finally(() => clearInterval(timer))
    expect(entries.map((entry) => entry.path)).toEqual(['agent.py', 'grows.log', 'langgraph.json'])
  })
})

describe('what cannot be read', () => {
  const asUser = process.getuid?.() === 0 ? it.skip : it

  asUser('is an error that names it', async () => {
    const root = tree({ ...AGENT, 'locked.txt': 'x' })
    chmodSync(join(root, 'locked.txt'), 0)
    expect((await refused(root)).message).toMatch(/"locked.txt" in source-path cannot be read \(EACCES\)/)
  })

  it('a file that shrinks is an error that names it', async () => {
    const root = tree({ ...AGENT, 'a.bin': 'x'.repeat(8_000_000) })
    const making = make(root)
    making.catch(() => {})
    const cut = setInterval(() => truncateSync(join(root, 'a.bin'), 10), 1)
    const result = await making.then(
      (made) => made.entries.find((entry) => entry.path === 'a.bin')?.text.length,
      (error: unknown) => (error as Error).message,
    )
    clearInterval(cut)
    // Cut before it was opened, it is a short file; cut after, it is named. Never a broken archive.
    expect([10, '"a.bin" in source-path became shorter while it was read']).toContain(result)
  })

  const odd = process.platform === 'linux' ? it : it.skip
  odd('a name that is not UTF-8 is named', async () => {
    const root = tree(AGENT)
    writeFileSync(Buffer.concat([Buffer.from(`${root}/bad-`), Buffer.from([0xff, 0xfe])]), 'x')
    expect((await refused(root)).message).toMatch(/The name of "bad-.*" in source-path is not UTF-8/)
  })

  odd('a socket or pipe is left out with a warning', async () => {
    const root = tree(AGENT)
    mkdirSync(join(root, 'run'))
    const { createServer } = await import('node:net')
    const server = createServer()
    await new Promise<void>((go) => server.listen(join(root, 'run', 'sock'), go))
    const { paths, log } = await make(root)
    await new Promise((go) => server.close(go))
    expect(paths).toEqual(['agent.py', 'langgraph.json'])
    expect(log.lines).toContainEqual(expect.stringContaining('run/sock'))
  })
})
