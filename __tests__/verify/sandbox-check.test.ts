import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Finding } from '../../src/verify/types.ts'
import { startTestEmulator, type TestEmulator } from '../helpers/emulator.ts'
import { deployAgent, type LiveAgent, verifyAgent } from '../helpers/live-agent.ts'

let emulator: TestEmulator
let agent: LiveAgent

beforeAll(async () => {
  emulator = await startTestEmulator()
  agent = await deployAgent(emulator)
})
afterAll(() => emulator.close())

async function check(
  sandbox: string,
  more: { key?: string; service?: boolean; timeoutMs?: number } = {},
): Promise<Finding> {
  const report = await verifyAgent({
    target: {
      url: agent.url,
      headers: { 'x-api-key': emulator.apiKey },
      ...(more.service === false
        ? {}
        : {
            sandbox: {
              url: new URL(emulator.sandboxUrl),
              headers: { 'x-api-key': more.key ?? emulator.apiKey },
            },
          }),
    },
    checks: `checks: [{ name: box, sandbox: ${sandbox} }]`,
    options: { timeoutMs: more.timeoutMs ?? 10_000 },
  })
  return report.find('box')
}

async function make(name: string, statuses: [string, number | null][], message?: string): Promise<void> {
  const more = message === undefined ? {} : { status_message: message }
  const answer = await emulator.call('POST', '/_emulator/scenarios', { sandbox: { name, statuses, ...more } })
  expect(answer.status).toBe(201)
}

describe('a sandbox check', () => {
  it('waits until the sandbox is ready', async () => {
    await make('walks', [
      ['provisioning', 60],
      ['booting', 60],
      ['ready', null],
    ])
    expect(await check('{ name: walks, expect: { status: ready } }')).toMatchObject({
      verdict: 'passed',
      reason: '',
    })
  })

  it('takes another status that is wanted', async () => {
    await make('halted', [['stopped', null]])
    expect(await check('{ name: halted, expect: { status: stopped } }')).toMatchObject({ verdict: 'passed' })
  })

  it('fails at once, and keeps apart what the service says', async () => {
    await make('broken', [['failed', null]], 'no such image')
    const finding = await check('{ name: broken }')
    expect(finding).toMatchObject({
      verdict: 'failed',
      reason: 'Sandbox "broken" is failed',
      said: 'no such image',
    })
    expect(finding.hint).toContain('template')
    expect(finding.seconds).toBeLessThan(5)
  })

  it('tells that there is none', async () => {
    const finding = await check('{ name: no such box }')
    expect(finding).toMatchObject({ verdict: 'failed', reason: 'There is no sandbox "no such box" (404)' })
    expect(finding.hint).toContain('Create the sandbox')
  })

  it('tells a refused key of this service apart from the deployment’s', async () => {
    const finding = await check('{ name: box-1 }', { key: 'wrong' })
    expect(finding.reason).toBe('The sandbox service answered 403')
    expect(finding.hint).toContain('key was refused')
  })

  it('ends by its time', async () => {
    await make('slow', [['provisioning', null]])
    const finding = await check('{ name: slow, expect: { within-seconds: 0.3 } }')
    expect(finding.reason).toBe('Sandbox "slow" was not ready within 0.3 s; its status is provisioning')
  })

  it('is a finding where no sandbox service is known', async () => {
    expect((await check('{ name: box-1 }', { service: false })).hint).toContain('sandbox-url')
  })
})
