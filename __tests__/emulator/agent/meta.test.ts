import { describe, expect, it } from '@jest/globals'
import { startAgent } from './server.ts'

const refuse = (headers: Headers): string | undefined =>
  headers.has('x-api-key') ? undefined : 'Missing authentication headers'

describe('routes around the API', () => {
  it('leaves the meta routes open and asks for a key everywhere else, before anything else', async () => {
    const agent = await startAgent({ authenticate: refuse })
    for (const path of ['/ok', '/info', '/', '/metrics', '/docs', '/openapi.json']) {
      expect([path, (await agent.call('GET', path)).status]).toEqual([path, 200])
    }
    for (const [method, path, body] of [
      ['POST', '/threads', '{'],
      ['GET', '/nope', undefined],
      ['PUT', '/threads', {}],
      ['GET', '/.well-known/agent-card.json', undefined],
      ['POST', '/a2a/fe096781-5601-53d2-b2f6-0d3403f7e9ca', {}],
      ['POST', '/runs/stream', { assistant_id: 'agent' }],
    ] as const) {
      const answer = await agent.call(method, path, body)
      expect([path, answer.status, answer.body]).toEqual([
        path,
        403,
        { detail: 'Missing authentication headers' },
      ])
    }
    expect((await agent.call('POST', '/threads', {}, { 'x-api-key': 'k' })).status).toBe(200)
    await agent.close()
  })

  it('tells version and host in /info, read at each request', async () => {
    let revision = 'first'
    const agent = await startAgent({
      agentVersion: '0.4.20',
      host: () => ({ projectId: 'p', hostRevisionId: revision, revisionId: revision, tenantId: null }),
    })
    expect((await agent.call('GET', '/info')).body).toMatchObject({
      version: '0.4.20',
      host: { kind: 'self-hosted', project_id: 'p', host_revision_id: 'first' },
    })
    revision = 'second'
    expect((await agent.call('GET', '/info')).body.host.host_revision_id).toBe('second')
    await agent.close()
  })

  it('answers unknown paths, methods and spellings as recorded', async () => {
    const agent = await startAgent()
    expect((await agent.call('GET', '/nope')).body).toEqual({ detail: 'Not Found' })
    expect((await agent.call('POST', '/ok', {})).status).toBe(404)
    const wrong = await agent.call('PUT', '/threads', {})
    expect([wrong.status, wrong.headers.get('allow'), wrong.body]).toEqual([
      405,
      'POST',
      { detail: 'Method Not Allowed' },
    ])
    const slash = await agent.call('POST', '/assistants/', {})
    expect([slash.status, slash.headers.get('location')]).toEqual([307, 'http://127.0.0.1:1/assistants'])
    expect((await agent.call('GET', '/ok?check_db=banana')).body).toEqual({
      detail: "invalid literal for int() with base 10: 'banana'",
    })
    await agent.close()
  })

  it('sends CORS headers only where they were asked for, and answers a preflight without a key', async () => {
    const agent = await startAgent({ authenticate: refuse })
    const plain = await agent.call('GET', '/ok')
    expect([plain.headers.get('vary'), plain.headers.get('access-control-allow-origin')]).toEqual([
      'Origin',
      null,
    ])
    const asked = await agent.call('GET', '/ok', undefined, { origin: 'http://example.org' })
    expect(asked.headers.get('access-control-expose-headers')).toBe(
      'x-pagination-total, x-pagination-next, content-location',
    )
    const preflight = await agent.call('OPTIONS', '/threads', undefined, {
      origin: 'http://example.org',
      'access-control-request-method': 'POST',
    })
    expect([preflight.status, preflight.text]).toEqual([200, 'OK'])
    await agent.close()
  })

  it('lists the A2A route in /openapi.json only where it is served', async () => {
    const paths = async (disableA2a: boolean): Promise<string[]> => {
      const agent = await startAgent({ disableA2a })
      const { body } = await agent.call('GET', '/openapi.json')
      await agent.close()
      expect(body.info.version).toBe('0.1.0')
      return Object.keys(body.paths)
    }
    expect(await paths(false)).toContain('/a2a/{assistant_id}')
    expect(await paths(true)).not.toContain('/a2a/{assistant_id}')
  })
})
