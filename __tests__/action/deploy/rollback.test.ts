import { describe, expect, it } from '@jest/globals'
import type { StoppableClock, TestEmulator } from '../../helpers/emulator.ts'
import { deploy, IMAGE, onceAsked, requestsOf, withEmulator } from './support.ts'

const PINNED = `registry.example/agent@sha256:${'1'.repeat(64)}`

let emulator: TestEmulator
let name = ''
let clock: StoppableClock

withEmulator('back', (one, fresh, its) => {
  emulator = one
  name = fresh
  clock = its
})

const run = (inputs: Record<string, string> = {}, options = {}) =>
  deploy(emulator, { name, 'image-uri': PINNED, ...inputs }, options)
const walks = (...statuses: [string, number | null][]) => emulator.scenario({ deployment: name, statuses })

async function deployed(inputs: Record<string, string> = {}): Promise<{ id: string; revision: string }> {
  const { outputs } = await run(inputs)
  expect(outputs['outcome']).toBe('deployed')
  return { id: outputs['deployment-id'] ?? '', revision: outputs['revision-id'] ?? '' }
}

async function view(id: string) {
  const { body } = await emulator.call('GET', `/v2/deployments/${id}`)
  return body as { active_revision_id: string; latest_revision_id: string }
}

async function redeploys(id: string): Promise<string[]> {
  const requests = await requestsOf(emulator, 'POST', new RegExp(`${id}/revisions/[^/]+/redeploy$`))
  return requests.map(({ path }) => path.split('/')[5] ?? '')
}

/** Somebody else deploys. */
const change = (id: string) =>
  emulator.call('PATCH', `/v2/deployments/${id}`, { source_revision_config: { image_uri: IMAGE } })

/** Leaves time for somebody else while the checks run. */
const slowRuns = () =>
  emulator.fault({ method: 'POST', path: '/d/*/threads/*/runs/stream', effect: { delayMs: 1_500 } })

const CHECK = (text: string) =>
  JSON.stringify({
    checks: [{ name: 'knows', input: { messages: [{ role: 'user', content: 'hi' }] }, expect: { text } }],
  })

