import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import {
  closeOpenDeployment,
  type GithubDeployment,
  openDeployment,
  stateOf,
} from '../../../src/runner/github/deployments.ts'
import { deactivateDeployments } from '../../../src/runner/github/retire.ts'
import { type GithubStub, startGithubStub } from '../../helpers/github-stub.ts'
import { type TestRunner, testContext, testRunner } from '../../helpers/test-runner.ts'

let stub: GithubStub
let runner: TestRunner
const TASK = 'deploy:my-agent'

beforeEach(async () => {
  stub = await startGithubStub()
  runner = testRunner(testContext(stub.apiUrl))
})

afterEach(() => stub.close())

function options() {
  return { token: stub.token, environment: 'preview', name: 'my-agent' }
}

async function open(): Promise<GithubDeployment> {
  const deployment = await openDeployment(runner, options())
  if (deployment === undefined) throw new Error(`not opened: ${runner.said.join('\n')}`)
  return deployment
}

function statesOf(id: number): string[] {
  return stub.deployments.find((one) => one.id === id)?.statuses.map((one) => one.state) ?? []
}

const warnings = () => runner.said.filter((line) => line.startsWith('warning: '))

describe('openDeployment', () => {
  it('asks for the pull request’s head, without a merge and without required checks', async () => {
    await open()
    expect(stub.requests[0]?.body).toEqual({
      ref: 'a'.repeat(40),
      task: TASK,
      environment: 'preview',
      description: 'Agent Deploy of my-agent',
      auto_merge: false,
      required_contexts: [],
      transient_environment: true,
    })
    expect(stub.requests[1]?.body).toEqual({
      state: 'in_progress',
      log_url: 'https://github.com/octo/agent/actions/runs/42',
      auto_inactive: false,
      description: 'The revision is on its way',
    })
    expect(warnings()).toEqual([])
  })

  it('asks for GITHUB_SHA and a lasting environment elsewhere', async () => {
    runner = testRunner(testContext(stub.apiUrl, { eventName: 'push', pullRequest: undefined }))
    await open()
    expect(stub.requests[0]?.body).toMatchObject({ ref: 'b'.repeat(40), transient_environment: false })
  })

  it('masks the token and sends it to the API only', async () => {
    await open()
    expect(runner.masks).toEqual([stub.token])
    expect(stub.requests.map((one) => one.headers.authorization)).toEqual(
      stub.requests.map(() => `token ${stub.token}`),
    )
  })

  it.each([
    [403, { message: 'Resource not accessible by integration' }, /"permissions: deployments: write"/],
    [404, { message: 'Not Found' }, /"permissions: deployments: write"/],
    [401, { message: 'Bad credentials' }, /github-token is wrong or has expired/],
    [
      422,
      { message: 'Validation Failed', errors: ['no such ref'] },
      /answered 422: Validation Failed: "no such ref"/,
    ],
    [429, { message: 'slow down' }, /hourly budget/],
    [502, { message: 'Server Error' }, /githubstatus/],
    [201, { message: 'odd' }, /the answer has no id/],
  ])('warns once when GitHub answers %i, and goes on', async (status, body, expected) => {
    stub.fault({ match: 'POST /api/v3/repos/octo/agent/deployments', status, body })
    expect(await openDeployment(runner, options())).toBeUndefined()
    expect(warnings()).toEqual([expect.stringMatching(expected)])
    expect(warnings()[0]).toContain('environment "preview"')
  })

  it('names the budget when a 403 is about the rate', async () => {
    stub.fault({
      match: 'POST',
      status: 403,
      body: { message: 'API rate limit exceeded' },
      headers: { 'x-ratelimit-remaining': '0' },
    })
    await openDeployment(runner, options())
    expect(warnings()).toEqual([expect.stringMatching(/hourly budget/)])
  })

  it('warns once when the connection breaks, without a second try', async () => {
    stub.fault({ match: 'POST', effect: 'reset' })
    expect(await openDeployment(runner, options())).toBeUndefined()
    expect(warnings()).toHaveLength(1)
    expect(stub.requests).toHaveLength(1)
  })

  it('does not follow a redirect', async () => {
    stub.fault({ match: 'POST', status: 307, headers: { location: 'https://elsewhere.example/x' } })
    await openDeployment(runner, options())
    expect(warnings()).toEqual([expect.stringMatching(/redirect to host elsewhere\.example/)])
  })

  it('warns once about an empty token, and asks nobody', async () => {
    expect(await openDeployment(runner, { ...options(), token: '' })).toBeUndefined()
    expect(warnings()).toEqual([expect.stringMatching(/github-token is empty/)])
    expect(stub.requests).toEqual([])
  })

  it('keeps the id when the job is cancelled while GitHub thinks', async () => {
    stub.fault({ match: 'POST', effect: 'late', delayMs: 300, times: 1 })
    const opening = openDeployment(runner, options())
    setTimeout(() => runner.cancel(), 100)
    const deployment = await opening
    expect(deployment?.id).toBe(stub.deployments[0]?.id)
    expect(stub.requests).toHaveLength(1)
    await deployment?.setStatus('inactive', { description: 'Cancelled' })
    expect(stub.deployments[0]?.statuses.map((one) => one.state)).toEqual(['inactive'])
  })

  it('gives up soon after a cancel when GitHub stays silent', async () => {
    stub.fault({ match: 'POST', effect: 'hang' })
    const started = Date.now()
    const opening = openDeployment(runner, options())
    setTimeout(() => runner.cancel(), 50)
    expect(await opening).toBeUndefined()
    expect(Date.now() - started).toBeLessThan(4_000)
  })
})

