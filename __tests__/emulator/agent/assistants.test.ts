import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { TestAgent } from './server.ts'
import { startAgent } from './server.ts'

const AGENT = 'fe096781-5601-53d2-b2f6-0d3403f7e9ca'
let agent: TestAgent

beforeAll(async () => {
  agent = await startAgent()
})
afterAll(() => agent.close())

describe('assistants', () => {
  it('has a system assistant for each of the eleven graphs, with the recorded id', async () => {
    const found = await agent.call('POST', '/assistants/search', {
      metadata: { created_by: 'system' },
      limit: 100,
    })
    expect(found.body.map((item: { name: string }) => item.name).sort()).toEqual(
      'agent blocks counter ctxecho failing interrupting nomessages nullnode slow tokens two'.split(' '),
    )
    const mine = await agent.call('GET', `/assistants/${AGENT}`)
    expect(Object.keys(mine.body)).toEqual(
      'assistant_id graph_id config context metadata name created_at updated_at version description'.split(
        ' ',
      ),
    )
    expect(mine.body).toMatchObject({ name: 'agent', metadata: { created_by: 'system' }, version: 1 })
  })

  it('mirrors context and configurable both ways, and refuses both', async () => {
    const context = await agent.call('POST', '/assistants', { graph_id: 'agent', context: { prefix: 'C' } })
    expect(context.body).toMatchObject({
      config: { configurable: { prefix: 'C' } },
      context: { prefix: 'C' },
    })
    const config = await agent.call('POST', '/assistants', {
      graph_id: 'agent',
      config: { configurable: { prefix: 'F' } },
    })
    expect(config.body.context).toEqual({ prefix: 'F' })
    const both = await agent.call('POST', '/assistants', {
      graph_id: 'agent',
      config: { configurable: { a: 1 } },
      context: { a: 1 },
    })
    expect(both.status).toBe(400)
    expect(both.body.detail).toMatch(/^Cannot specify both configurable and context/)
  })

  it('refuses what the recorded server refuses, in its words', async () => {
    const post = (body: unknown) => agent.call('POST', '/assistants', body)
    expect((await post({ graph_id: 'nope' })).body.detail).toMatch(
      /^Graph 'nope' not found. Expected one of: \['agent', 'blocks', /,
    )
    expect((await post({})).body).toEqual({
      detail:
        '"graph_id" is a required property\n\nFailed validating "required" in schema\n\nOn instance:\n    {}',
    })
    expect((await post({ graph_id: 'agent', if_exists: 'bogus' })).body.detail).toBe(
      '"bogus" is not one of "raise" or "do_nothing"\n\nFailed validating "enum" in ' +
        'schema["properties"]["if_exists"]\n\nOn instance["if_exists"]:\n    "bogus"',
    )
    for (const bad of ['', '{', '{"graph_id":"agent","metadata":{"x":NaN}}', '\ufeff{"graph_id":"agent"}']) {
      const answer = await post(bad)
      expect([answer.status, answer.body]).toEqual([422, { detail: 'Invalid JSON in request body' }])
    }
    expect((await agent.call('GET', '/assistants/agent')).status).toBe(422)
    expect((await agent.call('GET', '/assistants/00000000-0000-4000-8000-000000000000')).body).toEqual({
      detail: 'Not Found',
    })
  })

  it('answers a taken id with 409, or with what is there', async () => {
    const id = '11111111-2222-4333-8444-555555555555'
    await agent.call('POST', '/assistants', { graph_id: 'agent', assistant_id: id, name: 'first' })
    const again = await agent.call('POST', '/assistants', { graph_id: 'agent', assistant_id: id })
    expect([again.status, again.body.detail]).toEqual([409, `Assistant ${id} already exists`])
    const kept = await agent.call('POST', '/assistants', {
      graph_id: 'counter',
      assistant_id: id,
      if_exists: 'do_nothing',
    })
    expect(kept.body).toMatchObject({ name: 'first', graph_id: 'agent' })
    expect((await agent.call('GET', `/assistants/${id.toUpperCase()}`)).body.assistant_id).toBe(id)
  })

  it('pages: the total counts one past the page, the last page names no next', async () => {
    const small = await startAgent({ graphs: ['one', 'other', 'third'] })
    const page = await small.call('POST', '/assistants/search', { limit: 2 })
    expect([page.headers.get('x-pagination-total'), page.headers.get('x-pagination-next')]).toEqual([
      '3',
      '2',
    ])
    const last = await small.call('POST', '/assistants/search', { limit: 2, offset: 2 })
    expect([last.headers.get('x-pagination-total'), last.headers.get('x-pagination-next')]).toEqual([
      '3',
      null,
    ])
    const past = await small.call('POST', '/assistants/search', { offset: 999 })
    expect([past.body, past.headers.get('x-pagination-total')]).toEqual([[], '999'])
    expect((await small.call('POST', '/assistants/search', { limit: 0 })).status).toBe(422)
    expect((await small.call('POST', '/assistants/count', {})).body).toBe(3)
    await small.close()
  })

  it('patches into a new version, goes back to an old one, deletes', async () => {
    const { body } = await agent.call('POST', '/assistants', { graph_id: 'agent', name: 'before' })
    const path = `/assistants/${body.assistant_id}`
    expect((await agent.call('PATCH', path, { name: 'after' })).body).toMatchObject({
      name: 'after',
      version: 2,
    })
    expect((await agent.call('POST', `${path}/versions`, {})).body).toHaveLength(2)
    expect((await agent.call('POST', `${path}/latest`, { version: 1 })).body.name).toBe('before')
    expect((await agent.call('DELETE', path)).status).toBe(204)
    const gone = await agent.call('DELETE', path)
    expect(gone.body.detail).toBe(`Assistant with ID ${body.assistant_id} not found`)
  })

  it('draws the graph and tells its schemas', async () => {
    const graph = await agent.call('GET', `/assistants/${AGENT}/graph`)
    expect(graph.body.edges).toEqual([
      { source: '__start__', target: 'agent' },
      { source: 'agent', target: '__end__' },
    ])
    const schemas = await agent.call('GET', `/assistants/${AGENT}/schemas`)
    expect(schemas.body.input_schema.required).toEqual(['messages'])
    expect(Object.keys(schemas.body.state_schema.$defs)).toHaveLength(18)
  })

  it('forgets a deleted system assistant: its graph name is 404 in a run', async () => {
    const other = await startAgent()
    await other.call('DELETE', `/assistants/${AGENT}`)
    const run = await other.call('POST', '/runs/wait', { assistant_id: 'agent', input: {} })
    expect([run.status, run.body.detail]).toEqual([404, 'Thread or assistant not found.'])
    await other.close()
  })
})