describe('on-failure: rollback', () => {
  it('redeploys what served before when the deploy failed, verifies it, and ends red', async () => {
    const first = await deployed()
    await walks(['BUILDING', 5], ['BUILD_FAILED', null])
    const result = await run({ 'on-failure': 'rollback', verify: CHECK('hi') })
    const now = await view(first.id)
    expect(result.exitCode).toBe(1)
    expect(result.outputs).toMatchObject({
      outcome: 'rolled-back',
      'previous-revision-id': first.revision,
      'revision-status': 'BUILD_FAILED',
    })
    expect(result.outputs['failure-reason']).toMatch(/BUILD_FAILED.*Rolled back/)
    expect(await redeploys(first.id)).toEqual([first.revision])
    expect(now.active_revision_id).toBe(now.latest_revision_id)
    expect(result.outputs['revision-id']).not.toBe(now.active_revision_id)
    // The checks of the older revision are told in the log only.
    expect(result.outputs['verification'] ?? '').toBe('')
    expect(result.visible).toContain('does not undo')
    expect(result.summary).toMatch(/\*\*Rollback:\*\*.*passes the checks/)
    expect(result.annotations.map(({ type }) => type)).toEqual(['error'])
  })

  it('does so when the checks failed, and keeps `verification` of our revision', async () => {
    const first = await deployed({ 'image-uri': IMAGE })
    const result = await run({ 'on-failure': 'rollback', verify: CHECK('Paris') })
    expect(result.exitCode).toBe(1)
    // The older revision fails these checks too: then the outcome is that of the first failure, with both reasons.
    expect(result.outputs['outcome']).toBe('verification-failed')
    expect(result.outputs['failure-reason']).toMatch(/knows.*rollback did not succeed.*fail on it too/)
    expect(JSON.parse(result.outputs['verification'] ?? '{}')).toMatchObject({ passed: 0, failed: 1 })
    expect(await redeploys(first.id)).toEqual([first.revision])
    expect(result.annotations.some(({ message }) => /not pinned by digest/.test(message))).toBe(true)
  })

  it('does so when the time runs out and when it was interrupted', async () => {
    const first = await deployed()
    // Stuck, it would hold up every later revision.
    await walks(['DEPLOYING', null])
    const late = await run({ 'on-failure': 'rollback', 'timeout-minutes': '0.02' })
    expect(late.outputs['outcome']).toBe('rolled-back')
    await walks(['INTERRUPTED', null])
    const stopped = await run({ 'on-failure': 'rollback', 'timeout-minutes': '0.02' })
    expect(stopped.outputs['outcome']).toBe('rolled-back')
    expect(await redeploys(first.id)).toHaveLength(2)
  })

  it('does not happen where nothing served before', async () => {
    await walks(['DEPLOY_FAILED', null])
    const create = await run({ 'on-failure': 'rollback' })
    const id = create.outputs['deployment-id'] ?? ''
    expect(create.outputs['outcome']).toBe('failed')
    expect(create.outputs['failure-reason']).toMatch(/DEPLOY_FAILED\. No rollback: no revision served before/)
    await walks(['DEPLOY_FAILED', null])
    const update = await run({ 'on-failure': 'rollback' })
    expect(update.outputs['outcome']).toBe('failed')
    expect(update.outputs['failure-reason']).toContain('never served')
    expect(await redeploys(id)).toEqual([])
  })

  it('does not happen over somebody else’s newer revision that serves', async () => {
    const first = await deployed()
    await slowRuns()
    const running = run({ 'on-failure': 'rollback', verify: CHECK('Paris') })
    await walks(['DEPLOYING', 1], ['DEPLOYED', null])
    await walks(['DEPLOYED', null])
    await onceAsked(emulator, 'POST', new RegExp(`/d/${first.id}/threads$`), () => change(first.id))
    const result = await running
    expect(result.outputs['outcome']).toBe('verification-failed')
    expect(result.outputs['failure-reason']).toContain('of somebody else serves now')
    expect(await redeploys(first.id)).toEqual([])
  })

  it('does not overtake somebody else’s newer revision that is under way', async () => {
    const first = await deployed()
    await walks(['DEPLOYING', 100], ['DEPLOY_FAILED', null])
    await walks(['BUILDING', null])
    clock.stop()
    const running = run({ 'on-failure': 'rollback' })
    await onceAsked(emulator, 'PATCH', new RegExp(first.id), () => change(first.id))
    clock.pass(60_000)
    const result = await running
    expect(result.outputs['failure-reason']).toMatch(/somebody else is BUILDING/)
    expect(await redeploys(first.id)).toEqual([])
  })

  it('does not happen after superseded, nor after an error of ours', async () => {
    const first = await deployed()
    await walks(['SKIPPED', null])
    const skipped = await run({ 'on-failure': 'rollback' })
    expect(skipped.outputs['outcome']).toBe('superseded')
    await emulator.fault({
      method: 'GET',
      path: '/v2/deployments/*/revisions/*',
      effect: { status: 401, body: { detail: 'expired' } },
    })
    const refused = await run({ 'on-failure': 'rollback' })
    expect(refused.outputs['outcome']).toBe('error')
    expect(await redeploys(first.id)).toEqual([])
  })

  it('that fails itself ends with the first failure and both reasons', async () => {
    await deployed()
    await walks(['DEPLOY_FAILED', null])
    await walks(['CREATE_FAILED', null])
    const result = await run({ 'on-failure': 'rollback' })
    expect(result.outputs['outcome']).toBe('failed')
    expect(result.outputs['failure-reason']).toMatch(/DEPLOY_FAILED.*rollback did not succeed.*CREATE_FAILED/)
    expect(result.annotations.filter(({ type }) => type === 'error')).toHaveLength(1)
  })

  it('is made once when its answer is lost', async () => {
    const first = await deployed()
    await walks(['DEPLOY_FAILED', null])
    await emulator.fault({ method: 'POST', path: '/v2/**/redeploy', effect: { reset: 'after' } })
    const result = await run({ 'on-failure': 'rollback' })
    expect(result.outputs['outcome']).toBe('rolled-back')
    expect(await redeploys(first.id)).toHaveLength(1)
  })
})

