import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { TestAgent } from './server.ts'
import { says, startAgent } from './server.ts'

/** Facts of 0.16.7 that no recorded exchange holds: the same requests were sent to it and to the emulator. */
let agent: TestAgent

beforeAll(async () => {
  agent = await startAgent({ terminalTasks: 'reject' })
})
afterAll(() => agent.close())

const get = async (path: string) => (await agent.call('GET', path)).body

async function idOf(graph: string): Promise<string> {
  const found = await agent.call('POST', '/assistants/search', { graph_id: graph })
  return found.body[0].assistant_id
}

async function rpc(assistant: string, method: string, params: object) {
  const body = { jsonrpc: '2.0', id: '1', method, params }
  return (await agent.call('POST', `/a2a/${assistant}`, body, { accept: 'application/json' })).body
}

const message = (text: string, more: object = {}) => ({
  message: { role: 'user', messageId: `m-${text}`, parts: [{ kind: 'text', text }], ...more },
})

/** A run of `slow` that works, and the promise of its stream's end. */
async function working() {
  const id = await agent.thread()
  const body = { assistant_id: 'slow', input: says('x'), stream_mode: 'values' }
  const stream = await agent.open(`/threads/${id}/runs/stream`, body)
  await stream.until('event: values')
  const [run] = await get(`/threads/${id}/runs`)
  return { id, run: run.run_id, end: stream.rest() }
}

describe('a run that stops', () => {
  it('tells the state before the result of its task, which has the whole interrupt', async () => {
    const events = await agent.stream(await agent.thread(), {
      assistant_id: 'interrupting',
      input: says('x'),
      stream_mode: ['values', 'tasks', 'updates'],
    })
    const names = ['metadata', 'values', 'tasks', 'updates', 'values', 'tasks']
    expect(events.map(({ event }) => event)).toEqual(names)
    expect(events[5]?.data.interrupts).toEqual(events[4]?.data.__interrupt__)
    expect(Object.keys(events[5]?.data.interrupts[0])).toEqual(['value', 'id', 'response_schema'])
  })

  it('stops after its last node, too, on a thread that is idle then', async () => {
    const id = await agent.thread()
    const events = await agent.stream(id, {
      assistant_id: 'agent',
      input: says('x'),
      stream_mode: ['values', 'updates'],
      interrupt_after: ['agent'],
    })
    expect(events.at(-1)).toMatchObject({ event: 'updates', data: { __interrupt__: [] } })
    expect((await get(`/threads/${id}`)).status).toBe('idle')
  })

  it('is joined later as what its thread is then', async () => {
    const id = await agent.thread()
    const stop = { assistant_id: 'interrupting', input: says('x') }
    await agent.call('POST', `/threads/${id}/runs/wait`, stop)
    const [run] = await get(`/threads/${id}/runs`)
    const path = `/threads/${id}/runs/${run.run_id}/join`
    expect((await get(path)).__interrupt__).toHaveLength(1)
    await agent.call('POST', `/threads/${id}/runs/wait`, {
      assistant_id: 'interrupting',
      command: { resume: 1 },
    })
    const joined = await get(path)
    expect([joined.messages.length, joined.__interrupt__]).toEqual([2, undefined])
  })
})

describe('a thread tells', () => {
  it.each([
    ['interrupt', '', 'UserInterrupt', ['thread_id', 'interrupts']],
    ['rollback', '&action=rollback', 'UserRollback', ['thread_id']],
  ])('by which route its run was cancelled: %s', async (action, query, error, keys) => {
    const { id, run, end } = await working()
    await agent.call('POST', `/threads/${id}/runs/${run}/cancel?wait=true${query}`)
    await end
    const thread = await get(`/threads/${id}`)
    const route = 'POST /threads/{thread_id}/runs/{run_id}/cancel'
    expect(thread.error).toEqual({ error, message: `${action} requested via ${route}` })
    expect(Object.keys(thread)).toEqual(expect.arrayContaining(keys))
    expect('interrupts' in thread).toBe(keys.includes('interrupts'))
  })

  it('the route of a cancel of several runs', async () => {
    const { id, run, end } = await working()
    await agent.call('POST', '/runs/cancel', { thread_id: id, run_ids: [run] })
    await end
    expect((await get(`/threads/${id}`)).error.message).toBe('interrupt requested via POST /runs/cancel')
  })

  it('what of a run’s config is not configurable, and applies it to no other run', async () => {
    const id = await agent.thread()
    const run = { assistant_id: 'two', input: says('x'), stream_mode: 'updates' }
    const config = { recursion_limit: 1, tags: ['t'], configurable: { prefix: 'P' } }
    const failed = await agent.stream(id, { ...run, config })
    expect(failed.at(-1)?.event).toBe('error')
    expect((await get(`/threads/${id}`)).config).toEqual({
      recursion_limit: 1,
      tags: ['t'],
      configurable: {},
    })
    expect((await agent.stream(id, run)).at(-1)?.event).toBe('updates')
  })

  it('no interrupts where a run failed before its first checkpoint, and one state when nobody asks for more', async () => {
    const id = await agent.thread()
    const run = { assistant_id: 'agent', input: says('x') }
    await agent.stream(id, { ...run, config: { recursion_limit: 0 } })
    expect(await get(`/threads/${id}`)).not.toHaveProperty('interrupts')
    await agent.stream(id, run)
    expect(await get(`/threads/${id}`)).toHaveProperty('interrupts', {})
    expect(await get(`/threads/${id}/history`)).toHaveLength(1)
    expect((await agent.call('POST', `/threads/${id}/history`, {})).body).toHaveLength(1)
    expect(await get(`/threads/${id}/history?limit=9`)).toHaveLength(3)
  })
})

describe('A2A', () => {
  it('marks its runs, and gives them the message as a human’s', async () => {
    const { result } = await rpc(await idOf('agent'), 'message/send', message('hi'))
    const [run] = await get(`/threads/${result.contextId}/runs`)
    const [input] = run.kwargs.input.messages
    expect(Object.keys(input)).toEqual(['role', 'content', 'id', 'additional_kwargs'])
    expect(input).toMatchObject({ role: 'human', content: 'hi', id: 'm-hi' })
    expect(Object.keys(run.metadata)).toEqual(['created_by', 'graph_id', 'assistant_id', 'a2a'])
    expect(run.metadata.a2a).toEqual(input.additional_kwargs.a2a)
  })

  it('tells no history of a task that was canceled while it asked', async () => {
    const assistant = await idOf('interrupting')
    const { result } = await rpc(assistant, 'message/send', message('hi'))
    const ids = { id: result.id, contextId: result.contextId }
    expect((await rpc(assistant, 'tasks/cancel', ids)).result.status.state).toBe('canceled')
    const { status, history } = (await rpc(assistant, 'tasks/get', ids)).result
    expect([status.state, history]).toEqual(['canceled', []])
    const thread = await get(`/threads/${ids.contextId}`)
    expect(thread).toMatchObject({
      status: 'idle',
      interrupts: {},
      values: { messages: [{ content: 'hi' }] },
    })
    expect((await get(`/threads/${ids.contextId}/state`)).next).toEqual([])
  })
})
