import { afterEach, describe, expect, it } from '@jest/globals'
import type { AgentServer } from '../../../src/clients/agent-server/api.ts'
import {
  createAssistant,
  defaultAssistantId,
  deleteAssistant,
  getAssistant,
  searchAssistants,
  systemAssistants,
} from '../../../src/clients/agent-server/assistants.ts'
import { getInfo, getOk } from '../../../src/clients/agent-server/meta.ts'
import { streamRun } from '../../../src/clients/agent-server/runs.ts'
import { createThread, deleteThread, getNextNodes } from '../../../src/clients/agent-server/threads.ts'
import { HttpError, ProtocolError } from '../../../src/http/errors.ts'
import {
  exchange,
  type Replay,
  type Reply,
  recording,
  type Seen,
  startReplay,
  testTransport,
} from '../../helpers/replay.ts'

const transport = testTransport()
const replays: Replay[] = []
const options = { deadline: Date.now() + 60_000 }

afterEach(async () => {
  for (const replay of replays.splice(0)) await replay.close()
})

async function serve(
  answer: (request: Seen) => Reply | undefined,
): Promise<{ server: AgentServer; replay: Replay }> {
  const replay = await startReplay(answer)
  replays.push(replay)
  const url = new URL('/prefix/d/1', replay.url)
  return { server: { transport, url, headers: { 'x-api-key': 'secret', 'x-own': 'yes' } }, replay }
}

const json = (value: unknown, status = 200): Reply => ({ status, body: JSON.stringify(value) })
const assistant = (id: string, graph: string, metadata: unknown = {}) => ({
  assistant_id: id,
  graph_id: graph,
  metadata,
  config: {},
})

describe.each(['python-0.16.7', 'python-0.5.23'])('answers recorded of %s', (version) => {
  const named = (name: string): Reply => exchange(recording(version), name).response

  it('reads assistants, threads and meta routes', async () => {
    const { server, replay } = await serve(({ method, path }) => {
      if (path.endsWith('/ok')) return named('1-ok')
      if (path.endsWith('/state')) return named('4-failing-state')
      if (path.endsWith('/threads')) return named('6-noauth-anykey-threads')
      if (method === 'DELETE') return named('2-delete')
      return named('2-get-default-uuid')
    })
    expect(await getOk(server, options)).toBe(true)
    expect((await createThread(server, options)).id).toMatch(/^[0-9a-f-]{36}$/)
    expect(await getNextNodes(server, 't', options)).toBe(1)
    expect(await getAssistant(server, 'x', options)).toMatchObject({
      id: 'fe096781-5601-53d2-b2f6-0d3403f7e9ca',
      graphId: 'agent',
      metadata: { created_by: 'system' },
    })
    await deleteAssistant(server, 'x', options)
    await deleteThread(server, 't', options)
    expect(replay.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /prefix/d/1/ok',
      'POST /prefix/d/1/threads',
      'GET /prefix/d/1/threads/t/state',
      'GET /prefix/d/1/assistants/x',
      'DELETE /prefix/d/1/assistants/x',
      'DELETE /prefix/d/1/threads/t',
    ])
    for (const seen of replay.seen)
      expect(seen.headers).toMatchObject({ 'x-api-key': 'secret', 'x-own': 'yes' })
    expect(replay.seen[1]?.text).toBe('{}')
  })
})

