import { createServer } from 'node:net'
import { afterEach, describe, expect, it } from '@jest/globals'
import { verifyAgent } from '../helpers/live-agent.ts'
import { type Replay, type Reply, type Seen, startReplay } from '../helpers/replay.ts'

const replays: Replay[] = []
afterEach(async () => {
  for (const replay of replays.splice(0)) await replay.close()
})

const json = (value: unknown, status = 200): Reply => ({ status, body: JSON.stringify(value) })

const ASSISTANT = {
  assistant_id: 'fe096781-5601-53d2-b2f6-0d3403f7e9ca',
  graph_id: 'agent',
  metadata: { created_by: 'system' },
}

/** A server that is in order, but for what a test answers otherwise. */
async function serve(otherwise: (request: Seen, calls: number) => Reply | undefined): Promise<Replay> {
  const calls = new Map<string, number>()
  const replay = await startReplay((request) => {
    const key = `${request.method} ${request.path}`
    const call = (calls.get(key) ?? 0) + 1
    calls.set(key, call)
    const answer = otherwise(request, call)
    if (answer !== undefined) return answer
    if (request.path === '/ok') return json({ ok: true })
    if (request.path === '/info') return json({ version: '0.16.7', host: { host_revision_id: null } })
    if (request.path === '/assistants/search') return json([ASSISTANT])
    if (request.path.startsWith('/assistants/')) return json(ASSISTANT)
    if (request.path === '/threads') return json({ thread_id: 't-1' })
    if (request.method === 'DELETE') return { status: 204, body: '' }
    return undefined
  })
  replays.push(replay)
  return replay
}

describe('a server that is not yet reachable', () => {
  it.each([
    ['/ok', 404],
    ['/ok', 502],
    ['/ok', 503],
    ['/ok', 500],
    ['/info', 502],
    ['/info', 503],
  ])('is waited for: %s answers %j at first', async (path, status) => {
    const replay = await serve((request, call) =>
      request.path === path && call < 3 ? { status, body: 'Bad Gateway' } : undefined,
    )
    const report = await verifyAgent({ target: { url: replay.url } })
    expect(report).toMatchObject({ passed: 1, failed: 0 })
    expect(report.log).toContain(`Waiting for the agent server: ${path} answered ${status}`)
  })

  it('is waited for while it refuses connections', async () => {
    const probe = createServer()
    await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
    const { port } = probe.address() as { port: number }
    await new Promise((resolve) => probe.close(resolve))
    const url = new URL(`http://127.0.0.1:${port}`)
    const { checks } = await verifyAgent({ target: { url }, options: { reachableMs: 900 } })
    expect(checks[0]).toMatchObject({
      verdict: 'failed',
      reason: 'The agent server was not reachable within 0.9 s: /ok gave no answer (ECONNREFUSED)',
      hint: expect.stringMatching(/Nothing listens there/),
    })
  })

  it('fails every check when it stays so, and none is tried', async () => {
    const replay = await serve((request) => (request.path === '/ok' ? json({}, 502) : undefined))
    const report = await verifyAgent({
      target: { url: replay.url },
      checks: 'checks: [{ input: {} }, { name: two, input: {} }, { sandbox: { name: box } }]',
      options: { reachableMs: 800 },
    })
    expect(report).toMatchObject({ passed: 0, failed: 3 })
    expect(new Set(report.checks.map(({ reason }) => reason))).toEqual(
      new Set(['The agent server was not reachable within 0.8 s: /ok answered 502']),
    )
    expect(new Set(replay.seen.map(({ path }) => path))).toEqual(new Set(['/ok']))
  })

  it('is no web page that answers 200', async () => {
    const replay = await serve(({ path }) =>
      path === '/ok' ? { status: 200, body: '<html>soon</html>' } : undefined,
    )
    const { checks } = await verifyAgent({ target: { url: replay.url }, options: { reachableMs: 700 } })
    expect(checks[0]?.reason).toMatch(/\/ok answers something that is not an agent server’s answer$/)
  })

  it('is a server that does not answer at all, or trickles without end', async () => {
    const replay = await serve(({ path }) =>
      path === '/ok' ? { status: 200, body: '{"ok"', hang: true } : undefined,
    )
    const { checks } = await verifyAgent({ target: { url: replay.url }, options: { reachableMs: 700 } })
    expect(checks[0]?.reason).toBe(
      'The agent server was not reachable within 0.7 s: /ok did not answer in time',
    )
  })

  it('ends at once where waiting cannot help: a refused key, a redirect', async () => {
    for (const [status, reason] of [
      [401, /^The agent server cannot be used: The server wants a key and none was sent: it answered 401/],
      [403, /^The agent server cannot be used: The server wants a key and none was sent: it answered 403/],
      [302, /^The agent server cannot be used: The server answered 302, a redirect to host login\.example/],
    ] as const) {
      const headers = { location: 'https://login.example/secret?token=x' }
      const replay = await serve(({ path }) => (path === '/ok' ? { status, headers, body: '{}' } : undefined))
      const { checks } = await verifyAgent({ target: { url: replay.url } })
      expect(checks[0]?.reason).toMatch(reason)
      expect(checks[0]?.reason).not.toContain('secret')
      expect(replay.seen).toHaveLength(1)
    }
  })
})

