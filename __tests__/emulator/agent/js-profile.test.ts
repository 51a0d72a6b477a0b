import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { TestAgent } from './server.ts'
import { parse, says, startAgent } from './server.ts'

/** Every expectation here was answered so by `@langchain/langgraph-api` 1.5.1 when it was asked. */

const UNKNOWN = '00000000-0000-4000-8000-000000000000'
let agent: TestAgent

beforeAll(async () => {
  agent = await startAgent({ profile: 'js' })
})
afterAll(() => agent.close())

describe('profile js', () => {
  it('has no A2A, no docs, no root', async () => {
    for (const path of ['/', '/docs', '/nope', '/.well-known/agent-card.json', `/a2a/${UNKNOWN}`]) {
      const answer = await agent.call('GET', path)
      expect([path, answer.status, answer.text]).toEqual([path, 404, '404 Not Found'])
    }
    expect((await agent.call('GET', '/ok')).body).toEqual({ ok: true })
    expect((await agent.call('GET', '/info')).body).toMatchObject({ context: 'js' })
  })

  it('writes LF, numbers the events of thread runs only, and names no Location', async () => {
    const id = await agent.thread()
    const body = { assistant_id: 'agent', input: says('hello'), stream_mode: 'updates' }
    const answer = await agent.call('POST', `/threads/${id}/runs/stream`, body)
    const [metadata, updates] = parse(answer.text)
    expect(answer.text).not.toContain('\r')
    expect(answer.text).toMatch(/\nid: 0\n\nevent: updates\n.*\nid: 1\n\n$/)
    expect(Object.keys(updates?.data.agent.messages[0])).toEqual(
      'content tool_calls invalid_tool_calls additional_kwargs response_metadata id type'.split(' '),
    )
    expect([answer.headers.get('location'), answer.headers.get('content-location')]).toEqual([
      null,
      `/threads/${id}/runs/${metadata?.data.run_id}`,
    ])
    expect(answer.headers.get('content-type')).toBe('text/event-stream')
    const stateless = await agent.call('POST', '/runs/stream', body)
    expect(stateless.text).not.toContain('id: ')
  })

  it('validates with zod and answers other errors in plain text', async () => {
    const post = (path: string, body: unknown) => agent.call('POST', path, body)
    const missing = await post('/assistants', {})
    expect([missing.status, missing.body]).toEqual([
      400,
      {
        success: false,
        error: {
          issues: [
            {
              code: 'invalid_type',
              expected: 'string',
              received: 'undefined',
              path: ['graph_id'],
              message: 'Required',
            },
          ],
          name: 'ZodError',
        },
      },
    ])
    expect((await post('/threads', { thread_id: 'x' })).body.error.issues[0]).toEqual({
      validation: 'uuid',
      code: 'invalid_string',
      message: 'Invalid uuid',
      path: ['thread_id'],
    })
    const malformed = await post('/assistants', '{')
    expect([malformed.status, malformed.text]).toEqual([400, 'Malformed JSON in request body'])
    const unknown = await agent.call('GET', `/assistants/${UNKNOWN}`)
    expect([unknown.status, unknown.text, unknown.headers.get('content-type')]).toEqual([
      404,
      'Assistant not found',
      'text/plain;charset=UTF-8',
    ])
    const { body: thread } = await post('/threads', {})
    expect((await post('/threads', thread)).text).toBe('Thread already exists')
  })

  it('takes a graph name in the path, keeps config and context apart, tells what it deleted', async () => {
    expect((await agent.call('GET', '/assistants/agent')).body.graph_id).toBe('agent')
    const made = await agent.call('POST', '/assistants', {
      graph_id: 'agent',
      config: { configurable: { a: 1 } },
      context: { b: 2 },
    })
    expect(made.body).toMatchObject({ config: { configurable: { a: 1 } }, context: { b: 2 } })
    const { assistant_id } = made.body
    expect((await agent.call('DELETE', `/assistants/${assistant_id}`)).body).toEqual([assistant_id])
  })

  it('takes an unknown graph, whose run fails with an error alone', async () => {
    const { body } = await agent.call('POST', '/assistants', { graph_id: 'nope' })
    const id = await agent.thread()
    const events = await agent.stream(id, { assistant_id: body.assistant_id, input: says('x') })
    expect(events).toEqual([
      { event: 'error', data: { error: 'Error', message: 'Graph "nope" not found' }, id: '0' },
    ])
  })

  it('rejects a second run by default, and takes an unknown thread for a busy one', async () => {
    const id = await agent.thread()
    const busy = await agent.open(`/threads/${id}/runs/stream`, { assistant_id: 'slow', input: says('x') })
    await busy.until('event: values')
    const text =
      'Thread is already running a task. Wait for it to finish or choose a different multitask strategy.'
    for (const thread of [id, UNKNOWN]) {
      const answer = await agent.call('POST', `/threads/${thread}/runs/stream`, {
        assistant_id: 'agent',
        input: says('y'),
      })
      expect([answer.status, answer.text]).toEqual([422, text])
    }
    expect((await agent.call('DELETE', `/threads/${id}`)).status).toBe(204)
    const assistant = await agent.call('POST', '/runs/wait', { assistant_id: 'nope' })
    expect([assistant.status, assistant.text]).toEqual([
      404,
      'No assistant found for "nope". Make sure the assistant ID is for a valid assistant or a valid graph ID.',
    ])
  })

  it('waits in text/plain with an error in an error, and joins an unknown run with a text', async () => {
    const id = await agent.thread()
    const failed = await agent.call('POST', `/threads/${id}/runs/wait`, {
      assistant_id: 'failing',
      input: says('x'),
    })
    expect(failed.headers.get('content-type')).toBe('text/plain; charset=UTF-8')
    expect(JSON.parse(failed.text).__error__).toEqual({
      error: 'Error',
      message: '{"error":"Error","message":"deliberate failure in node"}',
    })
    const joined = await agent.call('GET', `/threads/${id}/runs/${UNKNOWN}/stream`)
    expect(joined.text).toBe('event: error\ndata: "Run not found"\n\n')
  })

  it('counts an offset twice in the total', async () => {
    const { headers } = await agent.call('POST', '/assistants/search', {
      metadata: { created_by: 'system' },
      offset: 1,
    })
    expect(headers.get('x-pagination-total')).toBe('12')
  })

  it('replays a resumable run from after an id', async () => {
    const id = await agent.thread()
    const body = { assistant_id: 'two', input: says('x'), stream_mode: 'updates', stream_resumable: true }
    const live = await agent.stream(id, body)
    const path = `/threads/${id}/runs/${live[0]?.data.run_id}/stream`
    const replay = await agent.call('GET', path, undefined, { 'last-event-id': '0' })
    expect(parse(replay.text)).toEqual(live.slice(1))
  })

  it('tells a question alone in the values, its id first, and before the result of the task', async () => {
    const events = await agent.stream(await agent.thread(), {
      assistant_id: 'interrupting',
      input: says('x'),
      stream_mode: ['values', 'tasks', 'updates'],
    })
    expect(events.map(({ event }) => event).slice(2)).toEqual(['tasks', 'updates', 'values', 'tasks'])
    const [asked, values, result] = events.slice(3).map(({ data }) => data)
    expect(Object.keys(asked.__interrupt__[0])).toEqual(['id', 'value'])
    expect(values).toEqual(asked)
    expect(Object.keys(result)).toEqual(['id', 'name', 'result', 'interrupts'])
  })

  it('stops after the last node, too, and tells so in both modes', async () => {
    const events = await agent.stream(await agent.thread(), {
      assistant_id: 'agent',
      input: says('x'),
      stream_mode: ['values', 'updates'],
      interrupt_after: ['agent'],
    })
    expect(events.slice(-2)).toMatchObject([
      { event: 'updates', data: { __interrupt__: [] } },
      { event: 'values', data: { __interrupt__: [] } },
    ])
  })

  it('ends the metadata of a message with its place', async () => {
    const events = await agent.stream(await agent.thread(), {
      assistant_id: 'agent',
      input: says('x'),
      stream_mode: 'messages-tuple',
    })
    const keys = Object.keys(events[1]?.data[1])
    expect(keys.slice(keys.indexOf('thread_id'), keys.indexOf('thread_id') + 2)).toEqual([
      'thread_id',
      'run_id',
    ])
    expect(keys.slice(-2)).toEqual(['langgraph_checkpoint_ns', 'checkpoint_ns'])
  })

  it('answers a cancel that waits with 204', async () => {
    const id = await agent.thread()
    const body = { assistant_id: 'slow', input: says('x'), stream_mode: 'values' }
    const stream = await agent.open(`/threads/${id}/runs/stream`, body)
    await stream.until('event: values')
    const [{ run_id }] = (await agent.call('GET', `/threads/${id}/runs`)).body
    const cancelled = await agent.call('POST', `/threads/${id}/runs/${run_id}/cancel?wait=true`)
    expect([cancelled.status, cancelled.text]).toEqual([204, ''])
    await stream.rest()
  })
})
