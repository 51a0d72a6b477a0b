import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { StreamEvent, TestAgent } from './server.ts'
import { parse, says, startAgent } from './server.ts'

let agent: TestAgent

beforeAll(async () => {
  agent = await startAgent()
})
afterAll(() => agent.close())

const names = (events: StreamEvent[]): string[] => events.map(({ event }) => event)
const run = async (assistant: string, mode: unknown, more: object = {}): Promise<StreamEvent[]> =>
  agent.stream(await agent.thread(), {
    assistant_id: assistant,
    input: says('hello'),
    stream_mode: mode,
    ...more,
  })

describe('stream modes', () => {
  it('writes CRLF, event before data, no id, and closes without an end event', async () => {
    const id = await agent.thread()
    const answer = await agent.call('POST', `/threads/${id}/runs/stream`, {
      assistant_id: 'agent',
      input: says('hello'),
      stream_mode: ['updates', 'values'],
    })
    const events = parse(answer.text)
    expect(names(events)).toEqual(['metadata', 'values', 'updates', 'values'])
    const { run_id } = events[0]?.data ?? {}
    expect(
      answer.text.startsWith(
        `event: metadata\r\ndata: {"run_id":"${run_id}","attempt":1}\r\n\r\nevent: values\r\n`,
      ),
    ).toBe(true)
    expect(answer.text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]|id: /)
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(answer.headers.get('location')).toBe(`/threads/${id}/runs/${run_id}/stream`)
    expect(answer.headers.get('content-location')).toBe(`/threads/${id}/runs/${run_id}`)
    expect(Object.keys(events[2]?.data.agent.messages[0])).toEqual(
      'content additional_kwargs response_metadata type name id tool_calls invalid_tool_calls usage_metadata'.split(
        ' ',
      ),
    )
  })

  it('orders combined modes as recorded, and shares ids within a phase only', async () => {
    const modes = ['values', 'updates', 'messages', 'messages-tuple', 'tasks', 'custom']
    const events = await run('tokens', modes, { stream_resumable: true })
    expect(names(events)).toEqual(
      'metadata values tasks messages messages messages messages messages updates tasks values'.split(' '),
    )
    expect(events.map(({ id }) => id)).toEqual([...events.map(({ id }) => id)].sort())
    expect(new Set(events.map(({ id }) => id)).size).toBeGreaterThanOrEqual(4)
    for (const { id } of events) expect(id).toMatch(/^\d{13}-0$/)
  })

  it.each([
    ['empty list', [], ['metadata', 'values', 'values']],
    ['messages', 'messages', ['metadata', 'messages/metadata', 'messages/complete']],
    ['messages-tuple', ['messages-tuple'], ['metadata', 'messages']],
    ['tasks', 'tasks', ['metadata', 'tasks', 'tasks']],
    ['checkpoints', 'checkpoints', ['metadata', 'checkpoints', 'checkpoints', 'checkpoints']],
    ['debug', 'debug', ['metadata', 'debug', 'debug', 'debug', 'debug', 'debug']],
    ['events', 'events', ['metadata', 'events', 'events', 'events', 'events', 'events']],
    ['custom', 'custom', ['metadata']],
  ])('mode %s', async (_name, mode, expected) => {
    expect(names(await run('agent', mode))).toEqual(expected)
  })

  it('streams a model cumulatively in messages, in pieces in messages-tuple', async () => {
    const partial = await run('tokens', 'messages')
    expect(names(partial)).toEqual(['metadata', 'messages/metadata', ...Array(5).fill('messages/partial')])
    expect(partial.slice(2).map(({ data }) => data[0].content)).toEqual([
      'alpha',
      'alpha ',
      'alpha beta',
      'alpha beta ',
      'alpha beta gamma',
    ])
    const pieces = (await run('tokens', ['messages-tuple'])).slice(1)
    expect(pieces.map(({ data }) => data[0].content).join('')).toBe('alpha beta gamma')
    expect(pieces.map(({ data }) => data[0].chunk_position)).toEqual([null, null, null, null, 'last'])
    expect(pieces[0]?.data[0].type).toBe('AIMessageChunk')
    expect(pieces[0]?.data[1]).toMatchObject({ langgraph_node: 'tokens', langgraph_step: 1 })
  })

  it('leaves ids out of updates with stream_subgraphs', async () => {
    const events = await run('agent', ['updates'], { stream_subgraphs: true })
    expect(events[1]?.data.agent.messages[0].id).toBeNull()
  })

  it('writes custom events first when the text asks for them', async () => {
    const id = await agent.thread()
    const body = { assistant_id: 'agent', input: says('custom please'), stream_mode: ['custom', 'updates'] }
    const events = await agent.stream(id, body)
    expect(names(events)).toEqual(['metadata', 'custom', 'custom', 'updates'])
    expect(events.slice(1, 3).map(({ data }) => data)).toEqual([{ progress: 1 }, 'plain string'])
  })

  it('refuses unknown modes with the recorded sentence', async () => {
    const id = await agent.thread()
    const answer = await agent.call('POST', `/threads/${id}/runs/stream`, {
      assistant_id: 'agent',
      stream_mode: ['updates', 'bogus'],
    })
    expect([answer.status, answer.body.detail]).toEqual([
      422,
      '["updates","bogus"] is not valid under any of the schemas listed in the \'anyOf\' keyword\n\n' +
        'Failed validating "anyOf" in schema["components"]["schemas"]["RunCreateStateful"]["properties"]' +
        '["stream_mode"]\n\nOn instance["stream_mode"]:\n    ["updates","bogus"]',
    ])
  })
})

