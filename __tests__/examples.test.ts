import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'
import { checkYaml, readManifest, repositoryActions } from './helpers/workflow-check.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const files = readdirSync(`${root}examples`, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.yml'))
  .sort()
const workflows = files.filter((file) => !file.endsWith('action.yml'))
const actions = repositoryActions(root)
// Where the example says that it goes.
actions.set('./.github/actions/deploy-agent', readManifest(`${root}examples/composite/action.yml`))

const read = (file: string): string => readFileSync(`${root}examples/${file}`, 'utf8')

describe('examples', () => {
  it('are those that the README names', () => {
    const named = [...read('README.md').matchAll(/\]\(([\w./-]+)\)/g)].map((match) => match[1])
    const expected = files.map((file) => (file.includes('/') ? file.replace(/[^/]*$/, '') : file))
    expect(new Set(named)).toEqual(new Set(expected))
    expect(files.length).toBeGreaterThanOrEqual(9)
  })

  it.each(files)('%s uses only what the actions have', (file) => {
    expect(checkYaml(read(file), file, actions)).toEqual([])
  })

  it.each(workflows)('%s has a name, the least permissions, a time limit and a concurrency group', (file) => {
    const workflow = parse(read(file)) as Record<string, unknown>
    expect(workflow['name']).toEqual(expect.any(String))
    expect(workflow['permissions']).toEqual({})
    for (const job of Object.values(workflow['jobs'] as Record<string, Record<string, unknown>>)) {
      expect(job['permissions']).toBeDefined()
      expect(job['timeout-minutes']).toEqual(expect.any(Number))
      expect(workflow['concurrency'] ?? job['concurrency']).toEqual(
        expect.objectContaining({ group: expect.any(String), 'cancel-in-progress': expect.anything() }),
      )
    }
  })

  it.each(files)('%s puts nothing from the event into a script', (file) => {
    const scripts = [...read(file).matchAll(/^\s*(?:- )?run: (?:\|\n((?:\s{10,}.*\n?)*)|(.*))/gm)]
    for (const [, block, line] of scripts) expect(block ?? line).not.toContain('${{')
  })
})

/** The checker itself: each fault that it is there for is found. */
describe('workflow check', () => {
  const job = (steps: string, more = '') =>
    `on: push\njobs:\n  a:\n    timeout-minutes: 60\n${more}    steps:\n${steps.replace(/^/gm, '      ')}\n`
  const deploy = '- uses: your-org/agent-deploy@v1\n  id: d\n  with: { api-key: k'

  it.each([
    ['right', job(`${deploy} }\n- run: echo \${{ steps.d.outputs.outcome }}`), []],
    ['not YAML', 'a: b: c', [expect.stringMatching(/^x: Nested mappings/)]],
    ['a key twice', 'a: 1\na: 2', [expect.stringMatching(/^x: Map keys must be unique/)]],
    ['an unknown input', job(`${deploy}, nmae: a }`), [/has no input nmae$/]],
    ['a missing input', job('- uses: your-org/agent-deploy@v1'), [/needs the input api-key$/]],
    ['a mapping as a value', job(`${deploy}, secrets: { A: b } }`), [/secrets must be a text/]],
    [
      'not a boolean',
      job(`${deploy}, comment: yes }`, '    permissions: { pull-requests: write }\n'),
      [/comment is yes/],
    ],
    [
      'an unknown output',
      job(`${deploy} }\n- run: echo \${{ steps.d.outputs.url }}`),
      [/has no output url$/],
    ],
    [
      'an unknown output in if',
      job(`${deploy} }\n- run: echo\n  if: steps.d.outputs.url == ''`),
      [/has no output url$/],
    ],
    [
      'an unknown step',
      job(`${deploy} }\n- run: echo \${{ steps.e.outputs.outcome }}`),
      [/no step has the id e$/],
    ],
    ['an unknown action', job('- uses: your-org/agent-deploy/undo@v1'), [/is no action of this repository$/]],
    ['an unknown owner', job('- uses: me/agent-deploy@v1'), [/is no action of this repository$/]],
    [
      'another version',
      job('- uses: your-org/agent-deploy@main\n  with: { api-key: k }'),
      [/expected the version @v1$/],
    ],
    [
      'a missing permission',
      job(`${deploy}, environment: dev }`),
      [/needs "permissions: deployments: write"$/],
    ],
    [
      'a checkout without a right',
      job('- uses: actions/checkout@v7', '    permissions: {}\n'),
      [/needs "permissions: contents: read"$/],
    ],
    [
      'a job that is too short',
      job(`${deploy}, timeout-minutes: 90 }`),
      [/is 60, expected more than the 90/],
    ],
    [
      'an undeclared input',
      job(`${deploy}, name: "\${{ inputs.name }}" }`),
      [/inputs.name is used, but not declared/],
    ],
    ['a job that is not needed', job(`- run: echo \${{ needs.b.outputs.c }}`), [/does not need it$/]],
    [
      'a fragment of steps',
      '- uses: your-org/agent-deploy@v1\n  with: { api-kye: k }',
      [/no input api-kye/, /needs the input/],
    ],
    [
      'a fragment of one step',
      'uses: your-org/agent-deploy/delete@v1\nwith: { all: 1 }',
      [/no input all/, /needs the input/],
    ],
  ])('finds %s', (_what, text, expected) => {
    const faults = checkYaml(text, 'x', actions)
    expect(faults).toEqual(expected.map((one) => (one instanceof RegExp ? expect.stringMatching(one) : one)))
  })
})
