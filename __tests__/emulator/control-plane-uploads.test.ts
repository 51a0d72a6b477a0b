import { request } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { type Answer, HandClock, startTestEmulator, type TestEmulator } from '../helpers/emulator.ts'
import { archiveOf, PROJECT, tarOf } from './archives.ts'
import { DOCKER, PUSHED, UPLOADED } from './bodies.ts'

const BUILD_SECONDS = 59
const RANGE = { 'X-Goog-Content-Length-Range': '0,209715200' }

let clock: HandClock
let emulator: TestEmulator

beforeEach(async () => {
  clock = new HandClock()
  emulator = await startTestEmulator({ speed: 1, now: clock.now })
})

afterEach(() => emulator.close())

async function place(): Promise<{ id: string; url: string; path: string }> {
  const { body } = await emulator.call('POST', '/v2/deployments', UPLOADED)
  const { body: given } = await emulator.call('POST', `/v2/deployments/${body.id}/upload-url`)
  return { id: body.id, url: given.upload_url, path: given.object_path }
}

/** No key: a signed URL needs none. */
function put(url: string, content: Buffer, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/gzip', ...RANGE, ...headers },
    body: new Uint8Array(content),
  })
}

function deploy(id: string, path: string, config = 'langgraph.json'): Promise<Answer> {
  return emulator.call('PATCH', `/v2/deployments/${id}`, {
    revision_source: 'internal_source',
    source_revision_config: { source_tarball_path: path, langgraph_config_path: config },
    secrets: UPLOADED.secrets,
  })
}

async function outcome(id: string, revision: string): Promise<{ status: string; log: string }> {
  clock.pass(BUILD_SECONDS)
  const { body } = await emulator.call('GET', `/v2/deployments/${id}/revisions/${revision}`)
  const logs = await emulator.call('POST', `/v1/projects/${id}/revisions/${revision}/build_logs`, {
    level: 'ERROR',
  })
  return {
    status: body.status,
    log: logs.body.logs.map(({ message }: { message: string }) => message).join('\n'),
  }
}