describe('setStatus', () => {
  it('gives the URL and a description cut at 140 characters, with secrets taken out', async () => {
    runner.secrets.mask('hunter2-hunter2')
    const deployment = await open()
    await deployment.setStatus('failure', {
      environmentUrl: 'https://agent.example/',
      description: `it said hunter2-hunter2\n${'x'.repeat(300)}`,
    })
    const sent = stub.requests.at(-1)?.body
    expect(sent).toMatchObject({ state: 'failure', environment_url: 'https://agent.example/' })
    expect(sent?.['description']).toHaveLength(140)
    expect(sent?.['description']).toMatch(/^it said \*\*\* x+…$/)
    expect(warnings()).toEqual([])
  })

  it('retires what served before just before success: same task, same environment, over all pages', async () => {
    const other = stub.seedDeployment({ task: 'deploy:other', environment: 'preview' })
    const elsewhere = stub.seedDeployment({ task: TASK, environment: 'production' })
    const old = Array.from({ length: 130 }, () => stub.seedDeployment({ task: TASK, environment: 'preview' }))
    const failed = stub.seedDeployment({ task: TASK, environment: 'preview', states: ['failure'] })
    const waiting = stub.seedDeployment({ task: TASK, environment: 'preview', states: ['in_progress'] })
    const newer = stub.seedDeployment({
      id: 999_999,
      task: TASK,
      environment: 'preview',
      states: ['in_progress'],
    })
    const deployment = await open()
    await deployment.setStatus('success')
    for (const one of [...old, waiting]) expect(statesOf(one.id).at(-1)).toBe('inactive')
    for (const one of [other, elsewhere]) expect(statesOf(one.id)).toEqual(['success'])
    expect(statesOf(failed.id)).toEqual(['failure'])
    expect(statesOf(newer.id)).toEqual(['in_progress'])
    expect(statesOf(deployment.id)).toEqual(['in_progress', 'success'])
    const posts = stub.requests.filter((one) => one.method === 'POST').map((one) => one.body['state'])
    expect(posts.at(-1)).toBe('success')
    expect(posts.slice(0, -1)).not.toContain('success')
  })

  it('retires nothing before any other state', async () => {
    const old = stub.seedDeployment({ task: TASK, environment: 'preview' })
    const deployment = await open()
    await deployment.setStatus('failure')
    expect(statesOf(old.id)).toEqual(['success'])
  })

  it('does not look through years of deployments that were replaced before', async () => {
    for (let at = 0; at < 60; at++) {
      stub.seedDeployment({
        task: TASK,
        environment: 'preview',
        states: ['success', ['inactive', 'Replaced by a newer deployment']],
      })
    }
    const last = stub.seedDeployment({ task: TASK, environment: 'preview' })
    const deployment = await open()
    await deployment.setStatus('success')
    expect(statesOf(last.id)).toEqual(['success', 'inactive'])
    expect(stub.requests.length).toBeLessThan(20)
  })

  it('still reports success when the older ones cannot be retired', async () => {
    stub.seedDeployment({ task: TASK, environment: 'preview' })
    const deployment = await open()
    stub.fault({ match: 'GET', status: 500 })
    await deployment.setStatus('success')
    expect(statesOf(deployment.id)).toEqual(['in_progress', 'success'])
    expect(warnings()).toEqual([expect.stringMatching(/older ones could not be made inactive/)])
  })
})

