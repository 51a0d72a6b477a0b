import { describe, expect, it } from '@jest/globals'
import type { TestEmulator } from '../../helpers/emulator.ts'
import { deploy, withEmulator } from './support.ts'

let emulator: TestEmulator
let name = ''

withEmulator('cancel', (one, fresh) => {
  emulator = one
  name = fresh
})

/** Settles once the emulator was asked for this path. */
async function asked(method: string, path: RegExp): Promise<void> {
  const before = (await emulator.state()).requests.length
  for (;;) {
    const { requests } = await emulator.state()
    if (requests.slice(before).some((request) => request.method === method && path.test(request.path))) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

describe.each(['SIGINT', 'SIGTERM'] as const)('%s', (signal) => {
  it('in the middle of the wait ends within 5 s, red, with the outputs known so far', async () => {
    await emulator.scenario({ deployment: name, statuses: [['BUILDING', null]] })
    const result = await deploy(emulator, { name }, { signalAfter: { signal, stdout: /BUILDING/ } })
    expect(result.exitCode).toBe(1)
    expect(result.msAfterSignal).toBeLessThan(5000)
    expect(result.outputs).toMatchObject({
      outcome: 'cancelled',
      created: 'true',
      'revision-status': 'BUILDING',
    })
    expect(result.outputs['revision-id']).not.toBe('')
    expect(result.annotations.filter((annotation) => annotation.type === 'error')).toHaveLength(1)
    expect(result.summary.split('\n')[0]).toMatch(/cancel/i)
  })

  it.each([
    ['the look-up', 'GET', '/v2/deployments', /^\/v2\/deployments$/],
    ['the create', 'POST', '/v2/deployments', /^\/v2\/deployments$/],
    ['a poll', 'GET', '/v2/deployments/*/revisions/*', /revisions/],
  ])('while %s hangs ends within 5 s', async (_title, method, path, seen) => {
    await emulator.fault({ method, path, times: 1, effect: { delayMs: 60_000 } })
    const result = await deploy(emulator, { name }, { signalAfter: { signal, until: asked(method, seen) } })
    expect(result.endedBy).toBeNull()
    expect(result.exitCode).toBe(1)
    expect(result.msAfterSignal).toBeLessThan(5000)
    expect(result.outputs['outcome']).toBe('cancelled')
  })
})

it('a run after a cancelled one converges: the same deployment, live', async () => {
  await emulator.scenario({ deployment: name, statuses: [['BUILDING', null]] })
  const first = await deploy(emulator, { name }, { signalAfter: { stdout: /BUILDING/ } })
  expect(first.outputs['outcome']).toBe('cancelled')
  // The stuck revision blocks the queue until somebody interrupts it.
  await emulator.call(
    'POST',
    `/v2/deployments/${first.outputs['deployment-id']}/revisions/${first.outputs['revision-id']}/interruption`,
  )
  const second = await deploy(emulator, { name })
  expect(second.outputs).toMatchObject({
    outcome: 'deployed',
    created: 'false',
    'deployment-id': first.outputs['deployment-id'],
  })
})

it('interrupt-on-cancel interrupts the revision of this run', async () => {
  await emulator.scenario({ deployment: name, statuses: [['BUILDING', null]] })
  const result = await deploy(
    emulator,
    { name, 'interrupt-on-cancel': 'true' },
    { signalAfter: { stdout: /BUILDING/ } },
  )
  const revision = (await emulator.state()).revisions.find(
    (entry) => entry['id'] === result.outputs['revision-id'],
  )
  expect(result.outputs['outcome']).toBe('cancelled')
  expect(revision?.['status']).toBe('INTERRUPTED')
  expect(result.msAfterSignal).toBeLessThan(5000)
})

it('interrupt-on-cancel interrupts when the time runs out, too', async () => {
  await emulator.scenario({ deployment: name, statuses: [['BUILDING', null]] })
  const result = await deploy(emulator, { name, 'interrupt-on-cancel': 'true', 'timeout-minutes': '0.01' })
  const revision = (await emulator.state()).revisions.find(
    (entry) => entry['id'] === result.outputs['revision-id'],
  )
  expect(result.outputs['outcome']).toBe('timed-out')
  expect(revision?.['status']).toBe('INTERRUPTED')
})