describe('/info', () => {
  it.each([404, 401, 403])('may be hidden (%j) while /ok is true', async (status) => {
    const replay = await serve(({ path }) =>
      path === '/info' ? json({ detail: 'Not Found' }, status) : undefined,
    )
    expect(await verifyAgent({ target: { url: replay.url, expectedRevisionId: 'rev-2' } })).toMatchObject({
      passed: 1,
    })
  })

  it('that names an older revision is waited for', async () => {
    const replay = await serve(({ path }, call) =>
      path === '/info' ? json({ host: { host_revision_id: call < 3 ? 'rev-1' : 'REV-2' } }) : undefined,
    )
    const report = await verifyAgent({ target: { url: replay.url, expectedRevisionId: 'rev-2' } })
    expect(report).toMatchObject({ passed: 1 })
    expect(report.log.join('\n')).toContain(
      '/info names another revision (rev-1) than the one that was deployed (rev-2)',
    )
  })

  it('that goes on naming an older revision is not reachable', async () => {
    const replay = await serve(({ path }) =>
      path === '/info' ? json({ metadata: { host_revision_id: 'rev-1' } }) : undefined,
    )
    const { checks } = await verifyAgent({
      target: { url: replay.url, expectedRevisionId: 'rev-2' },
      options: { reachableMs: 700 },
    })
    expect(checks[0]?.reason).toMatch(/rev-1.*an old one still answers$/)
  })

  it('is not compared when no revision is expected', async () => {
    const replay = await serve(({ path }) =>
      path === '/info' ? json({ host: { host_revision_id: 'rev-1' } }) : undefined,
    )
    expect(await verifyAgent({ target: { url: replay.url } })).toMatchObject({ passed: 1 })
  })

  it('does not put remote text into the reason', async () => {
    const replay = await serve(({ path }) =>
      path === '/info' ? json({ host: { host_revision_id: '::error::x\n' } }) : undefined,
    )
    const { checks } = await verifyAgent({
      target: { url: replay.url, expectedRevisionId: 'rev-2' },
      options: { reachableMs: 100 },
    })
    expect(checks[0]?.reason).toContain('(of an odd form)')
  })
})

describe('ready', () => {
  it.each([
    [
      'none is there',
      [],
      'The server has no default assistant: none of its assistants was created by the system',
    ],
    [
      'only others are there, with an empty config',
      [{ ...ASSISTANT, metadata: {}, config: {} }],
      'The server has no default assistant: none of its assistants was created by the system',
    ],
  ])('fails when of default assistants %s', async (_name, found, reason) => {
    const replay = await serve(({ path }) => (path === '/assistants/search' ? json(found) : undefined))
    const { checks } = await verifyAgent({ target: { url: replay.url } })
    expect(checks[0]?.reason).toBe(reason)
  })

  it('passes with several graphs of which none is `agent`, since nothing is run', async () => {
    const system = { created_by: 'system' }
    const found = ['writer', 'researcher'].map((graph) => ({
      assistant_id: graph,
      graph_id: graph,
      metadata: system,
    }))
    const replay = await serve(({ path }) => {
      if (path === '/assistants/search') return json(found)
      return path.startsWith('/assistants/')
        ? json(found.find((one) => path.endsWith(one.graph_id)))
        : undefined
    })
    expect(await verifyAgent({ target: { url: replay.url } })).toMatchObject({ passed: 1 })
    const { checks } = await verifyAgent({ target: { url: replay.url }, checks: 'checks: [{ input: {} }]' })
    expect(checks[0]?.reason).toBe(
      'The server has several graphs and none is called agent: researcher, writer',
    )
  })

  it('fails when the assistant that was found is another one when it is read', async () => {
    const replay = await serve(({ path, method }) =>
      path.startsWith('/assistants/') && method === 'GET'
        ? json({ ...ASSISTANT, assistant_id: 'other' })
        : undefined,
    )
    const { checks } = await verifyAgent({ target: { url: replay.url } })
    expect(checks[0]?.reason).toMatch(/read by its id it is another one$/)
  })

  it('fails when no thread can be made, and warns when one cannot be deleted', async () => {
    const broken = await serve(({ path }) =>
      path === '/threads' ? json({ detail: 'no database' }, 500) : undefined,
    )
    expect((await verifyAgent({ target: { url: broken.url } })).checks[0]).toMatchObject({
      reason: 'The server answered 500 while making a thread',
      said: 'no database',
    })
    const sticky = await serve(({ method }) => (method === 'DELETE' ? json({}, 409) : undefined))
    const report = await verifyAgent({ target: { url: sticky.url } })
    expect(report.checks[0]).toMatchObject({
      verdict: 'passed',
      warnings: ['Could not delete the thread t-1, which the check made: the server answered 409.'],
    })
  })
})