describe('graphs', () => {
  it.each([
    ['agent', 'echo: hello (seen 1)'],
    ['counter', 'count=1'],
    ['ctxecho', 'ctx={}'],
    ['blocks', [{ type: 'text', text: 'block answer' }]],
    ['tokens', 'alpha beta gamma'],
  ])('%s', async (graph, content) => {
    const events = await run(graph, 'updates')
    expect(events[1]?.data[graph].messages[0].content).toEqual(content)
  })

  it('nullnode returns nothing, nomessages has no messages', async () => {
    expect((await run('nullnode', ['updates', 'values'])).slice(1).map(({ event }) => event)).toEqual([
      'values',
      'updates',
    ])
    const id = await agent.thread()
    const body = { assistant_id: 'nomessages', input: { question: 'q?' }, stream_mode: ['values', 'updates'] }
    expect((await agent.stream(id, body)).slice(1).map(({ data }) => data)).toEqual([
      { question: 'q?' },
      { nomessages: { answer: 're: q?' } },
      { question: 'q?', answer: 're: q?' },
    ])
  })

  it('failing ends in an error event; run and thread tell it too', async () => {
    const id = await agent.thread()
    const events = await agent.stream(id, {
      assistant_id: 'failing',
      input: says('x'),
      stream_mode: 'values',
    })
    const error = { error: 'ValueError', message: 'deliberate failure in node' }
    expect(names(events)).toEqual(['metadata', 'values', 'error'])
    expect(events[2]?.data).toEqual(error)
    const runs = await agent.call('GET', `/threads/${id}/runs`)
    expect(runs.body[0].status).toBe('error')
    expect((await agent.call('GET', `/threads/${id}`)).body).toMatchObject({ status: 'error', error })
    const state = await agent.call('GET', `/threads/${id}/state`)
    expect(state.body.tasks[0].error).toBe("ValueError('deliberate failure in node')")
    const wait = await agent.call('POST', '/runs/wait', { assistant_id: 'failing', input: says('x') })
    expect([wait.status, wait.body]).toEqual([200, { __error__: error }])
  })

  it.each([
    ['no input', { input: null }, 'EmptyInputError'],
    ['a text', { input: 'hello' }, 'InvalidUpdateError'],
    ['a role that nobody knows', { input: { messages: [{ role: 'banana', content: 'x' }] } }, 'ValueError'],
    ['a command before any run', { input: undefined, command: { resume: 1 } }, 'TypeError'],
    [
      'a limit that is too low',
      { assistant_id: 'two', config: { recursion_limit: 1 } },
      'GraphRecursionError',
    ],
  ])('%s fails inside the stream', async (_name, more, kind) => {
    const events = await run('agent', 'custom', more)
    expect(names(events)).toEqual(['metadata', 'error'])
    expect(events[1]?.data.error).toBe(kind)
  })

  it('takes a text, a pair, blocks and nothing for messages', async () => {
    const said = async (messages: unknown): Promise<string> => {
      const input = messages === undefined ? {} : { messages }
      const events = await agent.stream(undefined, { assistant_id: 'agent', input, stream_mode: 'updates' })
      return events[1]?.data.agent.messages[0].content
    }
    expect(await said('plain')).toBe('echo: plain (seen 1)')
    expect(await said([['user', 'pair']])).toBe('echo: pair (seen 1)')
    expect(
      await said([
        {
          role: 'user',
          content: [
            { type: 'text', text: 'bl' },
            { type: 'text', text: 'ock' },
          ],
        },
      ]),
    ).toBe('echo: block (seen 1)')
    expect(await said(undefined)).toBe('echo: (none) (seen 0)')
  })
})
