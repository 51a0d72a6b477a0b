import { beforeEach, describe, expect, it } from '@jest/globals'
import type { RunOptions } from '../../helpers/action.ts'
import type { TestEmulator } from '../../helpers/emulator.ts'
import { deploy, requestsOf, withEmulator } from './support.ts'

const MAIN = 'b'.repeat(40)
const OTHER = 'c'.repeat(40)
const INTEGRATION = '8f4f6c2e-3f0b-4b53-9c1d-6f3a5d2b9e10'

let emulator: TestEmulator
let name = ''

withEmulator('github', (one, fresh) => {
  emulator = one
  name = fresh
})

/** A job in octo-org/agent, which the emulator's one integration sees. */
function run(inputs: Record<string, string> = {}, { env, ...options }: Partial<RunOptions> = {}) {
  return deploy(
    emulator,
    { name, 'image-uri': '', source: 'github', ...inputs },
    { env: { GITHUB_REPOSITORY: 'octo-org/agent', ...env }, ...options },
  )
}

const commit = (sha: string) => emulator.scenario({ deployment: name, commit: sha })

function onTag(tag: string, sha: string): Partial<RunOptions> {
  return { env: { GITHUB_REF: `refs/tags/${tag}`, GITHUB_SHA: sha } }
}

function pullRequest(headRepo: string | null, eventName = 'pull_request'): Partial<RunOptions> {
  const repo = headRepo === null ? null : { full_name: headRepo }
  const base = { ref: 'main', sha: MAIN, repo: { full_name: 'octo-org/agent' } }
  return {
    eventName,
    event: {
      repository: { full_name: 'octo-org/agent', default_branch: 'main' },
      pull_request: { number: 3, head: { ref: 'topic', sha: OTHER, repo }, base },
    },
    env: { GITHUB_REF: 'refs/pull/3/merge', GITHUB_SHA: 'd'.repeat(40) },
  }
}

async function lastBody(method: 'POST' | 'PATCH'): Promise<Record<string, unknown>> {
  const requests = await requestsOf(emulator, method, /^\/v2\/deployments(\/[^/]+)?$/)
  return requests.at(-1)?.body as Record<string, unknown>
}

async function writes(): Promise<number> {
  return (await requestsOf(emulator, 'POST', /./)).length + (await requestsOf(emulator, 'PATCH', /./)).length
}

describe('a create', () => {
  it('finds the integration, and builds the branch of the push', async () => {
    await commit(MAIN)
    const result = await run()
    expect(result.outputs).toMatchObject({ outcome: 'deployed', created: 'true', 'commit-sha': MAIN })
    expect(await lastBody('POST')).toEqual({
      name,
      source: 'github',
      source_config: {
        integration_id: INTEGRATION,
        repo_url: 'https://github.com/octo-org/agent',
        build_on_push: false,
        deployment_type: 'dev',
      },
      source_revision_config: { repo_ref: 'main', langgraph_config_path: 'langgraph.json' },
      secrets: [],
    })
    expect(result.annotations).toEqual([])
  })

  it('builds the tag in full, and the head of a pull request', async () => {
    await commit(OTHER)
    const tag = await run({}, onTag('v1', OTHER))
    expect(tag.outputs).toMatchObject({ outcome: 'deployed', 'commit-sha': OTHER })
    expect(await lastBody('POST')).toMatchObject({ source_revision_config: { repo_ref: 'refs/tags/v1' } })
    name = `${name}-pr`
    await commit(OTHER)
    const pull = await run({}, pullRequest('octo-org/agent'))
    expect(pull.outputs).toMatchObject({ outcome: 'deployed', 'commit-sha': OTHER })
    expect(await lastBody('POST')).toMatchObject({ source_revision_config: { repo_ref: 'topic' } })
  })

  it('builds the default branch on other events, without a commit to compare', async () => {
    await commit(OTHER)
    const event = { repository: { full_name: 'octo-org/agent', default_branch: 'trunk' } }
    const result = await run({}, { eventName: 'schedule', event })
    expect(result.outputs['outcome']).toBe('deployed')
    expect(result.annotations).toEqual([])
    expect(await lastBody('POST')).toMatchObject({ source_revision_config: { repo_ref: 'trunk' } })
  })

  it('takes github.ref as `repo-ref`, and a deployment type in its wire word', async () => {
    await commit(MAIN)
    await run({ 'repo-ref': 'refs/heads/main', 'deployment-type': 'serverless', 'build-on-push': 'TRUE' })
    expect(await lastBody('POST')).toMatchObject({
      source_config: { deployment_type: 'dev_zero', build_on_push: true },
      source_revision_config: { repo_ref: 'main' },
    })
  })

  it.each([
    ['a fork’s head', {}, pullRequest('stranger/agent'), /repo-ref.*fork/s],
    ['a head whose fork is gone', {}, pullRequest(null), /repo-ref.*fork/s],
    ['a tag with build-on-push', { 'build-on-push': 'true' }, onTag('v1', MAIN), /build-on-push.*false/s],
    [
      'a repository that no integration sees',
      { 'repo-url': 'https://github.com/octo-org/other' },
      {},
      /integration-id.*octo-org\/other.*octo-org/s,
    ],
  ])('refuses %s before anything is created', async (_title, inputs, options, words) => {
    const before = await writes()
    const result = await run(inputs as Record<string, string>, options)
    expect(result.outputs['outcome']).toBe('error')
    expect(result.annotations[0]?.message).toMatch(words)
    expect(await writes()).toBe(before)
  })

  it('lists the integrations when several see the repository', async () => {
    const two = [
      { id: INTEGRATION, installation_id: 1, name: 'octo-org' },
      { id: '2f0c0f6e-0d5a-4f2e-8a4f-6d1a3e0b7c11', installation_id: 2, name: 'octo-labs' },
    ]
    const repos = [{ name: 'agent', owner: 'Octo-Org', url: 'https://github.com/Octo-Org/Agent.git' }]
    const path = '/v1/integrations/github'
    await emulator.fault({ path: `${path}/install`, effect: { status: 200, body: two } })
    await emulator.fault({ path: `${path}/*/repos`, times: 2, effect: { status: 200, body: repos } })
    const result = await run()
    expect(result.annotations[0]?.message).toMatch(/2 GitHub integrations.*8f4f6c2e.*2f0c0f6e/s)
    // A suspended installation is refused, and sees nothing.
    await emulator.clearFaults()
    await emulator.fault({ path: `${path}/install`, effect: { status: 200, body: two } })
    await emulator.fault({
      path: `${path}/2f0c*/repos`,
      effect: { status: 403, body: { detail: 'suspended' } },
    })
    await commit(MAIN)
    expect((await run()).outputs['outcome']).toBe('deployed')
  })
})

