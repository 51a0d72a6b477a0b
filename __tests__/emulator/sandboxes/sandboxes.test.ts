import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { Hono } from 'hono'
import { SandboxStore } from '../../../src/emulator/sandboxes/index.ts'
import { type Served, serveFetch } from '../../helpers/serve.ts'

const START = Date.parse('2026-11-21T08:00:00.000Z')
const FIELDS = [
  'id',
  'name',
  'template_name',
  'status',
  'status_message',
  'dataplane_url',
  'created_at',
  'updated_at',
]

let nowMs = START
let store: SandboxStore
let server: Served
let base: string

beforeEach(async () => {
  nowMs = START
  let made = 0
  const speed = 10
  store = new SandboxStore({
    clock: { now: () => nowMs, elapsed: (since) => ((nowMs - since) / 1000) * speed },
    newId: () => `id-${++made}`,
    authenticate: (headers) =>
      headers.get('x-api-key') === 'key'
        ? undefined
        : Response.json({ detail: 'Forbidden' }, { status: 403 }),
  })
  const app = new Hono()
  store.routes(app)
  server = await serveFetch((request) => app.fetch(request))
  base = server.url
})

afterEach(() => server.close())

async function read(name: string, prefix = '') {
  const answer = await fetch(`${base}${prefix}/v2/sandboxes/boxes/${name}`, {
    headers: { 'x-api-key': 'key' },
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

describe('reading a sandbox', () => {
  it('starts with box-1, which becomes ready, told by all eight fields on both paths', async () => {
    const before = await read('box-1')
    expect(before.status).toBe(200)
    expect(Object.keys(before.body)).toEqual(FIELDS)
    expect(before.body).toMatchObject({ name: 'box-1', status: 'provisioning', status_message: '' })
    nowMs = START + 600
    const after = await read('box-1', '/api')
    expect(after.body).toMatchObject({ id: before.body.id, status: 'ready', status_message: '' })
    expect(after.body.dataplane_url).toBe(`${base}/sandboxes/${after.body.id}`)
    expect(after.body.created_at).toBe(before.body.created_at)
    expect(after.body.updated_at).toBe('2026-11-21T08:00:00.600Z')
  })

  it('starts with box-failed, which says why', async () => {
    const { body } = await read('box-failed')
    expect(body.status).toBe('failed')
    expect(body.status_message).toMatch(/\S/)
  })

  it('answers 404 as the interface document has it', async () => {
    expect(await read('no%20such%2Fbox')).toEqual({
      status: 404,
      body: { detail: { error: 'NotFound', message: "Sandbox 'no such/box' not found" } },
    })
  })

  it('refuses a name that is too long with a validation error', async () => {
    const { status, body } = await read('x'.repeat(256))
    expect(status).toBe(422)
    expect(body).toMatchObject({ detail: [{ type: 'string_too_long', loc: ['path', 'name'] }] })
  })

  it('asks for a credential first, and only reads', async () => {
    expect((await fetch(`${base}/v2/sandboxes/boxes/no-such-box`)).status).toBe(403)
    expect((await fetch(`${base}/v2/sandboxes/boxes/box-1`, { method: 'DELETE' })).status).toBe(405)
  })
})

describe('a scripted sandbox', () => {
  it('walks by the emulator clock, keeps the last status, and hides the message until it fails', async () => {
    store.script({
      name: 'scripted',
      template_name: 'node-22',
      statuses: [
        ['provisioning', 3],
        ['warming', 2],
        ['failed', null],
      ],
      status_message: 'no capacity',
    })
    const seen: unknown[] = []
    for (const realMs of [0, 299, 300, 499, 500, 100_000]) {
      nowMs = START + realMs
      const { body } = await read('scripted')
      seen.push([body.status, body.status_message])
      expect(body.template_name).toBe('node-22')
    }
    expect(seen).toEqual([
      ['provisioning', ''],
      ['provisioning', ''],
      ['warming', ''],
      ['warming', ''],
      ['failed', 'no capacity'],
      ['failed', 'no capacity'],
    ])
  })

  it('replaces one of the same name, and stays in a last status that has a time', async () => {
    const before = await read('box-1')
    store.script({ name: 'box-1', statuses: [['ready', 1]] })
    nowMs = START + 10_000
    const after = await read('box-1')
    expect(after.body.status).toBe('ready')
    expect(after.body.id).not.toBe(before.body.id)
    expect(store.entries('http://x').map((entry) => entry.name)).toEqual(['box-1', 'box-failed'])
  })

  it('needs a status', () => {
    expect(() => store.script({ name: 'empty', statuses: [] })).toThrow('needs at least one status')
  })
})