describe('assistants', () => {
  it('sends what it is given when it creates one', async () => {
    const { server, replay } = await serve(() => json(assistant('a-1', 'agent')))
    await createAssistant(server, { graph_id: 'agent', config: { configurable: { a: 1 } } }, options)
    expect(replay.seen[0]).toMatchObject({
      method: 'POST',
      path: '/prefix/d/1/assistants',
      json: { graph_id: 'agent', config: { configurable: { a: 1 } } },
    })
  })

  it('searches all pages by what came, whatever the headers say', async () => {
    const all = Array.from({ length: 203 }, (_, i) => assistant(`id-${i}`, 'agent'))
    const { server, replay } = await serve(({ json: body }) => ({
      status: 200,
      headers: { 'content-type': 'application/json', 'x-pagination-total': '6' },
      body: JSON.stringify(all.slice(body.offset, body.offset + body.limit)),
    }))
    expect(await searchAssistants(server, options)).toHaveLength(203)
    expect(replay.seen.map((seen) => seen.json)).toEqual([
      { limit: 100, offset: 0 },
      { limit: 100, offset: 100 },
      { limit: 100, offset: 200 },
    ])
  })

  it('ends when a server repeats its page', async () => {
    const page = Array.from({ length: 100 }, (_, i) => assistant(`id-${i}`, 'agent'))
    const { server } = await serve(() => json(page))
    await expect(searchAssistants(server, options)).rejects.toThrow(/repeats a page/)
  })

  it('knows the id of a default assistant (uuid5 of the graph’s name, as recorded)', () => {
    expect(defaultAssistantId('agent')).toBe('fe096781-5601-53d2-b2f6-0d3403f7e9ca')
    expect(defaultAssistantId('echo')).toBe('046b5dc7-2108-582c-9c6c-31d556d138f0')
  })

  it('tells system assistants by their metadata, and of several by their id', () => {
    const system = { created_by: 'system' }
    const of = (id: string, graphId: string, metadata: Record<string, unknown>) => ({
      id,
      graphId,
      metadata,
      name: undefined,
    })
    const real = of('fe096781-5601-53d2-b2f6-0d3403f7e9ca', 'agent', system)
    const found = systemAssistants([
      of('x', 'agent', {}),
      of('y', 'agent', system),
      real,
      of('z', 'agent', system),
      of('w', 'other', system),
      of('v', 'none', { created_by: 'user' }),
    ])
    expect(found.map(({ id }) => id)).toEqual([real.id, 'w'])
  })

  it('names the field that an answer lacks, and not its value', async () => {
    const { server } = await serve(() => json({ graph_id: 'agent', secret: 'hidden-value' }))
    const error = await getAssistant(server, 'x', options).catch((caught) => caught)
    expect(error).toBeInstanceOf(ProtocolError)
    expect(error.message).toContain('assistant_id')
    expect(error.message).not.toContain('hidden-value')
  })

  it.each(['..', '.', '', 'a\nb'])('does not take %j for an id: it would become another path', async (id) => {
    const { server } = await serve(() => json({ thread_id: id }))
    await expect(createThread(server, options)).rejects.toThrow(/thread_id/)
  })
})

describe('/ok and /info', () => {
  it.each([
    ['{"ok":true}', true],
    ['{"ok":true,"services":{}}', true],
    ['{"ok":false}', false],
    ['<html>', false],
    ['', false],
    ['true', false],
  ])('takes %s for ok: %j', async (body, ok) => {
    const { server } = await serve(() => ({ status: 200, body }))
    expect(await getOk(server, options)).toBe(ok)
  })

  it.each([
    [
      { version: '0.16.7', host: { host_revision_id: 'rev' } },
      { version: '0.16.7', revisionId: 'rev' },
    ],
    [
      { version: '0.5.23', metadata: { host_revision_id: 'rev' } },
      { version: '0.5.23', revisionId: 'rev' },
    ],
    [{ version: '1.5.0', host: { host_revision_id: null } }, { version: '1.5.0' }],
    [{ version: 3, host: 'x' }, {}],
    [[], {}],
  ])('reads %j', async (body, info) => {
    const { server } = await serve(() => json(body))
    expect(await getInfo(server, options)).toEqual(info)
  })
})

describe('retries', () => {
  it('reads again after 503, and does not make a thread twice', async () => {
    let calls = 0
    const { server, replay } = await serve(() =>
      calls++ === 0 ? json({}, 503) : json(assistant('a', 'agent')),
    )
    expect((await getAssistant(server, 'a', options)).id).toBe('a')
    calls = 0
    await expect(createThread(server, options)).rejects.toThrow(HttpError)
    expect(replay.seen.filter(({ method }) => method === 'POST')).toHaveLength(1)
  })

  it('starts a run again only when the server did not take it', async () => {
    const stream: Reply = {
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      body: 'event: metadata\ndata: {"run_id":"r-1"}\n\n',
    }
    const body = { assistant_id: 'agent', stream_mode: 'updates' }
    for (const [status, headers, tries] of [
      [429, {}, 2],
      [503, { 'retry-after': '0' }, 2],
      [503, {}, 1],
      [500, {}, 1],
      [409, {}, 1],
    ] as const) {
      const first: Reply = { status, headers, body: '{}' }
      let calls = 0
      const { server, replay } = await serve(() => (calls++ === 0 ? first : stream))
      const started = streamRun(server, 't', body, { deadline: Date.now() + 60_000 })
      if (tries === 1) await expect(started).rejects.toThrow(HttpError)
      else (await started).close()
      expect([status, replay.seen.length]).toEqual([status, tries])
    }
  })
})