describe('an update', () => {
  beforeEach(async () => {
    await commit(MAIN)
    expect((await run()).outputs['outcome']).toBe('deployed')
  })

  it('builds the deployment’s own branch again, and sends nothing that was not given', async () => {
    await commit(MAIN)
    const result = await run({ source: '' })
    expect(result.outputs).toMatchObject({ outcome: 'deployed', created: 'false', 'commit-sha': MAIN })
    expect(await lastBody('PATCH')).toEqual({
      source_revision_config: { repo_ref: 'main', langgraph_config_path: 'langgraph.json' },
    })
  })

  it.each([
    ['another branch', { env: { GITHUB_REF: 'refs/heads/side' } }],
    ['a tag', onTag('v2', MAIN)],
    ['a pull request', pullRequest('octo-org/agent')],
  ])('of %s is refused before anything changes, and the hint names repo-ref', async (_title, options) => {
    const before = await writes()
    const result = await run({}, options)
    expect(result.outputs['outcome']).toBe('error')
    expect(result.annotations[0]?.message).toMatch(/repo-ref.*"main".*`repo-ref: main`/s)
    expect(await writes()).toBe(before)
  })

  it('moves to the ref that was given', async () => {
    await commit(OTHER)
    const result = await run(
      { 'repo-ref': 'side' },
      { env: { GITHUB_REF: 'refs/heads/side', GITHUB_SHA: OTHER } },
    )
    expect(result.outputs).toMatchObject({ outcome: 'deployed', 'commit-sha': OTHER })
    expect(await lastBody('PATCH')).toMatchObject({ source_revision_config: { repo_ref: 'side' } })
  })

  it('is superseded when the service built another commit than the event’s', async () => {
    await commit(OTHER)
    const result = await run()
    expect(result.exitCode).toBe(1)
    expect(result.outputs).toMatchObject({ outcome: 'superseded', 'commit-sha': OTHER })
    expect(result.outputs['failure-reason']).toMatch(new RegExp(`${OTHER}.*${MAIN}`))
  })

  it('has one warning about another commit where repo-ref was given', async () => {
    await commit(OTHER)
    const result = await run({ 'repo-ref': 'main' })
    expect(result.outputs['outcome']).toBe('deployed')
    expect(result.annotations).toHaveLength(1)
    expect(result.annotations[0]).toMatchObject({ type: 'warning' })
  })

  it('takes a commit that the service shows short', async () => {
    await commit(MAIN)
    const path = '/v2/deployments/*/revisions/*'
    const body = { status: 'DEPLOYED', source_revision_config: { repo_commit_sha: MAIN.slice(0, 7) } }
    await emulator.fault({ method: 'GET', path, times: 99, effect: { status: 200, body } })
    await emulator.scenario({ deployment: name, statuses: [['DEPLOYED', null]] })
    expect((await run()).outputs).toMatchObject({ outcome: 'deployed', 'commit-sha': MAIN.slice(0, 7) })
  })

  it('warns on a push when the service builds every push itself', async () => {
    await commit(MAIN)
    const result = await run({ 'build-on-push': 'true' })
    expect(result.outputs['outcome']).toBe('deployed')
    expect(result.annotations.map(({ message }) => message)).toEqual([
      expect.stringMatching(/build_on_push.*two revisions/s),
    ])
    await commit(MAIN)
    expect((await run({}, { eventName: 'workflow_dispatch' })).annotations).toEqual([])
  })

  it('asks for repo-ref where the service shows a commit alone', async () => {
    const id = (await emulator.state()).deployments.find((one) => one['name'] === name)?.['id']
    const { body } = await emulator.call('GET', `/v2/deployments/${id}`)
    delete body.source_config.repo_branch
    body.source_revision_config.repo_ref = MAIN
    const path = `/v2/deployments/${id}`
    await emulator.fault({ method: 'GET', path, effect: { status: 200, body } })
    const result = await run()
    expect(result.annotations[0]?.message).toMatch(/repo-ref.*which branch/s)
  })

  it('refuses another repository, and takes the same one in other letters', async () => {
    const other = await run({ 'repo-url': 'https://github.com/octo-org/other' })
    expect(other.annotations[0]?.message).toMatch(/octo-org\/agent.*octo-org\/other/s)
    await commit(MAIN)
    const same = await run({ 'repo-url': 'https://GitHub.com/Octo-Org/agent.git/' })
    expect(same.outputs['outcome']).toBe('deployed')
  })
})

