import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { TestAgent } from './server.ts'
import { says, startAgent } from './server.ts'

const NEW_THREAD = 'thread_id created_at updated_at state_updated_at metadata status config values'
let agent: TestAgent

beforeAll(async () => {
  agent = await startAgent()
})
afterAll(() => agent.close())

describe('threads', () => {
  it('is told without error and interrupts until a run has ended on it', async () => {
    const made = await agent.call('POST', '/threads', {})
    expect(Object.keys(made.body)).toEqual(NEW_THREAD.split(' '))
    expect(made.body).toMatchObject({ status: 'idle', values: null, metadata: {}, config: {} })
    await agent.stream(made.body.thread_id, { assistant_id: 'agent', input: says('hi') })
    const ran = await agent.call('GET', `/threads/${made.body.thread_id}`)
    expect(Object.keys(ran.body)).toEqual([...NEW_THREAD.split(' '), 'error', 'interrupts'])
    expect(ran.body).toMatchObject({ error: null, interrupts: {}, config: { configurable: {} } })
    expect(ran.body.metadata).toEqual({
      graph_id: 'agent',
      assistant_id: 'fe096781-5601-53d2-b2f6-0d3403f7e9ca',
    })
  })

  it('refuses a taken id, one that is no UUID, and an unknown one', async () => {
    const id = '22222222-3333-4444-8555-666666666666'
    await agent.call('POST', '/threads', { thread_id: id, metadata: { k: 'v' } })
    const taken = await agent.call('POST', '/threads', { thread_id: id })
    expect([taken.status, taken.body.detail]).toEqual([409, `Thread with ID ${id} already exists`])
    const kept = await agent.call('POST', '/threads', {
      thread_id: id,
      if_exists: 'do_nothing',
      metadata: {},
    })
    expect(kept.body.metadata).toEqual({ k: 'v' })
    const bad = await agent.call('GET', '/threads/nope')
    expect([bad.status, bad.body.detail]).toEqual([422, 'Invalid thread ID: must be a UUID'])
    const unknown = '00000000-0000-4000-8000-000000000000'
    expect((await agent.call('GET', `/threads/${unknown}`)).body.detail).toBe(
      `Thread with ID ${unknown} not found`,
    )
    expect((await agent.call('DELETE', `/threads/${unknown}`)).status).toBe(404)
  })

  it('keeps the state of each step, newest first, and finds it by checkpoint', async () => {
    const id = await agent.thread()
    const empty = await agent.call('GET', `/threads/${id}/state`)
    expect(empty.body).toMatchObject({ values: {}, next: [], checkpoint: null, interrupts: [] })
    await agent.stream(id, { assistant_id: 'two', input: says('hi') })
    const { body: history } = await agent.call('GET', `/threads/${id}/history?limit=10`)
    expect(history.map((state: { metadata: { step: number } }) => state.metadata.step)).toEqual([2, 1, 0, -1])
    expect(history.map((state: { next: string[] }) => state.next)).toEqual([
      [],
      ['second'],
      ['first'],
      ['__start__'],
    ])
    expect(history[0].parent_checkpoint_id).toBe(history[1].checkpoint_id)
    const at = await agent.call('GET', `/threads/${id}/state/${history[1].checkpoint_id}`)
    expect(at.body.values.messages).toHaveLength(2)
    const bad = await agent.call('GET', `/threads/${id}/history?limit=abc`)
    expect([bad.status, bad.body.detail]).toEqual([422, 'Invalid limit abc'])
    const limited = await agent.call('POST', `/threads/${id}/history`, {
      limit: 1,
      before: history[0].checkpoint,
    })
    expect(limited.body).toEqual([history[1]])
  })

  it('writes into the state from outside, as a node or as nobody', async () => {
    const id = await agent.thread()
    await agent.stream(id, { assistant_id: 'two', input: says('hi'), interrupt_before: ['second'] })
    const update = await agent.call('POST', `/threads/${id}/state`, {
      values: { messages: [{ role: 'ai', content: 'instead' }] },
      as_node: 'second',
    })
    expect(update.body.checkpoint).toMatchObject({ thread_id: id, checkpoint_ns: '' })
    const state = await agent.call('GET', `/threads/${id}/state`)
    expect([state.body.next, state.body.values.messages.at(-1).content]).toEqual([[], 'instead'])
    const wrong = await agent.call('POST', `/threads/${id}/state`, { values: {}, as_node: 'nope' })
    expect(wrong.status).toBe(400)
  })

  it('searches, counts, patches, copies and deletes', async () => {
    const { body: one } = await agent.call('POST', '/threads', { metadata: { mark: 'search' } })
    const { body: two } = await agent.call('POST', '/threads', { metadata: { mark: 'search', more: 1 } })
    const found = await agent.call('POST', '/threads/search', { metadata: { mark: 'search' } })
    const ids = (items: { thread_id: string }[]): string[] => items.map((item) => item.thread_id)
    expect(ids(found.body)).toEqual([two.thread_id, one.thread_id])
    expect((await agent.call('POST', '/threads/count', { metadata: { mark: 'search' } })).body).toBe(2)
    const patched = await agent.call('PATCH', `/threads/${one.thread_id}`, { metadata: { x: 1 } })
    expect(patched.body.metadata).toEqual({ mark: 'search', x: 1 })
    const copy = await agent.call('POST', `/threads/${one.thread_id}/copy`)
    expect(copy.body.metadata).toEqual({ mark: 'search', x: 1 })
    expect(copy.body).not.toHaveProperty('values')
    expect((await agent.call('DELETE', `/threads/${one.thread_id}`)).status).toBe(204)
    expect((await agent.call('GET', `/threads/${one.thread_id}`)).status).toBe(404)
  })
})
