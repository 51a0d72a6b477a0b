import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { startTestEmulator, type TestEmulator } from '../../helpers/emulator.ts'
import { deploy, IMAGE } from './support.ts'

let emulator: TestEmulator
let count = 0
beforeAll(async () => {
  emulator = await startTestEmulator()
})
afterAll(() => emulator.close())

/** An update whose polls have this fault. All of these wait for real seconds, so they run side by side. */
async function update(effect: object, times: number, inputs: Record<string, string> = {}) {
  const name = `slow-${++count}`
  const first = await deploy(emulator, { name })
  const path = `/v2/deployments/${first.outputs['deployment-id']}/revisions/*`
  await emulator.fault({ method: 'GET', path, times, effect })
  const result = await deploy(emulator, { name, ...inputs })
  expect(result.timedOut).toBe(false)
  return result
}

describe('polls that take their time', () => {
  it('do not decide what a later one tells, and never hold the job much beyond its time', async () => {
    const soon = { 'timeout-minutes': '0.05' }
    const [hung, endless, trickling, forever] = await Promise.all([
      update({ delayMs: 60_000 }, 1, soon),
      update({ stream: 'endless' }, 1, soon),
      update({ trickleMs: 3 }, 2),
      update({ delayMs: 60_000 }, 99, soon),
    ])
    for (const result of [hung, endless, trickling]) expect(result.outputs['outcome']).toBe('deployed')
    expect(forever.outputs['outcome']).toBe('timed-out')
    expect(forever.outputs['failure-reason']).toContain('no status of it could be read')
    expect(forever.ms).toBeLessThan(20_000)
  })
})

it('a revision of somebody else, which an answer named as ours, is superseded', async () => {
  const name = `race-${++count}`
  const first = await deploy(emulator, { name })
  const id = first.outputs['deployment-id']
  const theirs = { source_revision_config: { image_uri: IMAGE.replace('1.0.0', '9.9.9') } }
  const { body } = await emulator.call('PATCH', `/v2/deployments/${id}`, theirs)
  // Both changes came at the same moment: our look-up saw neither, our answer names their revision.
  const before = { ...body, latest_revision_id: first.outputs['revision-id'] }
  const path = `/v2/deployments/${id}`
  await emulator.fault({ method: 'GET', path, times: 1, effect: { status: 200, body: before } })
  await emulator.fault({ method: 'PATCH', path, times: 1, effect: { status: 200, body } })
  const result = await deploy(emulator, { name })
  expect(result.exitCode).toBe(1)
  expect(result.outputs['outcome']).toBe('superseded')
  expect(result.outputs['failure-reason']).toContain('another image')
})