it('somebody else’s revision that takes over during the checks makes ours superseded', async () => {
  const first = await deployed()
  await walks(['DEPLOYED', null])
  await walks(['DEPLOYED', null])
  await slowRuns()
  const running = run({ verify: CHECK('hi') })
  await onceAsked(emulator, 'POST', new RegExp(`/d/${first.id}/threads$`), () => change(first.id))
  const result = await running
  expect(result.exitCode).toBe(1)
  expect(result.outputs['outcome']).toBe('superseded')
  expect(JSON.parse(result.outputs['verification'] ?? '{}')).toMatchObject({ passed: 1 })
  expect(result.outputs['failure-reason']).toContain((await view(first.id)).active_revision_id)
})

describe('revision-id', () => {
  it('deploys an older revision again, waits for what that makes, and verifies it', async () => {
    const first = await deployed()
    const second = await deployed({ 'image-uri': IMAGE })
    const result = await run({ 'image-uri': '', 'revision-id': first.revision, verify: 'ready' })
    const now = await view(first.id)
    expect(result.outputs).toMatchObject({
      outcome: 'deployed',
      created: 'false',
      'deployment-id': first.id,
      'previous-revision-id': second.revision,
      'revision-id': now.active_revision_id,
      'image-uri': PINNED,
    })
    expect(JSON.parse(result.outputs['verification'] ?? '{}')).toMatchObject({ passed: 1 })
    expect(await redeploys(first.id)).toEqual([first.revision])
    expect(await requestsOf(emulator, 'PATCH', new RegExp(first.id))).toHaveLength(1)
  })

  it.each([
    ['the answer is lost', { reset: 'after' }],
    ['the answer is empty', { status: 200, body: {} }],
  ])('is made once, or once more, and never taken for the old one when %s', async (_title, effect) => {
    const first = await deployed()
    await emulator.fault({ method: 'POST', path: '/v2/**/redeploy', effect })
    const result = await run({ 'image-uri': '', 'revision-id': first.revision })
    // A scripted answer stands in place of the work: then nothing was made, and the old revision serves.
    const made = 'reset' in effect
    expect(result.outputs['outcome']).toBe('deployed')
    expect(result.outputs['revision-id'] === first.revision).toBe(!made)
    expect((await redeploys(first.id)).length).toBe(1)
  })

  it('plans without a change, and says which deployment or revision is not there', async () => {
    const first = await deployed()
    const plan = await run({ 'image-uri': '', 'revision-id': first.revision, 'dry-run': 'true' })
    expect(plan.outputs['outcome']).toBe('planned')
    expect(JSON.parse(plan.outputs['plan'] ?? '{}')).toMatchObject({ action: 'redeploy' })
    const unknown = '00000000-0000-4000-8000-000000000000'
    const missing = await run({ 'image-uri': '', 'revision-id': unknown })
    expect(missing.outputs['outcome']).toBe('error')
    expect(missing.annotations[0]?.message).toMatch(/revision-id.*no such revision/s)
    const nowhere = await run({ name: `${name}-x`, 'image-uri': '', 'revision-id': first.revision })
    expect(nowhere.annotations[0]?.message).toMatch(/revision-id.*no deployment/s)
    expect(await redeploys(first.id)).toEqual([])
  })

  it('can roll back as well', async () => {
    const first = await deployed()
    const second = await deployed({ 'image-uri': IMAGE })
    await walks(['DEPLOY_FAILED', null])
    const result = await run({ 'image-uri': '', 'revision-id': first.revision, 'on-failure': 'rollback' })
    expect(result.outputs['outcome']).toBe('rolled-back')
    expect(await redeploys(first.id)).toEqual([first.revision, second.revision])
  })
})