describe('an upload', () => {
  it('goes in without a key, and is served when it was built', async () => {
    const { id, url, path } = await place()
    expect(new URL(url).origin).toBe(emulator.controlPlaneUrl)
    expect((await put(url, archiveOf(PROJECT))).status).toBe(200)
    const { status, body } = await deploy(id, path)
    expect([status, body.source_revision_config.source_tarball_path]).toEqual([200, path])
    expect(await outcome(id, body.latest_revision_id)).toEqual({ status: 'DEPLOYED', log: '' })
    const found = await emulator.call('POST', `/d/${id}/assistants/search`, {})
    expect(found.body.map(({ graph_id: graph }: { graph_id: string }) => graph)).toEqual(['helper'])
    const { body: uploads } = await emulator.call('GET', '/_emulator/uploads')
    const kept = await fetch(`${emulator.controlPlaneUrl}/_emulator/uploads/${uploads[0]?.id}`)
    expect(Buffer.from(await kept.arrayBuffer())).toEqual(archiveOf(PROJECT))
  })

  it('that brings other graphs keeps the threads and assistants', async () => {
    const { id, url, path } = await place()
    await put(url, archiveOf(PROJECT))
    const { body: first } = await deploy(id, path)
    await outcome(id, first.latest_revision_id)
    const { body: thread } = await emulator.call('POST', `/d/${id}/threads`, {})
    const say = (assistant: string, content: string) =>
      emulator.call('POST', `/d/${id}/threads/${thread.thread_id}/runs/wait`, {
        assistant_id: assistant,
        input: { messages: [{ role: 'user', content }] },
      })
    expect(JSON.stringify((await say('helper', 'one')).body)).toContain('echo: one (seen 1)')
    const { body: mine } = await emulator.call('POST', `/d/${id}/assistants`, {
      graph_id: 'helper',
      name: 'mine',
    })

    const { body: given } = await emulator.call('POST', `/v2/deployments/${id}/upload-url`)
    const config = JSON.stringify({ graphs: { other: './other.py:graph' } })
    await put(given.upload_url, archiveOf({ 'langgraph.json': config, 'other.py': '' }))
    const { body: second } = await deploy(id, given.object_path)
    await outcome(id, second.latest_revision_id)
    expect(JSON.stringify((await say('other', 'two')).body)).toContain('echo: two (seen 2)')
    expect((await say('helper', 'three')).status).toBe(422)
    const found = await emulator.call('POST', `/d/${id}/assistants/search`, {})
    const names = found.body.map(({ name, metadata }: { name: string; metadata: object }) => [name, metadata])
    expect(names).toEqual([
      ['other', { created_by: 'system' }],
      ['mine', {}],
    ])
    const gone = await say(mine.assistant_id, 'four')
    expect(gone.body.__error__.message).toBe('Graph "helper" not found')
  })

  it('offers its headers to a client that asks for them', async () => {
    const { body } = await emulator.call('POST', '/v2/deployments', UPLOADED)
    const old = await emulator.call('POST', `/v2/deployments/${body.id}/upload-url`)
    expect(Object.keys(old.body)).toEqual(['upload_url', 'object_path'])
    const asked = { supports_upload_headers: true }
    const { body: given } = await emulator.call('POST', `/v2/deployments/${body.id}/upload-url`, asked)
    expect(given.upload_headers).toEqual(RANGE)
  })

  it.each([
    ['another type', { 'Content-Type': 'application/x-tar' }, 403],
    ['no range', { 'X-Goog-Content-Length-Range': '' }, 403],
  ])('with %s is refused as the signature does not fit', async (_what, headers, status) => {
    const { url } = await place()
    const answer = await put(url, archiveOf(PROJECT), headers)
    expect([answer.status, await answer.text()]).toEqual([
      status,
      expect.stringContaining('SignatureDoesNotMatch'),
    ])
  })

  it('elsewhere, or with another signature, is refused', async () => {
    const { url } = await place()
    expect((await put(url.replace(/Signature=.*/, 'Signature=x'), archiveOf(PROJECT))).status).toBe(403)
    expect((await put(url.replace('source.tar.gz', 'other.tar.gz'), archiveOf(PROJECT))).status).toBe(404)
    expect((await fetch(url)).status).toBe(405)
  })

  it('in chunks is refused, as is one above 200 MB', async () => {
    const { url } = await place()
    const raw = (headers: Record<string, string | number>, body: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const sent = request(url, {
          method: 'PUT',
          headers: { 'content-type': 'application/gzip', ...RANGE, ...headers },
        })
        sent.on('response', (answer) => {
          answer.resume()
          resolve(answer.statusCode)
          sent.destroy()
        })
        sent.on('error', reject)
        sent.write(body)
        if ('transfer-encoding' in headers) sent.end()
      })
    expect(await raw({ 'transfer-encoding': 'chunked' }, 'abc')).toBe(411)
    expect(await raw({ 'content-length': 209_715_201 }, 'abc')).toBe(400)
  })

  it('must be of this deployment, and there, before it is deployed', async () => {
    const one = await place()
    expect((await deploy(one.id, one.path)).body.detail).toContain('no source archive was uploaded')
    expect((await deploy(one.id, 'gs://elsewhere/x.tar.gz')).body.detail).toContain(
      'obtained from the upload-url',
    )
    const { body } = await emulator.call('GET', `/v2/deployments/${one.id}`)
    expect(body.latest_revision_id).toBeNull()
  })
})

