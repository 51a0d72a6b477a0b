import { describe, expect, it } from '@jest/globals'
import { CancelledError, InputError } from '../../src/base/errors.ts'
import type { ControlPlane } from '../../src/clients/control-plane/api.ts'
import { controlPlaneBase } from '../../src/clients/control-plane/api.ts'
import { DeployError, outcomeOf, reasonOf } from '../../src/deploy/errors.ts'
import { forkFaults } from '../../src/deploy/forks.ts'
import { nextInterval } from '../../src/deploy/interval.ts'
import { dashboardUrl, deploymentUrl } from '../../src/deploy/links.ts'
import { logKindFor } from '../../src/deploy/logs.ts'
import { mergePatch } from '../../src/deploy/merge-patch.ts'
import { nameFault } from '../../src/deploy/name.ts'
import { kindOf, statusWord } from '../../src/deploy/statuses.ts'
import { inWords, Timeline } from '../../src/deploy/timeline.ts'
import { HttpError, RedirectError } from '../../src/http/errors.ts'
import { deployment } from '../helpers/settings.ts'

describe('mergePatch, by the examples of RFC 7396', () => {
  it.each([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('%j with %j is %j', (target, patch, expected) => {
    const before = JSON.stringify([target, patch])
    expect(mergePatch(target, patch)).toEqual(expected)
    expect(JSON.stringify([target, patch])).toBe(before)
  })
})

it.each([
  ['my-agent', true],
  ['a', true],
  ['a1-2', true],
  ['agent-', true],
  ['1agent', false],
  ['-agent', false],
  ['My-agent', false],
  ['my_agent', false],
  ['my agent', false],
  ['agënt', false],
  ['agent\n', false],
])('the name %j is right: %s', (name, right) => {
  expect(nameFault(name) === undefined).toBe(right)
})

it.each([
  ['CREATING', 'waiting'],
  ['DEPLOYED', 'deployed'],
  ['DEPLOY_FAILED', 'failed'],
  ['SKIPPED', 'superseded'],
  ['INTERRUPTED', 'interrupted'],
  ['UNKNOWN', 'unknown'],
  ['deployed', 'unknown'],
  ['constructor', 'unknown'],
  ['__proto__', 'unknown'],
])('the status %s is %s', (status, kind) => {
  expect(kindOf(status)).toBe(kind)
})

it.each([
  ['DEPLOYED', 'DEPLOYED'],
  ['HALF_WAY', 'HALF_WAY'],
  ['two words', 'UNKNOWN'],
  ['::error::x', 'UNKNOWN'],
  ['x'.repeat(41), 'UNKNOWN'],
])('the status %j is shown as %s', (status, shown) => {
  expect(statusWord(status)).toBe(shown)
})

it.each([
  ['BUILD_FAILED', 'build'],
  ['BUILDING', 'build'],
  ['DEPLOY_FAILED', 'deploy'],
  ['DEPLOYED', 'deploy'],
  ['QUEUED', undefined],
  [undefined, undefined],
])('the log that tells about %s is %s', (status, kind) => {
  expect(logKindFor(status)).toBe(kind)
})

describe('nextInterval', () => {
  const bounds = { minMs: 2000, maxMs: 15_000 }
  it.each([
    ['BUILDING', 0, 2000],
    ['BUILDING', 1, 3000],
    ['BUILDING', 50, 15_000],
    ['BUILDING', 100_000, 15_000],
    ['', 0, 2000],
    ['DEPLOYING', 0, 2000],
    ['DEPLOYING', 1, 2300],
    ['DEPLOYING', 100, 5000],
    ['DEPLOYED', 100, 5000],
  ])('%s after %s polls is %s ms', (status, polls, ms) => {
    expect(nextInterval({ status, polls, ...bounds })).toBe(ms)
  })

  it('keeps to bounds that are equal, or close', () => {
    for (const polls of [0, 1, 99]) {
      expect(nextInterval({ status: 'DEPLOYING', polls, minMs: 9000, maxMs: 10_000 })).toBe(9000)
      expect(nextInterval({ status: 'BUILDING', polls, minMs: 500, maxMs: 500 })).toBe(500)
    }
  })
})

describe('Timeline', () => {
  it('tells how long each status lasted', () => {
    const timeline = new Timeline()
    expect(timeline.last).toBeUndefined()
    expect(timeline.enter('BUILDING', 1000)).toBeUndefined()
    expect(timeline.enter('DEPLOYED', 186_000)).toBe('3 min 5 s of BUILDING')
    timeline.close(190_000)
    // What comes after the wait is not time in its last status.
    timeline.close(999_000)
    expect(timeline.last).toBe('DEPLOYED')
    expect(timeline.entries).toEqual([
      { status: 'BUILDING', startMs: 1000, endMs: 186_000 },
      { status: 'DEPLOYED', startMs: 186_000, endMs: 190_000 },
    ])
  })

  it.each([
    [0, '0.0 s'],
    [9949, '9.9 s'],
    [9999, '10 s'],
    [59_400, '59 s'],
    [59_600, '1 min 0 s'],
    [119_700, '2 min 0 s'],
    [3_725_000, '62 min 5 s'],
  ])('%s ms is %s', (ms, words) => {
    expect(inWords(ms)).toBe(words)
  })
})

describe('forkFaults', () => {
  const facts = (eventName: string, headIsForeign: boolean, commentOnPullRequest = false) => ({
    eventName,
    headIsForeign,
    commentOnPullRequest,
  })
  const source = { source: 'internal_source' as const, repoRefGiven: false, allowFork: false }
  const ref = { source: 'github' as const, repoRefGiven: true, allowFork: false }

  it.each([
    ['pull_request_target of a fork, archive', facts('pull_request_target', true), source, ['source']],
    ['pull_request_target of a fork, ref', facts('pull_request_target', true), ref, ['repo-ref']],
    [
      'pull_request_target of a fork, own ref',
      facts('pull_request_target', true),
      { ...ref, repoRefGiven: false },
      [],
    ],
    ['pull_request_target here', facts('pull_request_target', false), source, []],
    ['workflow_run of a fork', facts('workflow_run', true), source, ['source']],
    ['issue_comment on a pull request', facts('issue_comment', false, true), source, ['source']],
    ['issue_comment on an issue', facts('issue_comment', false, false), source, []],
    ['pull_request of a fork, which has no secrets', facts('pull_request', true), source, []],
    ['push', facts('push', false), source, []],
    ['an image', facts('pull_request_target', true), { ...source, source: 'external_docker' as const }, []],
    ['allowed', facts('pull_request_target', true), { ...source, allowFork: true }, []],
  ])('%s', (_title, event, choice, inputs) => {
    expect(forkFaults(event, choice).map(({ input }) => input)).toEqual(inputs)
  })
})

describe('links', () => {
  const api = (baseUrl: string, workspaceId?: string) =>
    ({ baseUrl: controlPlaneBase(new URL(baseUrl)), workspaceId }) as ControlPlane
  const TENANT = { tenant_id: '11111111-2222-4333-8444-555555555555' }

  it.each([
    ['https://api.host.langchain.com', 'https://smith.langchain.com'],
    ['https://eu.api.host.langchain.com', 'https://eu.smith.langchain.com'],
    ['https://aws.api.host.langchain.com/v2/', 'https://aws.smith.langchain.com'],
    ['https://smith.corp.example/api-host', 'https://smith.corp.example'],
    ['https://corp.example:8443/smith/api-host/', 'https://corp.example:8443/smith'],
  ])('the dashboard of %s is %s', (plane, host) => {
    expect(dashboardUrl(api(plane), deployment('github', TENANT))).toBe(
      `${host}/o/${TENANT.tenant_id}/host/deployments/d1`,
    )
  })

  it.each([
    ['https://plane.corp.example', TENANT, undefined],
    ['https://api.host.langchain.com.evil.example', TENANT, undefined],
    ['https://api.host.langchain.com', {}, undefined],
    ['https://api.host.langchain.com', { tenant_id: '../x' }, undefined],
  ])('is not guessed for %s with %j', (plane, part, workspaceId) => {
    expect(dashboardUrl(api(plane, workspaceId), deployment('github', part))).toBeUndefined()
  })

  it('takes the workspace that was given where the deployment names none', () => {
    expect(dashboardUrl(api('https://api.host.langchain.com', 'w-1'), deployment('github'))).toContain(
      '/o/w-1/',
    )
  })

  it.each([
    ['https://agent.example', false, 'https://agent.example/'],
    ['https://agent.example/base/', false, 'https://agent.example/base/'],
    ['http://127.0.0.1:8123/d/1', false, 'http://127.0.0.1:8123/d/1'],
    ['http://agent.example', true, 'http://agent.example/'],
    ['', false, undefined],
    [null, false, undefined],
  ])('the deployment URL %s (allow-http: %s)', (url, allowHttp, expected) => {
    expect(deploymentUrl(deployment('github', {}, { custom_url: url }), allowHttp)?.href).toBe(expected)
  })

  it.each([
    'http://agent.example',
    'https://u:p@agent.example',
    'ftp://x',
    'x',
    'https://a.example/?k=1',
    'https://a.example/#x',
  ])('no key goes to %s', (url) => {
    expect(() => deploymentUrl(deployment('github', {}, { custom_url: url }), false)).toThrow(DeployError)
  })

  it.each([
    ['https://a.example', 'https://a.example/'],
    ['https://a.example/', 'https://a.example/'],
    ['https://a.example/v2', 'https://a.example/'],
    ['https://a.example/api-host/v2/', 'https://a.example/api-host'],
    ['https://a.example:8443/x/y//', 'https://a.example:8443/x/y'],
    ['https://a.example/v2/x', 'https://a.example/v2/x'],
    ['https://a.example/api-host?x=1#y', 'https://a.example/api-host'],
  ])('the base of %s is %s', (url, base) => {
    expect(controlPlaneBase(new URL(url)).href).toBe(base)
  })
})

describe('outcome and failure-reason', () => {
  const request = { method: 'POST', url: 'https://plane.example/v2/deployments' }

  it.each([
    [
      new DeployError('failed', 'Revision r1 ended\nBUILD_FAILED'),
      'failed',
      'Revision r1 ended BUILD_FAILED',
    ],
    [new CancelledError('The job was cancelled'), 'cancelled', 'The job was cancelled'],
    [
      new HttpError(request, { status: 400, detail: 'remote words' }),
      'error',
      'POST https://plane.example/v2/deployments answered 400',
    ],
    [
      new RedirectError(request, 302, 'host evil.example'),
      'error',
      'POST https://plane.example/v2/deployments answered 302, a redirect to host evil.example, which is not followed',
    ],
    [
      new InputError([
        { input: 'name', message: 'x' },
        { input: 'wait', message: 'y' },
        { input: 'name', message: 'z' },
      ]),
      'error',
      'wrong inputs: name, wait',
    ],
    [new TypeError('x is not a function'), 'error', 'internal error of this action'],
    ['text', 'error', 'internal error of this action'],
  ])('of %s', (error, outcome, reason) => {
    expect(outcomeOf(error)).toBe(outcome)
    expect(reasonOf(error)).toBe(reason)
  })
})
