import { describe, expect, it } from '@jest/globals'
import type { StoppableClock, TestEmulator } from '../../helpers/emulator.ts'
import { deploy, IMAGE, onceAsked, withEmulator } from './support.ts'

let emulator: TestEmulator
let name = ''
let clock: StoppableClock

withEmulator('agent', (one, fresh, its) => {
  emulator = one
  name = fresh
  clock = its
})

const run = (inputs: Record<string, string> = {}, options = {}) =>
  deploy(emulator, { name, ...inputs }, options)

const POLL = /\/revisions\/[^/]+$/

/** Somebody else deploys. */
const change = (id: unknown) =>
  emulator.call('PATCH', `/v2/deployments/${id}`, { source_revision_config: { image_uri: IMAGE } })

async function deployed(): Promise<{ id: string; revision: string }> {
  const { outputs } = await run()
  expect(outputs['outcome']).toBe('deployed')
  return { id: outputs['deployment-id'] ?? '', revision: outputs['revision-id'] ?? '' }
}

describe('green', () => {
  it('creates a deployment, waits, and puts out what it made', async () => {
    const result = await run({ secrets: 'OPENAI_API_KEY=sk-canary-123456' })
    const state = await emulator.state()
    const made = state.deployments.find((deployment) => deployment['name'] === name)
    expect(result.exitCode).toBe(0)
    expect(result.outputs).toMatchObject({
      outcome: 'deployed',
      created: 'true',
      'deployment-id': made?.['id'],
      'revision-id': made?.['latest_revision_id'],
      'revision-status': 'DEPLOYED',
      'image-uri': IMAGE,
      'deployment-url': `${emulator.controlPlaneUrl}/d/${made?.['id']}`,
    })
    expect(result.outputs['previous-revision-id'] ?? '').toBe('')
    expect(result.outputs['failure-reason'] ?? '').toBe('')
    expect(Number(result.outputs['duration-seconds'])).toBeGreaterThan(0)
    expect(result.annotations).toEqual([])
    expect(result.summary.split('\n')[0]).toContain('Deployed')
    expect(result.summary).toContain('gantt')
    expect(
      `${result.stdout}${result.stderr}${result.summary}`.replaceAll('::add-mask::sk-canary-123456', ''),
    ).not.toContain('sk-canary-123456')
  })

  it('updates by name, makes one revision and nothing else, and says what served before', async () => {
    const first = await deployed()
    const result = await run()
    const state = await emulator.state()
    expect(result.exitCode).toBe(0)
    expect(result.outputs).toMatchObject({
      outcome: 'deployed',
      created: 'false',
      'deployment-id': first.id,
      'previous-revision-id': first.revision,
    })
    expect(result.outputs['revision-id']).not.toBe(first.revision)
    expect(state.deployments.filter((deployment) => deployment['name'] === name)).toHaveLength(1)
  })

  it('updates by id, and wants a name that is given to agree', async () => {
    const { id } = await deployed()
    const result = await run({ 'deployment-id': id, name: '' })
    expect(result.outputs).toMatchObject({ outcome: 'deployed', created: 'false', 'deployment-id': id })
    const wrong = await run({ 'deployment-id': id, name: 'another-name' })
    expect(wrong.exitCode).toBe(1)
    expect(wrong.outputs['outcome']).toBe('error')
    expect(wrong.annotations[0]?.message).toContain('another-name')
  })

  it('finds the exact name on a later page', async () => {
    for (let index = 0; index < 101; index++) {
      await emulator.call('POST', '/v2/deployments', {
        name: `${name}-${index}`,
        source: 'external_docker',
        source_config: { resource_spec: {} },
        source_revision_config: { image_uri: IMAGE },
        secrets: [],
      })
    }
    const first = await deployed()
    const second = await run()
    expect(second.outputs).toMatchObject({ outcome: 'deployed', created: 'false', 'deployment-id': first.id })
  })

  it('does not wait with wait: false, and sends nothing after the request', async () => {
    const result = await run({ wait: 'false' })
    expect(result.exitCode).toBe(0)
    expect(result.outputs['outcome']).toBe('triggered')
    const { requests } = await emulator.state()
    expect(requests.at(-1)?.method).toBe('POST')
  })

  it('plans and changes nothing with dry-run: true', async () => {
    const result = await run({ 'dry-run': 'true', secrets: 'A_SECRET=canary-value-1' })
    const plan = JSON.parse(result.outputs['plan'] ?? '{}')
    expect(result.exitCode).toBe(0)
    expect(result.outputs['outcome']).toBe('planned')
    expect(plan).toMatchObject({
      action: 'create',
      secrets: ['A_SECRET'],
      request: { name, source: 'external_docker' },
    })
    expect(JSON.stringify(plan)).not.toContain('canary-value-1')
    expect((await emulator.state()).deployments.some((deployment) => deployment['name'] === name)).toBe(false)
  })

  it('goes on where an interrupted revision goes on, and past UNKNOWN and unheard-of words with one warning', async () => {
    const walk = ['BUILDING', 'INTERRUPTED', 'UNKNOWN', 'HIBERNATING']
    await emulator.scenario({
      deployment: name,
      statuses: [...walk.map((status) => [status, 200]), ['DEPLOYED', null]],
    })
    // Each status is polled once, then a second of ours makes 200 of the emulator's.
    clock.stop()
    const running = run()
    for (const _ of walk) await onceAsked(emulator, 'GET', POLL, async () => clock.pass(1000))
    const result = await running
    expect(result.outputs['outcome']).toBe('deployed')
    expect(result.annotations.filter((annotation) => annotation.type === 'warning')).toHaveLength(1)
  })
})