describe('an archive that cannot be built', () => {
  const project = (config: object) => archiveOf({ 'agent.py': '', 'langgraph.json': JSON.stringify(config) })
  const cases: [string, Buffer, string][] = [
    ['no gzip', Buffer.from('plain text'), 'not a valid gzip file'],
    ['cut short', archiveOf(PROJECT).subarray(0, 60), 'not a valid gzip file'],
    ['no tar', gzipSync(Buffer.from('plain text')), 'not a valid tar file'],
    ['a tar cut short', gzipSync(tarOf(PROJECT).subarray(0, 700)), 'not a valid tar file'],
    ['a damaged tar', gzipSync(damaged()), 'not a valid tar file'],
    ['no config', archiveOf({ 'src/agent.py': '' }), 'langgraph.json was not found'],
    ['a folder above', archiveOf({ 'my-app/langgraph.json': '{}' }), 'langgraph.json was not found'],
    ['a path out of it', archiveOf({ ...PROJECT, '../evil': '' }), 'unsafe path: ../evil'],
    ['config of another kind', archiveOf({ 'langgraph.json': '{' }), 'not valid JSON'],
    ['no graphs', project({ graphs: {} }), 'at least one graph'],
    [
      'a graph without an attribute',
      project({ graphs: { a: './agent.py' } }),
      "graph 'a' in langgraph.json must be",
    ],
    ['a graph to nowhere', project({ graphs: { a: './gone.py:graph' } }), "points to './gone.py'"],
  ]
  it.each(cases)('%s: BUILD_FAILED, and the log says why', async (_what, content, reason) => {
    const { id, url, path } = await place()
    await put(url, content)
    const { status, body } = await deploy(id, path)
    expect(status).toBe(200)
    const ended = await outcome(id, body.latest_revision_id)
    expect(ended).toEqual({ status: 'BUILD_FAILED', log: expect.stringContaining(reason) })
  })

  it('is found by a config path in a folder, whose graphs are relative to that folder', async () => {
    const { id, url, path } = await place()
    const config = JSON.stringify({ graphs: { inner: { path: './agent.py:graph' } } })
    await put(url, archiveOf({ 'apps/one/langgraph.json': config, 'apps/one/agent.py': '' }))
    const { body } = await deploy(id, path, 'apps/one/langgraph.json')
    expect(await outcome(id, body.latest_revision_id)).toEqual({ status: 'DEPLOYED', log: '' })
  })
})

describe('http.disable_a2a of an upload', () => {
  it('takes A2A away from what is deployed', async () => {
    const { id, url, path } = await place()
    const config = JSON.stringify({ graphs: { helper: './src/agent.py:graph' }, http: { disable_a2a: true } })
    await put(url, archiveOf({ ...PROJECT, 'langgraph.json': config }))
    await deploy(id, path)
    clock.pass(BUILD_SECONDS)
    expect((await emulator.call('GET', `/d/${id}/ok`)).status).toBe(200)
    expect((await emulator.call('POST', `/d/${id}/a2a/helper`, {})).status).toBe(404)
  })
})

describe('a push token', () => {
  it('is for internal_docker, and says more to a client that asks', async () => {
    const { body } = await emulator.call('POST', '/v2/deployments', PUSHED)
    const path = `/v2/deployments/${body.id}/push-token`
    const old = await emulator.call('POST', path)
    expect(Object.keys(old.body)).toEqual(['token', 'registry_url'])
    const { body: given } = await emulator.call('POST', path, { supports_registry_username: true })
    expect(given).toMatchObject({
      username: 'oauth2accesstoken',
      repository_url: `${given.registry_url}/my-push`,
    })
    expect(given.token).not.toBe(old.body.token)
    const { body: other } = await emulator.call('POST', '/v2/deployments', DOCKER)
    for (const what of ['push-token', 'upload-url']) {
      expect((await emulator.call('POST', `/v2/deployments/${other.id}/${what}`)).status).toBe(400)
    }
  })
})

/** The checksum of the second entry is wrong. */
function damaged(): Buffer {
  const whole = tarOf(PROJECT)
  whole.write('x', 1024)
  return whole
}