describe('closeOpenDeployment', () => {
  it('asks nobody when all is closed', async () => {
    const deployment = await open()
    await deployment.setStatus('success')
    const before = stub.requests.length
    await closeOpenDeployment(runner.post(), stub.token)
    expect(stub.requests).toHaveLength(before)
  })

  it('closes as error what main left behind when it was killed', async () => {
    const deployment = await open()
    await closeOpenDeployment(runner.post(), stub.token)
    expect(statesOf(deployment.id)).toEqual(['in_progress', 'error'])
  })

  it('sends the verdict again that did not get through', async () => {
    const deployment = await open()
    stub.fault({
      match: `POST /api/v3/repos/octo/agent/deployments/${deployment.id}`,
      effect: 'reset',
      times: 1,
    })
    await deployment.setStatus('success', { environmentUrl: 'https://agent.example/', description: 'Live' })
    expect(statesOf(deployment.id)).toEqual(['in_progress'])
    await closeOpenDeployment(runner.post(), stub.token)
    expect(statesOf(deployment.id)).toEqual(['in_progress', 'success'])
    expect(stub.requests.at(-1)?.body).toMatchObject({
      environment_url: 'https://agent.example/',
      description: 'Live',
    })
  })

  it('leaves open what the run leaves on its way on purpose', async () => {
    const deployment = await open()
    deployment.leaveOpen()
    await closeOpenDeployment(runner.post(), stub.token)
    expect(statesOf(deployment.id)).toEqual(['in_progress'])
  })

  it.each(['{', '[]', '{"id":"1"}', 'null'])('ignores state that is not ours: %s', async (text) => {
    const post = testRunner(testContext(stub.apiUrl), { state: new Map([['github-deployment', text]]) })
    await closeOpenDeployment(post, stub.token)
    expect(stub.requests).toEqual([])
    expect(post.said).toEqual([])
  })
})

describe('deactivateDeployments', () => {
  it('makes all of this name in this environment inactive', async () => {
    const mine = ['success', 'failure', 'in_progress'].map((state) =>
      stub.seedDeployment({ task: TASK, environment: 'preview', states: [state] }),
    )
    const gone = stub.seedDeployment({ task: TASK, environment: 'preview', states: ['inactive'] })
    const other = stub.seedDeployment({ task: 'deploy:other', environment: 'preview' })
    expect(await deactivateDeployments(runner, options())).toBe(3)
    for (const one of mine) expect(statesOf(one.id).at(-1)).toBe('inactive')
    expect(statesOf(gone.id)).toEqual(['inactive'])
    expect(statesOf(other.id)).toEqual(['success'])
  })

  it('warns once and tells 0 when it may not', async () => {
    stub.fault({ match: 'GET', status: 403, body: { message: 'Resource not accessible by integration' } })
    expect(await deactivateDeployments(runner, options())).toBe(0)
    expect(warnings()).toEqual([expect.stringMatching(/permissions: deployments: write/)])
  })
})

describe('stateOf', () => {
  it.each([
    ['deployed', 'success'],
    ['triggered', 'in_progress'],
    ['failed', 'failure'],
    ['timed-out', 'failure'],
    ['verification-failed', 'failure'],
    ['rolled-back', 'failure'],
    ['superseded', 'inactive'],
    ['interrupted', 'inactive'],
    ['cancelled', 'inactive'],
    ['error', 'error'],
  ])('%s → %s', (outcome, state) => {
    expect(stateOf(outcome)).toBe(state)
  })
})