describe('red', () => {
  it.each(['CREATE_FAILED', 'BUILD_FAILED', 'DEPLOY_FAILED'])(
    '%s is failed, with its reason and what to do',
    async (status) => {
      await emulator.scenario({
        deployment: name,
        statuses: [
          ['BUILDING', 20],
          [status, null],
        ],
        logs: ['the very reason ##[error]x'],
      })
      const result = await run()
      expect(result.exitCode).toBe(1)
      expect(result.outputs).toMatchObject({ outcome: 'failed', 'revision-status': status })
      expect(result.outputs['failure-reason']).toContain(status)
      expect(result.annotations.filter((annotation) => annotation.type === 'error')).toHaveLength(1)
      expect(result.summary.split('\n')[0]).toMatch(/fail/i)
      if (status !== 'CREATE_FAILED') {
        expect(result.visible).toContain('the very reason')
        expect(result.summary).toContain('the very reason')
      }
    },
  )

  it('SKIPPED is superseded, and names the revision that won', async () => {
    await emulator.scenario({
      deployment: name,
      statuses: [
        ['QUEUED', 100],
        ['SKIPPED', null],
      ],
    })
    clock.stop()
    const running = run()
    const winner = await onceAsked(emulator, 'GET', POLL, async () => {
      const made = (await emulator.state()).deployments.find((deployment) => deployment['name'] === name)
      return (await change(made?.['id'])).body.latest_revision_id
    })
    clock.pass(60_000)
    const result = await running
    expect(result.outputs['outcome']).toBe('superseded')
    expect(result.outputs['failure-reason']).toContain(winner)
  })

  it('INTERRUPTED that stays is interrupted, also when the deadline comes first', async () => {
    await emulator.scenario({
      deployment: name,
      statuses: [
        ['BUILDING', 20],
        ['INTERRUPTED', null],
      ],
    })
    const result = await run({ 'timeout-minutes': '0.02' })
    expect(result.outputs).toMatchObject({ outcome: 'interrupted', 'revision-status': 'INTERRUPTED' })
  })

  it.each([['BUILDING'], ['UNKNOWN'], ['SNOOZING']])('%s until the deadline is timed-out', async (status) => {
    await emulator.scenario({ deployment: name, statuses: [[status, null]] })
    const result = await run({ 'timeout-minutes': '0.01' })
    expect(result.exitCode).toBe(1)
    expect(result.outputs['outcome']).toBe('timed-out')
    expect(result.outputs['revision-id']).not.toBe('')
  })

  it('another, newer revision serving in the end is superseded', async () => {
    const { id } = await deployed()
    // Ours walks quickly; while it does, a second revision is made and both deploy: the newer one is active.
    await emulator.scenario({
      deployment: name,
      statuses: [
        ['DEPLOYING', 100],
        ['DEPLOYED', null],
      ],
    })
    await emulator.scenario({ deployment: name, statuses: [['DEPLOYED', null]] })
    clock.stop()
    const running = run()
    await onceAsked(emulator, 'PATCH', new RegExp(id), () => change(id))
    clock.pass(60_000)
    const result = await running
    expect(result.outputs['outcome']).toBe('superseded')
    expect(result.exitCode).toBe(1)
  })

  it('wrong checks are verification-failed, and say what came back', async () => {
    const result = await run({
      verify: JSON.stringify({
        checks: [
          {
            name: 'knows',
            input: { messages: [{ role: 'user', content: 'hi' }] },
            expect: { text: 'Paris' },
          },
        ],
      }),
    })
    expect(result.outputs['outcome']).toBe('verification-failed')
    expect(JSON.parse(result.outputs['verification'] ?? '{}')).toMatchObject({
      passed: 0,
      failed: 1,
      checks: [{ name: 'knows', verdict: 'failed' }],
    })
    expect(result.outputs['verification']).not.toContain('echo: hi')
    expect(result.visible).toContain('echo: hi')
  })

  it('is ready when it is told to check that', async () => {
    const result = await run({ verify: 'ready' })
    expect(result.outputs['outcome']).toBe('deployed')
    expect(JSON.parse(result.outputs['verification'] ?? '{}')).toMatchObject({ passed: 1, failed: 0 })
  })
})

it('a revision of somebody else, which an answer named as ours, is superseded', async () => {
  const first = await run()
  const id = first.outputs['deployment-id']
  const theirs = { source_revision_config: { image_uri: IMAGE.replace('1.0.0', '9.9.9') } }
  const { body } = await emulator.call('PATCH', `/v2/deployments/${id}`, theirs)
  // Both changes came at the same moment: our look-up saw neither, our answer names their revision.
  const before = { ...body, latest_revision_id: first.outputs['revision-id'] }
  const path = `/v2/deployments/${id}`
  await emulator.fault({ method: 'GET', path, times: 1, effect: { status: 200, body: before } })
  await emulator.fault({ method: 'PATCH', path, times: 1, effect: { status: 200, body } })
  const result = await run()
  expect(result.exitCode).toBe(1)
  expect(result.outputs['outcome']).toBe('superseded')
  expect(result.outputs['failure-reason']).toContain('another image')
})
