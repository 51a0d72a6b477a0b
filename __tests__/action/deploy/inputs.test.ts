import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { runBundle } from '../../helpers/action.ts'
import { startTestEmulator, type TestEmulator } from '../../helpers/emulator.ts'
import { deploy } from './support.ts'

let emulator: TestEmulator
beforeAll(async () => {
  emulator = await startTestEmulator()
})
afterAll(() => emulator.close())

/** Runs with wrong inputs and returns the one annotation; nothing may have been asked. */
async function refused(inputs: Record<string, string>, options = {}): Promise<string> {
  const before = (await emulator.state()).requests.length
  const result = await deploy(emulator, inputs, options)
  const { requests } = await emulator.state()
  expect(requests.length).toBe(before)
  expect(result.exitCode).toBe(1)
  expect(result.outputs['outcome']).toBe('error')
  const errors = result.annotations.filter((annotation) => annotation.type === 'error')
  expect(errors).toHaveLength(1)
  return errors[0]?.message ?? ''
}

describe('wrong inputs', () => {
  it('are told all in one error, each with what came and what was expected', async () => {
    const message = await refused({
      name: 'My_Agent!',
      wait: 'yes',
      'timeout-minutes': '0',
      'poll-interval-seconds': '5s',
      'secrets-mode': 'append',
      'resource-spec': '[1, 2]',
      source: 'tarball',
      'control-plane-url': 'ftp://x.example',
      'oauth-providers': '- provider_id: p\n  nam: x',
      secrets: 'A_B=\nnot a line with canary-text-9',
      request: 'name: other',
      verify: 'checks:\n  - name: x\n    expekt: 1',
    })
    for (const part of [
      'name',
      'wait',
      'timeout-minutes',
      'poll-interval-seconds',
      'secrets-mode',
      'resource-spec',
      'source',
      'control-plane-url',
      'oauth-providers',
      'secrets',
      'request',
      'verify',
    ]) {
      expect(message).toContain(`Input "${part}"`)
    }
    expect(message).toContain('"My_Agent!"')
    expect(message).toContain('"yes"')
    expect(message).toContain('checks[0]')
    expect(message).not.toContain('canary-text-9')
  })

  it.each([
    [{ name: '' }, 'name'],
    [{ 'api-key': '' }, 'api-key'],
    [{ secrets: 'LANGCHAIN_API_KEY=abcdefgh' }, 'LANGCHAIN_API_KEY'],
    [{ secrets: 'NOT_IN_THE_ENVIRONMENT' }, 'NOT_IN_THE_ENVIRONMENT'],
    [{ secrets: 'A=secret-one', 'env-vars': 'A=1' }, 'env-vars'],
    [{ 'secrets-mode': 'replace' }, 'secrets-mode'],
    [{ wait: 'false', verify: 'ready' }, 'wait'],
    [{ wait: 'false', 'on-failure': 'rollback' }, 'wait'],
    [{ 'agent-id': 'a', 'agent-environment': 'production' }, 'name'],
    [{ 'revision-id': 'abc', secrets: 'A=secret-one' }, 'revision-id'],
    [{ 'image-uri': '', 'revision-id': '..' }, 'revision-id'],
    [{ 'deployment-id': 'a/b' }, 'deployment-id'],
    [{ 'control-plane-url': 'http://plane.example' }, 'allow-http'],
    [{ 'poll-interval-seconds': '0.05' }, 'poll-interval-seconds'],
    [{ 'poll-interval-seconds': '10', 'poll-max-interval-seconds': '5' }, 'poll-max-interval-seconds'],
    [{ request: 'secrets: []' }, 'request'],
    [{ 'image-uri': 'registry.example/agent' }, 'neither tag nor digest'],
    [{ 'repo-ref': 'main' }, 'goes with source github only'],
    [{ 'integration-id': 'i1' }, 'Input "integration-id": goes with source github'],
    [
      { 'push-image': 'a:1', source: 'external_docker' },
      'Input "push-image": goes with source internal_docker',
    ],
    [{ 'push-image': 'a:1' }, 'Input "image-uri": cannot stand beside push-image'],
    [{ 'image-uri': '', 'integration-id': 'i1', 'listener-id': 'l1' }, 'Input "listener-id"'],
    [
      { 'image-uri': '', source: 'github', 'repo-ref': 'refs/tags/v1', 'build-on-push': 'true' },
      'Input "build-on-push": must be false',
    ],
  ])('%j names %s', async (inputs, part) => {
    expect(await refused(inputs as Record<string, string>)).toContain(part)
  })

  it('that only the deployment shows to be wrong are told after the look-up', async () => {
    const result = await deploy(emulator, { name: 'mixed', 'image-uri': '', 'listener-id': 'l1' })
    expect(result.annotations[0]?.message).toMatch(/listener-id.*external_docker.*internal_source/s)
  })
})

describe('a missing key', () => {
  it.each([
    [
      'a fork',
      {
        pull_request: {
          number: 1,
          head: { sha: 'a'.repeat(40), ref: 'x', repo: { full_name: 'stranger/repo', fork: true } },
          base: { ref: 'main', repo: { full_name: 'octo/agent' } },
        },
      },
      {},
    ],
    [
      'Dependabot',
      {
        pull_request: {
          number: 1,
          head: { sha: 'a'.repeat(40), ref: 'x', repo: { full_name: 'octo/agent' } },
          base: { ref: 'main', repo: { full_name: 'octo/agent' } },
        },
      },
      { GITHUB_ACTOR: 'dependabot[bot]' },
    ],
  ])('on a pull request by %s says that secrets are not given there', async (_who, event, env) => {
    const message = await refused(
      { 'api-key': '' },
      { eventName: 'pull_request', event, env: { GITHUB_REPOSITORY: 'octo/agent', ...env } },
    )
    expect(message).toMatch(/no secrets/)
    expect(message).toContain('emulator')
  })
})

it('reads declared names only, and composite actions may pass empty strings', async () => {
  const result = await runBundle({
    action: 'deploy',
    inputs: {
      'api-key': emulator.apiKey,
      'control-plane-url': `${emulator.controlPlaneUrl}/v2/`,
      name: 'empty-inputs',
      'image-uri': 'r.example/a:1',
      wait: '',
      verify: '',
      'timeout-minutes': '',
      'dry-run': 'true',
    },
  })
  expect(result.outputs['outcome']).toBe('planned')
})
