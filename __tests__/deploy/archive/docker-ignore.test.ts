import { describe, expect, it } from '@jest/globals'
import { AgentDeployError } from '../../../src/base/errors.ts'
import { DockerIgnore } from '../../../src/deploy/archive/docker-ignore.ts'
import { listFiles } from '../../../src/deploy/archive/walk.ts'
import { tree } from './tree.ts'

const signal = new AbortController().signal

describe('one pattern', () => {
  // Behaviour of moby/patternmatcher, as its documentation and its matching rules have it.
  const table: [pattern: string, path: string, leftOut: boolean][] = [
    ['docs', 'docs', true],
    ['docs', 'docs/readme.md', true],
    ['docs', 'src/docs', false],
    ['docs/', 'docs/readme.md', true],
    ['/docs', 'docs/a/b', true],
    ['./docs', 'docs/a', true],
    ['docs//a', 'docs/a', true],
    ['x/../docs', 'docs/a', true],
    ['*.log', 'a.log', true],
    ['*.log', 'b/a.log', false],
    ['*/*.log', 'b/a.log', true],
    ['*/*.log', 'c/b/a.log', false],
    ['**/*.log', 'a.log', true],
    ['**/*.log', 'c/b/a.log', true],
    ['*', 'a/b/c', true],
    ['**', 'a/b/c', true],
    ['**/', 'a', true],
    ['**/**', 'a/b', true],
    ['a/**', 'a', false],
    ['a/**', 'a/b/c', true],
    ['a**', 'abc', true],
    ['a/**/z', 'a/z', true],
    ['a/**/z', 'a/b/c/z', true],
    ['a**/*.txt', 'a/b/x.txt', true],
    ['**/dir2/*', 'dir/dir2/file', true],
    ['**/node', 'x/node/y', true],
    ['**/.foo', 'bar.foo', false],
    ['**foo', 'my-foo', true],
    ['**foo*', 'my-foo', false],
    ['temp?', 'tempa', true],
    ['temp?', 'temp', false],
    ['temp?', 'temp/a', false],
    ['te?p', 'te/p', false],
    ['a?b', 'a☺b', true],
    ['a?b', 'a😀b', true],
    ['a[b-d]e', 'ace', true],
    ['a[b-d]e', 'aae', false],
    ['a[^b-d]e', 'aze', true],
    ['a[!b]e', 'a!e', true],
    ['a[!b]e', 'axe', false],
    ['[\\]a]', ']', true],
    ['[x\\-z]', 'y', false],
    ['[x\\-z]', '-', true],
    ['a\\*b', 'a*b', true],
    ['a\\*b', 'axb', false],
    ['abc.def', 'abcZdef', false],
    ['a(b)c', 'a(b)c', true],
    ['a.|)$(}+{bc', 'a.|)$(}+{bc', true],
    ['*(1)+.txt', 'a(1)+.txt', true],
    ['Docs', 'docs', false],
    ['  docs  ', 'docs', true],
    ['# docs', '# docs', false],
    [' # docs', '# docs', true],
    ['../x', 'x', false],
    ['.', 'a', false],
    ['/', 'a', false],
  ]
  it.each(table)('%j over %j: %s', (pattern, path, leftOut) => {
    expect(new DockerIgnore(pattern).judge(path)).toBe(leftOut ? 'left out' : 'unsaid')
  })

  it.each(table.filter(([pattern]) => !pattern.startsWith('#')))(
    '!%j over %j, brought back: %s',
    (pattern, path, back) => {
      expect(new DockerIgnore(`!${pattern}`).judge(path)).toBe(back ? 'brought back' : 'unsaid')
    },
  )

  it.each(['!', '! ', '[', '[]a]', 'a[', '[^', '[^bc', '[-x]', '[x-]', '[a-b-c]', 'a\\'])(
    'refuses %j as Docker does',
    (pattern) => {
      expect(() => new DockerIgnore(`ok\n${pattern}\n`)).toThrow(AgentDeployError)
      expect(() => new DockerIgnore(`ok\n${pattern}\n`)).toThrow('Line 2 of .dockerignore')
    },
  )
})

describe('several patterns', () => {
  const table: [lines: string[], path: string, verdict: string][] = [
    [['docs', '!docs/README.md'], 'docs/README.md', 'brought back'],
    [['docs', '!docs/README.md'], 'docs/other.md', 'left out'],
    [['!fileutils.go', '*.go'], 'fileutils.go', 'left out'],
    [['**', '!util/docker/web'], 'util/docker/web/foo', 'brought back'],
    [['**', '!util/docker/web', 'util/docker/web/foo'], 'util/docker/web/foo', 'left out'],
    [['*', '!src', 'src/*.log'], 'src/a.log', 'left out'],
    [['*', '!src', 'src/*.log'], 'src/a.py', 'brought back'],
    [['*', '!src'], 'other', 'left out'],
    [['*.md', '!README*.md', 'README-secret.md'], 'README-secret.md', 'left out'],
    [['*.md', '!README*.md', 'README-secret.md'], 'README-x.md', 'brought back'],
    [['*.md', 'README-secret.md', '!README*.md'], 'README-secret.md', 'brought back'],
    [['! docs'], 'docs/a', 'brought back'],
    [[], 'a', 'unsaid'],
  ]
  it.each(table)('%j over %j: %s', (lines, path, verdict) => {
    expect(new DockerIgnore(lines.join('\r\n')).judge(path)).toBe(verdict)
  })

  const reach: [lines: string[], folder: string, enter: boolean][] = [
    [['*'], 'a', false],
    [['*', '!a/b/c'], 'a', true],
    [['*', '!a/b/c'], 'a/b', true],
    [['*', '!a/b/c'], 'a/x', false],
    [['*', '!a/b/c'], 'a/b/c/d', true],
    [['*', '!a/*/c'], 'a/x', true],
    [['*', '!a/*/c'], 'a/x/y', false],
    [['*', '!**/c'], 'x/y', true],
    [['*', '!a/**/c'], 'x', false],
    [['*', '!a/**/c'], 'a/x/y', true],
  ]
  it.each(reach)('%j enters %j: %s', (lines, folder, enter) => {
    expect(new DockerIgnore(lines.join('\n')).mayBringBack(folder)).toBe(enter)
  })
})

describe('together with .gitignore', () => {
  it('brings back what git ignores, out of an ignored folder too', async () => {
    const root = tree({
      '.git': 'x',
      '.gitignore': 'build/\n*.gen.py\n',
      '.dockerignore': '!build/out\n!a.gen.py\nsecret\n',
      'build/out/app.js': '',
      'build/out/deep/b.js': '',
      'build/tmp/x.js': '',
      'a.gen.py': '',
      'b.gen.py': '',
      'sub/a.gen.py': '',
      secret: '',
      'sub/secret': '',
    })
    const { entries } = await listFiles({ root, workspace: root, signal })
    expect(entries.map((entry) => entry.path)).toEqual([
      '.dockerignore',
      '.gitignore',
      'a.gen.py',
      'build/out/app.js',
      'build/out/deep/b.js',
      'sub/secret',
    ])
  })

  it('counts in the root of the archive only', async () => {
    const root = tree({ 'sub/.dockerignore': '*\n', 'sub/a': '', b: '' })
    const { entries } = await listFiles({ root, workspace: root, signal })
    expect(entries.map((entry) => entry.path)).toEqual(['b', 'sub/.dockerignore', 'sub/a'])
  })
})
