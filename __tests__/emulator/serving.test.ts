import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import type { EmulatorOptions } from '../../src/emulator/server.ts'
import { HandClock, startTestEmulator, type TestEmulator } from '../helpers/emulator.ts'
import { DOCKER } from './bodies.ts'

const IMAGE_SECONDS = 26

let clock: HandClock
let emulator: TestEmulator

async function start(options: EmulatorOptions = {}): Promise<void> {
  emulator = await startTestEmulator({ speed: 1, now: clock.now, ...options })
}

beforeEach(async () => {
  clock = new HandClock()
})

afterEach(() => emulator.close())

async function live(): Promise<string> {
  const { body } = await emulator.call('POST', '/v2/deployments', DOCKER)
  clock.pass(IMAGE_SECONDS)
  return body.id
}

function run(id: string, more: object): Promise<Response> {
  return fetch(`${emulator.controlPlaneUrl}/d/${id}/runs/stream`, {
    method: 'POST',
    headers: { ...emulator.headers, 'content-type': 'application/json' },
    body: JSON.stringify({
      input: { messages: [{ role: 'user', content: 'hi' }] },
      stream_mode: 'updates',
      ...more,
    }),
  })
}

describe('the agent server of a deployment', () => {
  it('is there when the first revision is live: 404, then 502, then the server', async () => {
    await start()
    const { body } = await emulator.call('POST', '/v2/deployments', DOCKER)
    const ok = async () => (await emulator.call('GET', `/d/${body.id}/ok`)).status
    expect(await ok()).toBe(404)
    clock.pass(10)
    expect(await ok()).toBe(502)
    clock.pass(IMAGE_SECONDS - 10)
    expect(await ok()).toBe(200)
    await emulator.call('DELETE', `/v2/deployments/${body.id}`)
    expect(await ok()).toBe(404)
    expect((await emulator.call('GET', '/d/nobody/ok')).status).toBe(404)
  })

  it('asks for the same key, but for the open routes', async () => {
    await start()
    const id = await live()
    const ask = async (path: string, headers: Record<string, string>) => {
      const response = await fetch(`${emulator.controlPlaneUrl}/d/${id}${path}`, { headers })
      return [response.status, await response.json()]
    }
    expect((await ask('/info', {}))[0]).toBe(200)
    expect(await ask('/assistants/x', {})).toEqual([403, { detail: 'Missing authentication headers' }])
    expect(await ask('/assistants/x', { 'x-api-key': 'other' })).toEqual([403, { detail: 'Invalid token' }])
    expect((await ask('/assistants/x', emulator.headers))[0]).not.toBe(403)
  })

  it('keeps its threads over a new revision, and names the new one', async () => {
    await start()
    const id = await live()
    const { body: thread } = await emulator.call('POST', `/d/${id}/threads`, {})
    const change = { source_revision_config: { image_uri: 'registry.example/agent:2' } }
    const { body } = await emulator.call('PATCH', `/v2/deployments/${id}`, change)
    const named = async () => (await emulator.call('GET', `/d/${id}/info`)).body.host
    expect((await named()).host_revision_id).not.toBe(body.latest_revision_id)
    clock.pass(IMAGE_SECONDS)
    expect(await named()).toMatchObject({ project_id: id, host_revision_id: body.latest_revision_id })
    expect((await emulator.call('GET', `/d/${id}/threads/${thread.thread_id}`)).status).toBe(200)
  })

  it('is another one for every deployment', async () => {
    await start()
    const id = await live()
    const { body: thread } = await emulator.call('POST', `/d/${id}/threads`, {})
    const { body: other } = await emulator.call('POST', '/v2/deployments', { ...DOCKER, name: 'other' })
    clock.pass(IMAGE_SECONDS)
    expect((await emulator.call('GET', `/d/${other.id}/threads/${thread.thread_id}`)).status).toBe(404)
  })

  it('ends its runs and streams when its deployment is gone', async () => {
    await start()
    const id = await live()
    const response = await run(id, { assistant_id: 'slow' })
    await emulator.call('DELETE', `/v2/deployments/${id}`)
    clock.pass(4)
    expect((await emulator.call('GET', `/v2/deployments/${id}`)).status).toBe(404)
    const text = await response.text()
    expect(text).not.toContain('slow done')
  })

  it('streams: the first event is there while the run goes on', async () => {
    await start()
    const response = await run(await live(), { assistant_id: 'slow' })
    expect(response.headers.get('content-length')).toBeNull()
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const first = await reader.read()
    expect(Buffer.from(first.value ?? []).toString()).toContain('event: metadata')
    await reader.cancel()
  })

  it('mints feedback URLs that need no key and are read back', async () => {
    await start()
    const response = await run(await live(), { assistant_id: 'agent', feedback_keys: ['user_score'] })
    const url = /"user_score":"([^"]+)"/.exec(await response.text())?.[1] ?? ''
    expect(url.startsWith(`${emulator.controlPlaneUrl}/api/v1/feedback/tokens/`)).toBe(true)
    const submitted = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ score: 1 }),
    })
    expect(submitted.status).toBe(200)
    expect((await emulator.state()).feedback).toMatchObject([{ key: 'user_score', score: 1 }])
  })

  it('cannot mint with --no-feedback', async () => {
    await start({ feedback: false })
    const response = await run(await live(), { assistant_id: 'agent', feedback_keys: ['user_score'] })
    const text = await response.text()
    expect(text).toContain('event: error')
    expect(text).not.toContain('event: feedback')
  })

  it('is the one that the options say', async () => {
    await start({ profile: 'js', agentVersion: '0.4.20' })
    const id = await live()
    expect((await emulator.call('GET', `/d/${id}/info`)).body).toHaveProperty('langgraph_js_version')
  })
})

describe('the end', () => {
  it('comes at once, with streams still open', async () => {
    await start()
    const response = await run(await live(), { assistant_id: 'slow' })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    const { controlPlaneUrl } = emulator
    await emulator.close()
    await expect(fetch(`${controlPlaneUrl}/openapi.json`)).rejects.toThrow()
    await reader.cancel().catch(() => {})
    await start()
  })
})
