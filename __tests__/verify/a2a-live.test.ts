import { afterEach, describe, expect, it } from '@jest/globals'
import type { EmulatorOptions } from '../../src/emulator/server.ts'
import { startTestEmulator, type TestEmulator } from '../helpers/emulator.ts'
import { deployAgent, type Verified, verifyAgent } from '../helpers/live-agent.ts'

const open: TestEmulator[] = []

afterEach(async () => {
  for (const emulator of open.splice(0)) await emulator.close()
})

async function verified(
  options: EmulatorOptions,
  checks: string,
): Promise<{ report: Verified; emulator: TestEmulator }> {
  const emulator = await startTestEmulator(options)
  open.push(emulator)
  const { url } = await deployAgent(emulator)
  const target = { url, headers: { 'x-api-key': emulator.apiKey } }
  return { report: await verifyAgent({ target, checks }), emulator }
}

const talk = (method: string, more = '') =>
  `checks: [{ name: talk, a2a: { method: ${method}, messages: [Hello, And again]${more} } }]`

describe('A2A checks against a live server', () => {
  it.each([
    ['1.0', 'accept', 'send'],
    ['1.0', 'accept', 'stream'],
    ['1.0', 'reject', 'send'],
    ['1.0', 'reject', 'stream'],
    ['0.3', 'accept', 'send'],
  ] as const)('pass over A2A %s, terminal tasks %s, by %s', async (a2a, terminalTasks, method) => {
    const checks = talk(method, ', expect: { text: "And again (seen 2)" }')
    const { report, emulator } = await verified({ a2a, terminalTasks }, checks)
    expect(report.find('talk')).toMatchObject({ verdict: 'passed', reason: '' })
    const { requests } = await emulator.state()
    const calls = requests.flatMap(({ path, body }) => {
      const { method: called, params } = (body ?? {}) as { method?: string; params?: { message?: object } }
      return path.includes('/a2a/') ? [{ called, message: params?.message }] : []
    })
    expect(calls.length).toBe(terminalTasks === 'reject' ? 4 : 3)
    expect(calls[0]?.message).not.toHaveProperty('contextId')
    expect(calls[0]?.message).not.toHaveProperty('taskId')
    expect(calls[1]?.message).toHaveProperty('taskId')
    expect(calls.at(-1)?.called).toBe('tasks/get')
    expect(requests.some(({ method: verb, path }) => verb === 'DELETE' && path.includes('/threads/'))).toBe(
      true,
    )
  })

  it('are satisfied by one streamed message of 0.3, whose context is lost, with a warning', async () => {
    const checks =
      'checks: [{ name: talk, a2a: { method: stream, messages: [Hello], expect: { text: Hello } } }]'
    const { report } = await verified({ a2a: '0.3' }, checks)
    expect(report.find('talk')).toMatchObject({ verdict: 'passed' })
    expect(report.find('talk').warnings?.join()).toContain('without a contextId')
  })

  it('answer a question by the next message', async () => {
    const checks =
      'checks: [{ name: talk, a2a: { assistant: interrupting, messages: [go, yes], expect: { text: "resumed with \'yes\'" } } }]'
    const { report } = await verified({}, checks)
    expect(report.find('talk')).toMatchObject({ verdict: 'passed', reason: '' })
  })

  it.each([
    ['switched off', { disableA2a: true }, talk('send'), /^A2A is not offered.*404/],
    [
      'too old',
      { agentVersion: '0.4.20' },
      talk('send'),
      /^A2A is not offered: the agent server is version 0\.4\.20/,
    ],
    ['the JavaScript server', { profile: 'js' }, talk('send'), /JavaScript/],
    ['without messages', {}, talk('send', ', assistant: nomessages'), /no `messages` key/],
    ['that raises', {}, talk('stream', ', assistant: failing'), /^Message 1 of 2: the task failed/],
    ['that asks', {}, talk('send', ', assistant: interrupting').replace(', And again', ''), /stopped to ask/],
    ['of another graph', {}, talk('send', ', assistant: nobody'), /no graph or assistant "nobody"/],
  ] as const)('tell a server or an assistant %s', async (_, options, checks, reason) => {
    const { report } = await verified(options, checks)
    const finding = report.find('talk')
    expect(finding.verdict).toBe('failed')
    expect(finding.reason).toMatch(reason)
    expect(finding.hint).not.toBeUndefined()
  })
})
