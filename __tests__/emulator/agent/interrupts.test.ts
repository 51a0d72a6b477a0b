import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { TestAgent } from './server.ts'
import { says, startAgent } from './server.ts'

let agent: TestAgent

beforeAll(async () => {
  agent = await startAgent()
})
afterAll(() => agent.close())

describe('a run that stops to ask', () => {
  it('succeeds on a thread that is interrupted, and goes on with the answer', async () => {
    const id = await agent.thread()
    const asked = await agent.stream(id, {
      assistant_id: 'interrupting',
      input: says('x'),
      stream_mode: ['values', 'updates'],
    })
    expect(asked.map(({ event }) => event)).toEqual(['metadata', 'values', 'updates', 'values'])
    const [item] = asked[2]?.data.__interrupt__ ?? []
    expect(item).toEqual({
      value: { question: 'approve?' },
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      response_schema: null,
    })
    expect(asked[3]?.data.__interrupt__).toEqual([item])
    const thread = await agent.call('GET', `/threads/${id}`)
    expect(thread.body.status).toBe('interrupted')
    expect(Object.values(thread.body.interrupts)).toEqual([[{ id: item.id, value: item.value }]])
    expect((await agent.call('GET', `/threads/${id}/runs`)).body[0].status).toBe('success')
    const state = await agent.call('GET', `/threads/${id}/state`)
    expect([state.body.next, state.body.interrupts]).toEqual([
      ['interrupting'],
      [{ id: item.id, value: item.value }],
    ])

    const resumed = await agent.stream(id, {
      assistant_id: 'interrupting',
      command: { resume: { ok: true, list: [1, null, "it's"] } },
      stream_mode: 'updates',
    })
    expect(resumed[1]?.data.interrupting.messages[0].content).toBe(
      "resumed with {'ok': True, 'list': [1, None, \"it's\"]}",
    )
    expect((await agent.call('GET', `/threads/${id}`)).body).toMatchObject({ status: 'idle', interrupts: {} })
  })

  it('takes the answer under the id of the interrupt', async () => {
    const id = await agent.thread()
    const wait = await agent.call('POST', `/threads/${id}/runs/wait`, {
      assistant_id: 'interrupting',
      input: says('x'),
    })
    const key = wait.body.__interrupt__[0].id
    const resumed = await agent.call('POST', `/threads/${id}/runs/wait`, {
      assistant_id: 'interrupting',
      command: { resume: { [key]: 'yes' } },
    })
    expect(resumed.body.messages.at(-1).content).toBe("resumed with 'yes'")
  })

  it('stops at static breakpoints before and after nodes, and goes on without input', async () => {
    const id = await agent.thread()
    const body = { assistant_id: 'two', stream_mode: 'updates' }
    const before = await agent.stream(id, { ...body, input: says('x'), interrupt_before: ['second'] })
    expect(before.slice(1).map(({ data }) => Object.keys(data)[0])).toEqual(['first', '__interrupt__'])
    expect(before[2]?.data).toEqual({ __interrupt__: [] })
    expect((await agent.call('GET', `/threads/${id}`)).body.status).toBe('interrupted')
    const on = await agent.stream(id, { ...body, input: null, interrupt_before: ['second'] })
    expect(on.slice(1).map(({ data }) => Object.keys(data)[0])).toEqual(['second'])

    const after = await agent.stream(await agent.thread(), {
      ...body,
      input: says('x'),
      interrupt_after: '*',
    })
    expect(after.slice(1).map(({ data }) => Object.keys(data)[0])).toEqual(['first', '__interrupt__'])
  })

  it('runs a node again from an older checkpoint, and jumps with goto', async () => {
    const id = await agent.thread()
    await agent.stream(id, { assistant_id: 'two', input: says('x') })
    const { body: history } = await agent.call('GET', `/threads/${id}/history?limit=10`)
    const again = await agent.stream(id, {
      assistant_id: 'two',
      input: null,
      checkpoint_id: history[2].checkpoint_id,
      stream_mode: 'updates',
    })
    expect(again.slice(1).map(({ data }) => Object.keys(data)[0])).toEqual(['first', 'second'])
    const jumped = await agent.stream(id, {
      assistant_id: 'two',
      command: { goto: 'second', update: { messages: [{ role: 'human', content: 'more' }] } },
      stream_mode: 'updates',
    })
    expect(jumped.slice(1).map(({ data }) => Object.keys(data)[0])).toEqual(['second'])
  })
})