it('goes from tag to tag without being told', async () => {
  await commit(MAIN)
  await run({}, onTag('v1', MAIN))
  await commit(OTHER)
  const second = await run({}, onTag('v2', OTHER))
  expect(second.outputs).toMatchObject({ outcome: 'deployed', created: 'false', 'commit-sha': OTHER })
  expect(await lastBody('PATCH')).toMatchObject({ source_revision_config: { repo_ref: 'refs/tags/v2' } })
  const branch = await run()
  expect(branch.outputs['outcome']).toBe('error')
  expect(branch.annotations[0]?.message).toContain('refs/tags/v2')
})

describe('code of a fork in an event that has secrets', () => {
  const workflowRun = (headRepository: string): Partial<RunOptions> => ({
    eventName: 'workflow_run',
    event: {
      repository: { full_name: 'octo-org/agent', default_branch: 'main' },
      workflow_run: { head_repository: { full_name: headRepository } },
    },
  })
  const comment = (onPull: boolean): Partial<RunOptions> => ({
    eventName: 'issue_comment',
    event: {
      repository: { full_name: 'octo-org/agent', default_branch: 'main' },
      issue: { number: 3, ...(onPull ? { pull_request: { url: 'x' } } : {}) },
    },
  })

  it.each([
    ['pull_request_target', pullRequest('stranger/agent', 'pull_request_target')],
    ['workflow_run', workflowRun('stranger/agent')],
    ['issue_comment', comment(true)],
  ])('on %s is refused, for the archive and for a ref that was given', async (event, options) => {
    const before = await writes()
    for (const inputs of [{ source: 'internal_source' }, { 'repo-ref': 'topic' }]) {
      const result = await run(inputs, options)
      expect(result.outputs['outcome']).toBe('error')
      expect(result.annotations[0]?.message).toMatch(new RegExp(`${event}.*allow-fork`, 's'))
    }
    expect(await writes()).toBe(before)
    const allowed = await run({ 'repo-ref': 'topic', 'allow-fork': 'True' }, options)
    expect(allowed.outputs['outcome']).toBe('deployed')
  })

  it.each([
    ['pull_request_target of a branch here', pullRequest('octo-org/agent', 'pull_request_target')],
    ['workflow_run of this repository', workflowRun('Octo-Org/Agent')],
    ['issue_comment on an issue', comment(false)],
  ])('%s is nobody’s fork', async (_title, options) => {
    expect((await run({ 'repo-ref': 'topic' }, options)).outputs['outcome']).toBe('deployed')
  })

  it('does not matter to an image, nor to the default branch', async () => {
    const options = pullRequest('stranger/agent', 'pull_request_target')
    expect((await run({}, options)).outputs['outcome']).toBe('deployed')
    name = `${name}-image`
    const image = await run({ source: '', 'image-uri': 'r.example/agent:1' }, options)
    expect(image.outputs['outcome']).toBe('deployed')
  })
})
