import { afterEach, describe, expect, it } from '@jest/globals'
import { DeployError } from '../../src/deploy/errors.ts'
import { Timeline } from '../../src/deploy/timeline.ts'
import { type WaitOptions, waitForRevision } from '../../src/deploy/wait.ts'
import {
  type Answer,
  type Asked,
  type ScriptedService,
  scriptedService,
} from '../helpers/scripted-service.ts'

const POLL = 'GET /v2/deployments/d1/revisions/r2'
const CONFIRM = 'GET /v2/deployments/d1'

let service: ScriptedService
afterEach(() => service.close())

/** What the deployment says of itself. */
const facts = (active: string | null | undefined, latest: string | undefined = 'r2'): Answer => ({
  body: { id: 'd1', active_revision_id: active, latest_revision_id: latest },
})

/** Waits for r2 of d1 by a script of what a poll gets (a status, or an answer) at which second. */
async function wait(
  poll: (asked: Asked, nth: number) => string | Answer,
  options: Partial<WaitOptions> & { seconds?: number; confirm?: (asked: Asked, nth: number) => Answer } = {},
) {
  const { seconds = 1800, confirm = () => facts('r2'), ...rest } = options
  service = await scriptedService((asked, nth) => {
    if (asked.line === CONFIRM) return confirm(asked, nth)
    const id = asked.line.split('/').at(-1) ?? ''
    if (asked.line !== POLL) return { body: { id, status: 'DEPLOYED', created_at: CREATED[id] } }
    const answer = poll(asked, nth)
    const isWord = typeof answer === 'string' && answer !== 'reset' && answer !== 'hang'
    return isWord ? { body: { id: 'r2', status: answer, created_at: CREATED['r2'] } } : (answer as Answer)
  })
  const timeline = new Timeline()
  const error = await waitForRevision({
    api: service.api,
    deploymentId: 'd1',
    revisionId: 'r2',
    previousActive: 'r1',
    latestBefore: 'r1',
    tellsActive: true,
    deadline: service.at(seconds),
    minMs: 2000,
    maxMs: 15_000,
    log: service.log,
    timeline,
    ...rest,
  }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  const polls = service.asked.filter(({ line }) => line === POLL)
  return {
    error,
    outcome: error === undefined ? 'live' : error instanceof DeployError ? error.outcome : error,
    message: error instanceof Error ? error.message : '',
    polls,
    times: polls.map(({ at }) => at),
    timeline,
  }
}

const CREATED: Record<string, string> = {
  r0: '2025-01-01T00:00:00Z',
  r1: '2026-01-01T00:00:01Z',
  r2: '2026-01-01T00:00:02Z',
  r3: '2026-01-01T00:00:03Z',
}

describe('the ends', () => {
  it.each([
    ['CREATE_FAILED', 'failed'],
    ['BUILD_FAILED', 'failed'],
    ['DEPLOY_FAILED', 'failed'],
    ['SKIPPED', 'superseded'],
    ['DEPLOYED', 'live'],
  ])('%s is %s, at once', async (status, outcome) => {
    const result = await wait((_asked, nth) => (nth === 1 ? 'BUILDING' : status))
    expect(result.outcome).toBe(outcome)
    expect(result.polls).toHaveLength(2)
  })

  it.each([
    'CREATING',
    'QUEUED',
    'AWAITING_BUILD',
    'BUILDING',
    'AWAITING_DEPLOY',
    'DEPLOYING',
    'UNKNOWN',
    'deployed',
  ])('%s waits until the deadline, and is asked for once more at it', async (status) => {
    const result = await wait(() => status, { seconds: 100 })
    expect(result.outcome).toBe('timed-out')
    expect(result.times.at(-1)).toBe(100)
    expect(result.message).toContain(status)
    expect(service.said.filter((line) => line.startsWith('warning')).length).toBe(
      status === 'UNKNOWN' || status === 'deployed' ? 1 : 0,
    )
  })

  it('is live when it gets DEPLOYED at the deadline itself', async () => {
    const result = await wait(({ at }) => (at >= 100 ? 'DEPLOYED' : 'DEPLOYING'), { seconds: 100 })
    expect(result.outcome).toBe('live')
  })

  it('is asked for once more after a poll that hung past the deadline', async () => {
    const result = await wait(
      (_asked, nth) => {
        if (nth > 1) return 'DEPLOYED'
        void service.clock.sleep(130_000)
        return 'reset'
      },
      { seconds: 100 },
    )
    expect(result.outcome).toBe('live')
    expect(result.times).toEqual([0, 130])
  })

  it('INTERRUPTED gets 60 s of grace, to the second', async () => {
    const result = await wait(({ at }) => (at >= 20 ? 'INTERRUPTED' : 'BUILDING'))
    const since = result.times.find((at) => at >= 20) ?? 0
    expect(result.outcome).toBe('interrupted')
    expect(result.times.at(-1)).toBe(since + 60)
  })

  it('INTERRUPTED that goes on and comes back gets its grace anew', async () => {
    const result = await wait(({ at }) =>
      at < 50 ? 'INTERRUPTED' : at < 60 ? 'QUEUED' : at < 110 ? 'INTERRUPTED' : 'DEPLOYED',
    )
    expect(result.outcome).toBe('live')
  })

  it('INTERRUPTED at the deadline is interrupted, not timed out', async () => {
    expect((await wait(() => 'INTERRUPTED', { seconds: 30 })).outcome).toBe('interrupted')
  })

  it('a word that is no word is shown as UNKNOWN', async () => {
    const result = await wait((_asked, nth) => (nth === 1 ? '::error::pwned' : 'DEPLOYED'))
    expect(result.outcome).toBe('live')
    expect(result.timeline.entries.map(({ status }) => status)).toEqual(['UNKNOWN', 'DEPLOYED'])
    expect(service.said.join()).not.toContain('pwned')
  })
})

describe('the interval', () => {
  it('backs off inside a status, begins anew when it changes, and is short near the end', async () => {
    const { times } = await wait(({ at }) => (at < 120 ? 'BUILDING' : at < 180 ? 'DEPLOYING' : 'DEPLOYED'))
    const pauses = times
      .slice(1)
      .map((at, index) => ({ at: times[index] ?? 0, pause: at - (times[index] ?? 0) }))
    const building = pauses.filter(({ at }) => at < 120).map(({ pause }) => pause)
    const deploying = pauses.filter(({ at }) => at >= 120).map(({ pause }) => pause)
    expect(building.slice(0, 3)).toEqual([2, 3, 4.5])
    expect(Math.max(...building)).toBe(15)
    expect(deploying[0]).toBe(2)
    expect(Math.max(...deploying)).toBeLessThanOrEqual(5)
  })

  it('tells each change once, with the time spent', async () => {
    await wait(({ at }) => (at < 60 ? 'BUILDING' : 'DEPLOYED'))
    expect(service.said).toEqual([
      'info: BUILDING',
      expect.stringMatching(/^info: DEPLOYED, after 1 min \d+ s of BUILDING$/),
    ])
  })
})

describe('failed polls', () => {
  const failing = (first: number, last: number, answer: Answer) => (_asked: Asked, nth: number) =>
    nth >= first && nth <= last ? answer : nth > last + 1 ? 'DEPLOYED' : 'BUILDING'

  it.each<[string, Answer]>([
    ['500', { status: 500 }],
    ['a broken connection', 'reset'],
    ['no JSON', { body: 'hello' }],
    ['no status', { body: { id: 'r2' } }],
    ['another revision', { body: { id: 'r9', status: 'DEPLOYED' } }],
  ])('14 with %s in a row are borne', async (_title, answer) => {
    const result = await wait(failing(2, 15, answer))
    expect(result.outcome).toBe('live')
    expect(service.said.filter((line) => /A poll failed/.test(line))).toHaveLength(1)
    expect(service.said).toContain('info: The service answers again, after 14 failed polls')
  })

  it('15 in a row are an error that says that the revision goes on', async () => {
    const result = await wait(failing(2, 99, { status: 502 }))
    expect(result.outcome).toBe('error')
    expect(result.polls).toHaveLength(16)
    expect((result.error as DeployError).hint).toContain('goes on without this job')
    expect((result.error as DeployError).cause).toMatchObject({ status: 502 })
  })

  it('a good poll in between resets the count', async () => {
    const result = await wait(
      (_asked, nth) => (nth > 60 ? 'DEPLOYED' : nth % 14 === 0 ? 'BUILDING' : { status: 500 }),
      {
        seconds: 7200,
      },
    )
    expect(result.outcome).toBe('live')
  })

  it.each([
    ['seconds', '40'],
    ['a date', new Date(Date.parse('2026-01-01T00:00:42Z')).toUTCString()],
  ])('wait as long as Retry-After asks in %s', async (_title, value) => {
    const answer = { status: 429, headers: { 'retry-after': value } }
    const { times } = await wait(failing(2, 2, answer))
    expect(times.slice(0, 3)).toEqual([0, 2, 42])
  })

  it('wait no longer than the deadline, whatever Retry-After asks', async () => {
    const result = await wait(() => ({ status: 503, headers: { 'retry-after': '86400' } }), { seconds: 60 })
    expect(result.times).toEqual([0, 60])
    expect(result.message).toContain('no status of it could be read')
  })

  it.each<[string, Answer, RegExp]>([
    ['404', { status: 404 }, /does not know revision r2/],
    ['401', { status: 401 }, /key was refused/],
    ['403 after a good answer', { status: 403 }, /key was refused/],
    ['a redirect', { status: 302, headers: { location: 'https://evil.example/' } }, /redirect/],
  ])('%s ends the wait at once', async (_title, answer, words) => {
    const result = await wait(failing(2, 99, answer))
    expect(result.outcome).toBe('error')
    expect(result.message).toMatch(words)
    expect(result.polls).toHaveLength(2)
  })

  it('403 before any good answer is borne like others', async () => {
    expect((await wait(failing(1, 3, { status: 403 }))).outcome).toBe('live')
  })

  it('a cancel ends the wait with its own reason', async () => {
    const result = await wait((_asked, nth) => {
      if (nth === 3) service.cancel()
      return 'BUILDING'
    })
    expect(result.message).toBe('The job was cancelled')
  })
})

describe('DEPLOYED is confirmed', () => {
  it('only when ours is active: an older one is waited for, and ends timed-out', async () => {
    const live = await wait(() => 'DEPLOYED', { confirm: ({ at }) => facts(at < 30 ? 'r1' : 'r2') })
    expect(live.outcome).toBe('live')
    await service.close()
    const stuck = await wait(() => 'DEPLOYED', { confirm: () => facts('r1'), seconds: 60 })
    expect(stuck.outcome).toBe('timed-out')
    expect(stuck.message).toContain('the older revision r1 still serves')
    expect(service.said.filter((line) => line.includes('r1 still serves; waiting on'))).toHaveLength(1)
  })

  it('not while the service, which named one before, names none', async () => {
    const live = await wait(() => 'DEPLOYED', { confirm: (_asked, nth) => facts(nth < 3 ? null : 'r2') })
    expect(live.outcome).toBe('live')
    await service.close()
    const stuck = await wait(() => 'DEPLOYED', { confirm: () => facts(null), seconds: 60 })
    expect(stuck.message).toContain('names no revision that serves')
  })

  it.each([
    ['the newest of all', facts('r3', 'r3'), {}],
    ['the newest of all, whatever its time says', facts('r0', 'r0'), {}],
    ['newer by its time, though not the newest', facts('r3', 'r4'), {}],
    ['newer than ours, where the service shows another latest', facts('r3', 'r2'), {}],
    ['unnamed, while a newer one is DEPLOYED too', facts(undefined, 'r3'), { tellsActive: false }],
  ])('superseded when the active one is %s', async (_title, answer, options) => {
    const result = await wait(() => 'DEPLOYED', { confirm: () => answer, ...options })
    expect(result.outcome).toBe('superseded')
    expect(result.message).toMatch(/the newer revision r[03] serves/)
  })

  it.each([
    [
      'the service gives no active revision',
      facts(undefined),
      { tellsActive: false, previousActive: undefined },
    ],
    ['it has never named one', facts(null), { tellsActive: false, previousActive: undefined }],
    [
      'the latest is one of before (a redeploy that keeps its id)',
      facts(undefined, 'r3'),
      { tellsActive: false, latestBefore: 'r3' },
    ],
  ])('live when %s', async (_title, answer, options) => {
    expect((await wait(() => 'DEPLOYED', { confirm: () => answer, ...options })).outcome).toBe('live')
  })

  it('not yet when another revision of before serves, of which nobody told', async () => {
    const result = await wait(() => 'DEPLOYED', {
      confirm: ({ at }) => facts(at < 20 ? 'r1' : 'r2'),
      previousActive: undefined,
      tellsActive: false,
    })
    expect(result.outcome).toBe('live')
    expect(result.times.at(-1)).toBeGreaterThanOrEqual(20)
  })

  it('not in a deployment that is being deleted', async () => {
    const result = await wait(() => 'DEPLOYED', {
      confirm: () => ({ body: { id: 'd1', active_revision_id: 'r2', status: 'AWAITING_DELETE' } }),
    })
    expect(result.outcome).toBe('error')
    expect(result.message).toContain('being deleted')
  })

  it('a confirmation that fails is a failed poll', async () => {
    const result = await wait(() => 'DEPLOYED', {
      confirm: (_asked, nth) => (nth < 4 ? { status: 500 } : facts('r2')),
    })
    expect(result.outcome).toBe('live')
    await service.close()
    const never = await wait(() => 'DEPLOYED', { confirm: () => ({ status: 500 }), seconds: 20 })
    expect(never.outcome).toBe('timed-out')
    expect(never.message).toContain('whether it serves could not be read')
  })
})
