import { afterEach, describe, expect, it } from '@jest/globals'
import type { Deployment } from '../../src/clients/control-plane/wire.ts'
import type { Outcome } from '../../src/deploy/errors.ts'
import { mayRollBack, type RollbackFacts, redeploy, startRollback } from '../../src/deploy/rollback.ts'
import {
  type Answer,
  type Asked,
  type ScriptedService,
  scriptedService,
} from '../helpers/scripted-service.ts'

const READ = 'GET /v2/deployments/d1'
const STOP = 'POST /v2/deployments/d1/revisions/r2/interruption'
const AGAIN = 'POST /v2/deployments/d1/revisions/r1/redeploy'

let service: ScriptedService
afterEach(() => service.close())

async function start(script: Record<string, (asked: Asked, nth: number) => Answer>): Promise<void> {
  service = await scriptedService((asked, nth) => script[asked.line]?.(asked, nth) ?? { status: 404 })
}
const deployment = (latest: string | null | undefined, active?: string | null): Answer => ({
  body: { id: 'd1', latest_revision_id: latest, active_revision_id: active },
})
const revision = (id: string, status: string): Answer => ({ body: { id, status } })
const asked = (line: string) => service.asked.filter((one) => one.line === line).length

describe('mayRollBack', () => {
  it.each<[Outcome, boolean]>([
    ['failed', true],
    ['timed-out', true],
    ['interrupted', true],
    ['verification-failed', true],
    ['superseded', false],
    ['cancelled', false],
    ['error', false],
    ['rolled-back', false],
    ['deployed', false],
  ])('%s: %s', async (outcome, expected) => {
    await start({})
    expect(mayRollBack(outcome)).toBe(expected)
  })
})

describe('redeploy', () => {
  const again = () => redeploy(service.api, { id: 'd1', latest_revision_id: 'r2' } as Deployment, 'r1', {})

  it.each<[string, Answer]>([
    ['the deployment with its new revision', deployment('r3')],
    ['the new revision', { body: { id: 'r3', status: 'CREATING' } }],
  ])('takes the new id from an answer that is %s', async (_title, answer) => {
    await start({ [AGAIN]: () => answer })
    expect(await again()).toBe('r3')
    expect(service.asked).toHaveLength(1)
  })

  it.each<[string, Answer]>([
    ['a deployment as it was', deployment('r2')],
    ['a deployment without revisions', { body: { id: 'd1' } }],
    ['the old revision', { body: { id: 'r1', status: 'DEPLOYED' } }],
    ['empty', { body: {} }],
    ['no JSON', { body: '' }],
    ['lost', 'reset'],
  ])(
    'reads the deployment when the answer is %s: the old revision is DEPLOYED already',
    async (_title, answer) => {
      await start({ [AGAIN]: () => answer, [READ]: (_asked, nth) => deployment(nth === 1 ? 'r2' : 'r3') })
      expect(await again()).toBe('r3')
      expect(asked(AGAIN)).toBe(1)
    },
  )

  it('keeps the id where the service makes no new one', async () => {
    await start({ [AGAIN]: () => deployment('r2'), [READ]: () => deployment('r2') })
    expect(await again()).toBe('r1')
  })

  it('is sent once more when it was lost and made nothing', async () => {
    await start({
      [AGAIN]: (_asked, nth) => (nth === 1 ? 'reset' : deployment('r3')),
      [READ]: () => deployment('r2'),
    })
    expect(await again()).toBe('r3')
    expect(asked(AGAIN)).toBe(2)
  })

  it('a refusal is thrown', async () => {
    await start({ [AGAIN]: () => ({ status: 400, body: { detail: 'no image' } }) })
    await expect(again()).rejects.toMatchObject({ status: 400 })
  })
})

describe('startRollback', () => {
  const facts = (part: Partial<RollbackFacts> = {}): RollbackFacts => ({
    api: service.api,
    deploymentId: 'd1',
    ourRevisionId: 'r2',
    latestBefore: 'r1',
    previousRevisionId: 'r1',
    previousServed: true,
    stillWalks: false,
    log: service.log,
    ...part,
  })
  const world = (active: string | null | undefined, latest = 'r2', statuses: Record<string, string> = {}) =>
    start({
      [READ]: () => deployment(latest, active),
      [AGAIN]: () => deployment('r9'),
      'GET /v2/deployments/d1/revisions/r1': () => revision('r1', statuses['r1'] ?? 'DEPLOYED'),
      'GET /v2/deployments/d1/revisions/r3': () => revision('r3', statuses['r3'] ?? 'BUILDING'),
    })

  it.each([
    ['ours serves', 'r2'],
    ['the one before serves', 'r1'],
    ['none serves', null],
    ['the service does not tell', undefined],
  ])('redeploys while %s', async (_title, active) => {
    await world(active)
    expect(await startRollback(facts())).toBe('r9')
  })

  it.each([{ status: 202 }, { status: 400 }, 'reset' as const])(
    'interrupts ours first where it still walks, whether that works or not (%j)',
    async (answer) => {
      await start({
        [READ]: () => deployment('r2', 'r1'),
        [AGAIN]: () => deployment('r9'),
        [STOP]: () => answer,
        'GET /v2/deployments/d1/revisions/r1': () => revision('r1', 'DEPLOYED'),
      })
      expect(await startRollback(facts({ stillWalks: true }))).toBe('r9')
      expect(service.asked.map(({ line }) => line).slice(-2)).toEqual([STOP, AGAIN])
    },
  )

  it('goes over a newer one that has failed', async () => {
    await world('r1', 'r3', { r3: 'BUILD_FAILED' })
    expect(await startRollback(facts())).toBe('r9')
  })

  it.each([
    ['nothing was there before', 'r2', 'r2', { previousRevisionId: undefined }, /no revision served/],
    ['the one before is ours', 'r2', 'r2', { previousRevisionId: 'r2' }, /is the one that was deployed/],
    ['a newer one serves', 'r3', 'r3', {}, /r3 of somebody else serves/],
    ['a newer one is under way', 'r1', 'r3', {}, /r3 of somebody else is BUILDING/],
  ])('does not when %s', async (_title, active, latest, part, words) => {
    await world(active, latest)
    await expect(startRollback(facts({ ...part, stillWalks: true }))).rejects.toThrow(words)
    expect(asked(AGAIN) + asked(STOP)).toBe(0)
  })

  it('does not when the one before is not known to have served, and is not DEPLOYED', async () => {
    await world(undefined, 'r2', { r1: 'DEPLOY_FAILED' })
    await expect(startRollback(facts({ previousServed: false }))).rejects.toThrow(/never served/)
    await service.close()
    await world(undefined)
    expect(await startRollback(facts({ previousServed: false }))).toBe('r9')
  })
})
