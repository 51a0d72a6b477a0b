import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { type RunResult, runBundle, type StepOptions } from '../helpers/action.ts'
import { startTestEmulator, type TestEmulator } from '../helpers/emulator.ts'
import { type GithubStub, startGithubStub } from '../helpers/github-stub.ts'

let emulator: TestEmulator
let github: GithubStub

beforeEach(async () => {
  ;[emulator, github] = await Promise.all([startTestEmulator(), startGithubStub()])
})

afterEach(async () => {
  await Promise.all([emulator.close(), github.close()])
})

const PULL_REQUEST = {
  number: 7,
  repository: { full_name: 'octo/agent', default_branch: 'main', name: 'agent', owner: { login: 'octo' } },
  pull_request: {
    number: 7,
    head: { ref: 'topic', sha: 'a'.repeat(40), repo: { full_name: 'octo/agent' } },
    base: { ref: 'main', repo: { full_name: 'octo/agent' } },
  },
}

function deploy(inputs: Record<string, string> = {}, more: Partial<StepOptions> = {}): Promise<RunResult> {
  return runBundle({
    action: 'deploy',
    inputs: {
      'api-key': emulator.apiKey,
      'control-plane-url': emulator.controlPlaneUrl,
      name: 'my-agent',
      'image-uri': `registry.example.com/agent@sha256:${'0'.repeat(64)}`,
      'poll-interval-seconds': '0.1',
      environment: 'preview',
      comment: 'true',
      ...inputs,
    },
    githubToken: github.token,
    event: PULL_REQUEST,
    eventName: 'pull_request',
    ...more,
    env: { GITHUB_API_URL: github.apiUrl, ...more.env },
  })
}

function post(run: RunResult): Promise<RunResult> {
  return runBundle({
    action: 'deploy',
    phase: 'post',
    githubToken: github.token,
    event: PULL_REQUEST,
    eventName: 'pull_request',
    state: run.state,
    env: { GITHUB_API_URL: github.apiUrl },
  })
}

const states = () => github.deployments.map((one) => one.statuses.map((status) => status.state))
const stuck = () => emulator.scenario({ deployment: 'my-agent', statuses: [['DEPLOYING', null]] })

/** Settled once the deployment's revision is asked for: then the run waits for it. */
async function waiting(): Promise<void> {
  for (;;) {
    const { requests } = await emulator.state()
    if (requests.some((one) => one.method === 'GET' && one.path.includes('/revisions/'))) return
    await new Promise((done) => setTimeout(done, 20))
  }
}

describe('environment and comment', () => {
  it('tell GitHub of a deploy that is live, and leave nothing to post', async () => {
    const run = await deploy()
    expect(run.outputs['outcome']).toBe('deployed')
    expect(run.annotations).toEqual([])
    expect(github.deployments).toEqual([
      expect.objectContaining({
        ref: 'a'.repeat(40),
        task: 'deploy:my-agent',
        environment: 'preview',
        transient_environment: true,
      }),
    ])
    expect(states()).toEqual([['in_progress', 'success']])
    expect(github.deployments[0]?.statuses[1]).toMatchObject({
      environment_url: run.outputs['deployment-url'],
    })
    expect(github.comments).toEqual([
      expect.objectContaining({ issue: 7, body: expect.stringContaining('`my-agent` ✅ is live') }),
    ])
    expect(run.masks).toContain(github.token)
    const before = github.requests.length
    expect((await post(run)).exitCode).toBe(0)
    expect(github.requests).toHaveLength(before)
  })

  it('tell of a failed deploy', async () => {
    await emulator.scenario({ deployment: 'my-agent', statuses: [['DEPLOY_FAILED', null]] })
    const run = await deploy()
    expect(run.outputs['outcome']).toBe('failed')
    expect(states()).toEqual([['in_progress', 'failure']])
    expect(github.comments[0]?.body).toContain('❌ failed')
  })

  it.each(['SIGINT', 'SIGTERM'] as const)('close what is open on %s, within 5 s', async (signal) => {
    await stuck()
    const run = await deploy({}, { signalAfter: { signal, until: waiting() } })
    expect(run.outputs['outcome']).toBe('cancelled')
    expect(run.msAfterSignal).toBeLessThan(5_000)
    expect(states()).toEqual([['in_progress', 'inactive']])
    expect(github.comments[0]?.body).toContain('was cancelled')
  })

  it('close it in post when GitHub was silent during the cancel', async () => {
    await stuck()
    const until = waiting().then(() => github.fault({ match: 'POST', effect: 'hang', times: 2 }))
    const run = await deploy({}, { signalAfter: { until } })
    expect(run.outputs['outcome']).toBe('cancelled')
    expect(run.msAfterSignal).toBeLessThan(5_000)
    expect(states()).toEqual([['in_progress']])
    await post(run)
    expect(states()).toEqual([['in_progress', 'inactive']])
  })

  it('close it in post when the step was killed', async () => {
    await stuck()
    const run = await deploy({}, { signalAfter: { signal: 'SIGKILL', until: waiting() } })
    expect(run.endedBy).toBe('SIGKILL')
    expect(states()).toEqual([['in_progress']])
    const end = await post(run)
    expect(end.exitCode).toBe(0)
    expect(states()).toEqual([['in_progress', 'error']])
  })

  it('leave it in progress where the run does not wait', async () => {
    const run = await deploy({ wait: 'false' })
    expect(run.outputs['outcome']).toBe('triggered')
    await post(run)
    expect(states()).toEqual([['in_progress']])
  })

  it('write nothing in a dry run', async () => {
    const run = await deploy({ 'dry-run': 'true' })
    expect(run.outputs['outcome']).toBe('planned')
    await post(run)
    expect(github.requests).toEqual([])
  })

  it('never change the verdict: a token that may not write is one warning for each', async () => {
    github.fault({ match: 'POST', status: 403, body: { message: 'Resource not accessible by integration' } })
    const run = await deploy()
    expect(run).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed' } })
    expect(run.annotations.map((one) => one.message)).toEqual([
      expect.stringContaining('deployments: write'),
      expect.stringContaining('pull-requests: write'),
    ])
  })

  it('skip the comment with one notice where there is no pull request', async () => {
    const run = await deploy({ environment: '' }, { event: {}, eventName: 'push' })
    expect(run.outputs['outcome']).toBe('deployed')
    expect(run.annotations.map((one) => one.message)).toEqual([
      expect.stringMatching(/^No comment is written/),
    ])
    expect(github.requests).toEqual([])
  })

  it('ask GitHub nothing where neither is asked for', async () => {
    const run = await deploy({ environment: '', comment: '' }, { event: {}, eventName: 'push' })
    expect(run.annotations).toEqual([])
    expect(github.requests).toEqual([])
  })
})
