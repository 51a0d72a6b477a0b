import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { getSandbox } from '../../../src/clients/sandboxes/sandboxes.ts'
import { SandboxError, waitForSandbox } from '../../../src/clients/sandboxes/wait.ts'
import { type HttpError, ProtocolError, RedirectError } from '../../../src/http/errors.ts'
import type { Transport } from '../../../src/http/transport.ts'
import { type Replay, type Reply, startReplay, testTransport } from '../../helpers/replay.ts'

let replay: Replay
let transport: Transport
let controller: AbortController
let queue: Reply[]
let last: Reply

beforeEach(async () => {
  queue = []
  last = { status: 500, body: '' }
  controller = new AbortController()
  transport = testTransport(controller.signal)
  replay = await startReplay(() => queue.shift() ?? last)
})

afterEach(async () => {
  await transport.close()
  await replay.close()
})

const service = () => ({ transport, url: replay.url, headers: { 'x-api-key': 'key', 'x-tenant-id': 'ws' } })
const box = (status: string, more: object = {}): Reply => ({
  status: 200,
  body: JSON.stringify({ name: 'box', status, ...more }),
})
const options = () => ({ deadline: Date.now() + 10_000 })

async function failure(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: Error) => error,
  )
}

function wait(more: { wanted?: string; timeoutMs?: number; seen?: string[] } = {}) {
  const timeoutMs = more.timeoutMs ?? 10_000
  return waitForSandbox(service(), 'box', {
    wanted: more.wanted ?? 'ready',
    deadline: Date.now() + timeoutMs,
    timeoutMs,
    clock: transport.clock,
    signal: controller.signal,
    onStatus: ({ status }) => more.seen?.push(status),
  })
}

describe('reading a sandbox', () => {
  it('gives all eight fields and sends key and workspace', async () => {
    queue = [
      box('ready', {
        id: 'i',
        template_name: 't',
        status_message: 'm',
        dataplane_url: 'https://d',
        created_at: 'c',
        updated_at: 'u',
        more: true,
      }),
    ]
    expect(await getSandbox(service(), 'box', options())).toEqual({
      id: 'i',
      name: 'box',
      templateName: 't',
      status: 'ready',
      statusMessage: 'm',
      dataplaneUrl: 'https://d',
      createdAt: 'c',
      updatedAt: 'u',
    })
    expect(replay.seen[0]).toMatchObject({ method: 'GET', path: '/v2/sandboxes/boxes/box' })
    expect(replay.seen[0]?.headers).toMatchObject({ 'x-api-key': 'key', 'x-tenant-id': 'ws' })
  })

  it('needs only name and status', async () => {
    queue = [box('provisioning', { dataplane_url: null })]
    expect(await getSandbox(service(), 'box', options())).toMatchObject({
      status: 'provisioning',
      dataplaneUrl: '',
    })
  })

  it.each([
    ['a/b', '/v2/sandboxes/boxes/a%2Fb'],
    ['ü 1?x#y', '/v2/sandboxes/boxes/%C3%BC%201%3Fx%23y'],
    ['%2e', '/v2/sandboxes/boxes/%252e'],
  ])('percent-encodes the name %p', async (name, path) => {
    queue = [box('ready')]
    await getSandbox(service(), name, options())
    expect(replay.seen[0]?.path).toBe(path)
  })

  it.each(['.', '..', ''])('asks for no %p', async (name) => {
    await expect(getSandbox(service(), name, options())).rejects.toThrow('cannot be the name')
    expect(replay.seen).toHaveLength(0)
  })

  it.each(['{"name":"box"}', '{"status":"ready"}', '[]', 'null', '{"name":"box","status":""}'])(
    'takes %s for no sandbox',
    async (body) => {
      queue = [{ status: 200, body }]
      await expect(getSandbox(service(), 'box', options())).rejects.toThrow(ProtocolError)
    },
  )

  it.each([
    [404, 'No sandbox of this name'],
    [403, 'key was refused'],
    [422, 'refuses the name'],
  ])('says what to do about %d', async (status, hint) => {
    queue = [{ status, body: '{"detail":{"error":"NotFound","message":"gone"}}' }]
    const error = (await failure(getSandbox(service(), 'box', options()))) as HttpError
    expect(error).toMatchObject({ status, detail: 'NotFound: gone' })
    expect(error.hint).toContain(hint)
  })

  it('follows no redirect', async () => {
    queue = [{ status: 302, headers: { location: 'https://evil.example/' }, body: '' }]
    await expect(getSandbox(service(), 'box', options())).rejects.toThrow(RedirectError)
  })
})

describe('waiting for a sandbox', () => {
  it('walks to ready, past words that nobody knows, and tells each change', async () => {
    queue = [box('provisioning'), box('provisioning'), box('booting'), box('ready')]
    const seen: string[] = []
    expect((await wait({ seen })).status).toBe('ready')
    expect(seen).toEqual(['provisioning', 'booting', 'ready'])
  })

  it.each(['failed', 'stopped', 'deleting'])('ends at once when it is %s', async (status) => {
    queue = [box('provisioning'), box(status, { status_message: 'because' })]
    last = box('ready')
    const error = (await failure(wait())) as SandboxError
    expect(error).toBeInstanceOf(SandboxError)
    expect(error.message).toBe(`Sandbox "box" is ${status}: because`)
    expect(error.reason).toBe(`Sandbox "box" is ${status}`)
    expect(error.sandbox?.status).toBe(status)
    expect(replay.seen).toHaveLength(2)
  })

  it('takes a dead end that was wanted', async () => {
    queue = [box('stopped')]
    expect((await wait({ wanted: 'stopped' })).status).toBe('stopped')
  })

  it('ends at once when there is none', async () => {
    last = { status: 404, body: '{"detail":{"error":"NotFound","message":"no"}}' }
    expect(await failure(wait())).toMatchObject({ status: 404 })
    expect(replay.seen).toHaveLength(1)
  })

  it('bears failed polls', async () => {
    queue = [box('provisioning'), { status: 503, body: '' }, { status: 500, body: '' }]
    last = box('ready')
    expect((await wait()).status).toBe('ready')
  })

  it('gives up when polls fail for good', async () => {
    expect(await failure(wait({ timeoutMs: 20_000 }))).toMatchObject({ status: 500 })
  })

  it('says what it was at the deadline, but not an unknown sentence', async () => {
    last = box('waiting for\na node', { status_message: 'soon' })
    const error = (await failure(wait({ timeoutMs: 300 }))) as SandboxError
    expect(error.reason).toBe(
      'Sandbox "box" was not ready within 0.3 s; its status is a word that nobody here knows',
    )
    expect(error.message).toContain('soon')
  })

  it('stops when the job is cancelled', async () => {
    last = box('provisioning')
    const work = failure(wait())
    setTimeout(() => controller.abort(new Error('cancelled by the test')), 60)
    expect((await work).message).toBe('cancelled by the test')
  })
})
