import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { TestAgent } from './server.ts'
import { says, startAgent } from './server.ts'

let agent: TestAgent

beforeAll(async () => {
  agent = await startAgent()
})
afterAll(() => agent.close())

async function assistant(graph: string, fields: object): Promise<string> {
  return (await agent.call('POST', '/assistants', { graph_id: graph, ...fields })).body.assistant_id
}

/** The last answer of a run on a thread. */
async function answer(threadId: string, assistantId: string, more: object = {}): Promise<string> {
  const path = `/threads/${threadId}/runs/wait`
  const { body } = await agent.call('POST', path, { assistant_id: assistantId, input: says('hi'), ...more })
  return body.messages.at(-1).content
}

const prefix = (value: string): object => ({ config: { configurable: { prefix: value } } })

describe('several assistants on one thread', () => {
  it('share the state, also across a graph that has other channels', async () => {
    const id = await agent.thread()
    expect(await answer(id, 'agent')).toBe('echo: hi (seen 1)')
    expect(await answer(id, 'counter')).toBe('count=3')
    const other = await agent.stream(id, {
      assistant_id: 'nomessages',
      input: { question: 'q' },
      stream_mode: 'values',
    })
    expect(other.slice(1).map(({ data }) => data)).toEqual([
      { question: 'q' },
      { question: 'q', answer: 're: q' },
    ])
    expect((await agent.call('GET', `/threads/${id}`)).body.metadata.graph_id).toBe('nomessages')
    expect(await answer(id, 'agent')).toBe('echo: hi (seen 3)')
  })

  it('inherit the configurable of the first assistant that has one', async () => {
    const id = await agent.thread()
    expect(await answer(id, await assistant('agent', prefix('AAA')))).toBe('AAA: echo: hi (seen 1)')
    expect(await answer(id, await assistant('agent', prefix('BBB')))).toBe('AAA: echo: hi (seen 2)')
    expect(await answer(id, 'counter')).toBe('AAA: count=5')
    expect((await agent.call('GET', `/threads/${id}`)).body.config).toEqual({
      configurable: { prefix: 'AAA' },
    })
  })

  it('do not inherit what a run was given, though it wins there', async () => {
    const id = await agent.thread()
    expect(await answer(id, 'agent', prefix('RUN'))).toBe('RUN: echo: hi (seen 1)')
    expect(await answer(id, 'agent')).toBe('echo: hi (seen 2)')
    const own = await assistant('agent', prefix('OWN'))
    expect(await answer(id, own, { context: { prefix: 'RUN' } })).toBe('RUN: echo: hi (seen 3)')
  })

  it('do not inherit a real context', async () => {
    const id = await agent.thread()
    const first = await assistant('ctxecho', { context: { prefix: 'CTX' } })
    expect(await answer(id, first)).toBe("ctx={'prefix': 'CTX'}")
    expect(await answer(id, 'ctxecho')).toBe('ctx={}')
    expect(await answer(id, 'ctxecho', { context: { prefix: 'RUN' } })).toBe("ctx={'prefix': 'RUN'}")
  })

  it('do not apply the recursion limit of another, though the thread tells it', async () => {
    const id = await agent.thread()
    const limited = await assistant('two', { config: { recursion_limit: 1 } })
    const failed = await agent.call('POST', `/threads/${id}/runs/wait`, {
      assistant_id: limited,
      input: says('x'),
    })
    expect(failed.body.__error__.error).toBe('GraphRecursionError')
    expect((await agent.call('GET', `/threads/${id}`)).body.config.recursion_limit).toBe(1)
    expect(await answer(id, 'two')).toBe('step two')
  })

  it('replace a message that comes again under its id', async () => {
    const id = await agent.thread()
    const say = (content: string): object => ({
      assistant_id: 'counter',
      input: { messages: [{ role: 'human', id: 'same', content }] },
    })
    await agent.call('POST', `/threads/${id}/runs/wait`, say('one'))
    const { body } = await agent.call('POST', `/threads/${id}/runs/wait`, say('two'))
    const contents = body.messages.map((message: { content: string }) => message.content)
    expect(contents).toEqual(['two', 'count=1', 'count=2'])
  })
})
