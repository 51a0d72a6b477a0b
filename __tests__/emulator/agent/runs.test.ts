import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { OpenStream, TestAgent } from './server.ts'
import { parse, says, startAgent } from './server.ts'

const UNKNOWN = '00000000-0000-4000-8000-000000000000'
let agent: TestAgent

beforeAll(async () => {
  agent = await startAgent()
})
afterAll(() => agent.close())

interface Slow {
  threadId: string
  runId: string
  path: string
  stream: OpenStream
}

/** A run of the graph that takes 20 s, once it works. */
async function slow(more: object = {}): Promise<Slow> {
  const threadId = await agent.thread()
  const body = { assistant_id: 'slow', input: says('x'), stream_mode: ['values', 'updates'], ...more }
  const stream = await agent.open(`/threads/${threadId}/runs/stream`, body)
  const runId = parse(await stream.until('event: values'))[0]?.data.run_id
  return { threadId, runId, path: `/threads/${threadId}/runs/${runId}`, stream }
}

const statusOf = async (path: string): Promise<string> => (await agent.call('GET', path)).body.status

/** Reads until a run or thread has the status: for what the server does after a client hung up. */
async function becomes(path: string, status: string): Promise<void> {
  while ((await statusOf(path)) !== status) await new Promise((resolve) => setTimeout(resolve, 10))
}

describe('runs', () => {
  it('start in the background, are listed newest first, told with their kwargs, joined and deleted', async () => {
    const id = await agent.thread()
    const body = { assistant_id: 'agent', input: says('hi') }
    const made = await agent.call('POST', `/threads/${id}/runs`, body, { 'x-request-id': 'mine' })
    expect(made.body.status).toBe('pending')
    const path = `/threads/${id}/runs/${made.body.run_id}`
    expect(made.headers.get('content-location')).toBe(path)
    const joined = await agent.call('GET', `${path}/join`)
    expect(joined.body.messages[1].content).toBe('echo: hi (seen 1)')
    expect(joined.headers.get('location')).toBe(`${path}/join`)
    const run = await agent.call('GET', path)
    expect(run.body).toMatchObject({
      status: 'success',
      multitask_strategy: 'enqueue',
      langsmith_session_name: null,
      kwargs: { input: says('hi'), temporary: false, stream_mode: ['values'] },
    })
    expect(run.body.kwargs.config.configurable.langgraph_request_id).toBe('mine')
    const second = await agent.call('POST', `/threads/${id}/runs`, body)
    await agent.call('GET', `/threads/${id}/runs/${second.body.run_id}/join`)
    const { body: list } = await agent.call('GET', `/threads/${id}/runs?limit=1`)
    expect(list.map((item: { run_id: string }) => item.run_id)).toEqual([second.body.run_id])
    expect((await agent.call('DELETE', path)).status).toBe(204)
    expect((await agent.call('GET', path)).status).toBe(404)
  })

  it('refuse what the recorded server refuses', async () => {
    const id = await agent.thread()
    const post = (thread: string, body: object) => agent.call('POST', `/threads/${thread}/runs/stream`, body)
    const input = says('x')
    const unknownName = await post(id, { assistant_id: 'nope', input })
    expect([unknownName.status, unknownName.body.detail]).toEqual([
      422,
      "Invalid assistant: 'nope'. Must be either:\n- A valid assistant UUID, or\n- One of the registered graphs: " +
        'agent, counter, failing, slow, interrupting, nomessages, ctxecho, two, nullnode, tokens, blocks',
    ])
    const missing = [404, 'Thread or assistant not found.']
    const unknownId = await post(id, { assistant_id: UNKNOWN, input })
    expect([unknownId.status, unknownId.body.detail]).toEqual(missing)
    const unknownThread = await post(UNKNOWN, { assistant_id: 'agent', input })
    expect([unknownThread.status, unknownThread.body.detail]).toEqual(missing)
    const badThread = await post('nope', { assistant_id: 'agent', input })
    expect([badThread.status, badThread.body.detail]).toEqual([400, 'badly formed hexadecimal UUID string'])
    const both = await post(id, {
      assistant_id: 'agent',
      input,
      config: { configurable: { a: 1 } },
      context: { b: 1 },
    })
    expect(both.status).toBe(400)
    const keys = await post(id, { assistant_id: 'agent', input, feedback_keys: [1] })
    expect(keys.body.detail).toMatch(
      /\["feedback_keys"\]\["items"\]\n\nOn instance\["feedback_keys"\]\[0\]:\n {4}1$/,
    )
    const gone = await agent.call('GET', `/threads/${id}/runs/${UNKNOWN}`)
    expect([gone.status, gone.body.detail]).toEqual([404, 'Not Found'])
    const badRun = await agent.call('GET', `/threads/${id}/runs/nope`)
    expect(badRun.body.detail).toBe('Invalid run ID: must be a UUID')
    const stream = await agent.call('GET', `/threads/${id}/runs/${UNKNOWN}/stream`)
    expect(parse(stream.text)).toMatchObject([
      { event: 'error', data: { error: 'HTTPException', message: '404: Run not found' } },
    ])
  })

  it('make the thread when asked to', async () => {
    const id = '33333333-4444-4555-8666-777777777777'
    const body = { assistant_id: 'agent', input: says('x'), if_not_exists: 'create' }
    expect((await agent.call('POST', `/threads/${id}/runs/wait`, body)).status).toBe(200)
    expect(Object.keys((await agent.call('GET', `/threads/${id}`)).body).slice(0, 3)).toEqual([
      'thread_id',
      'status',
      'metadata',
    ])
  })

  it('wait after_seconds before they begin', async () => {
    const id = await agent.thread()
    const body = { assistant_id: 'agent', input: says('x'), after_seconds: 0.2 }
    const made = await agent.call('POST', `/threads/${id}/runs`, body)
    const path = `/threads/${id}/runs/${made.body.run_id}`
    expect(await statusOf(path)).toBe('pending')
    await agent.call('GET', `${path}/join`)
    expect(await statusOf(path)).toBe('success')
  })

  it('without a thread leave none behind, unless it is to be kept', async () => {
    const body = { assistant_id: 'agent', input: says('x') }
    const wait = await agent.call('POST', '/runs/wait', body)
    const thread = /^\/threads\/[^/]+/.exec(wait.headers.get('content-location') ?? '')?.[0] ?? ''
    expect((await agent.call('GET', thread)).status).toBe(404)
    const kept = await agent.call('POST', '/runs/wait', { ...body, on_completion: 'keep' })
    const keptThread = /^\/threads\/[^/]+/.exec(kept.headers.get('content-location') ?? '')?.[0] ?? ''
    expect(await statusOf(keptThread)).toBe('idle')
    const stream = await agent.call('POST', '/runs/stream', body)
    expect(stream.headers.get('location')).toMatch(/^\/runs\/[^/]+\/stream$/)
    expect((await agent.call('GET', stream.headers.get('location') ?? '')).status).toBe(404)
    const batch = await agent.call('POST', '/runs/batch', [body, body])
    expect(batch.body.map((run: { status: string }) => run.status)).toEqual(['pending', 'pending'])
  })
})

describe('a thread that is busy', () => {
  it('refuses with reject, and makes the others wait their turn', async () => {
    const busy = await slow()
    const path = `/threads/${busy.threadId}/runs`
    const body = { assistant_id: 'counter', input: says('y'), stream_mode: 'updates' }
    const refused = await agent.call('POST', `${path}/stream`, { ...body, multitask_strategy: 'reject' })
    expect([refused.status, refused.body.detail]).toEqual([
      409,
      'Thread is already running a task. Wait for it to finish or choose a different multitask strategy.',
    ])
    const waiting = await agent.open(`${path}/stream`, body)
    const [newest] = (await agent.call('GET', path)).body
    expect([newest.status, await statusOf(`/threads/${busy.threadId}`)]).toEqual(['pending', 'busy'])
    await agent.call('POST', `${busy.path}/cancel`)
    const events = parse(await waiting.rest())
    expect(events.map(({ event }) => event)).toEqual(['metadata', 'updates'])
    expect(events[1]?.data.counter.messages[0].content).toBe('count=2')
  })

  it('interrupt: the first run ends silently and keeps what it wrote', async () => {
    const busy = await slow()
    const events = await agent.stream(busy.threadId, {
      assistant_id: 'agent',
      input: says('y'),
      stream_mode: 'updates',
      multitask_strategy: 'interrupt',
    })
    expect(events[1]?.data.agent.messages[0].content).toBe('echo: y (seen 2)')
    expect(parse(await busy.stream.rest()).map(({ event }) => event)).toEqual(['metadata', 'values'])
    expect(await statusOf(busy.path)).toBe('interrupted')
  })

  it('rollback: the first run is gone with what it wrote', async () => {
    const busy = await slow()
    const events = await agent.stream(busy.threadId, {
      assistant_id: 'agent',
      input: says('y'),
      stream_mode: 'updates',
      multitask_strategy: 'rollback',
    })
    expect(events[1]?.data.agent.messages[0].content).toBe('echo: y (seen 1)')
    expect((await agent.call('GET', busy.path)).status).toBe(404)
  })
})

describe('the end of a run that works', () => {
  it('cancel answers 202 at once, or 200 {} after the end; the stream closes without an error', async () => {
    const first = await slow()
    const now = await agent.call('POST', `${first.path}/cancel`)
    expect([now.status, now.text]).toEqual([202, ''])
    expect(parse(await first.stream.rest()).map(({ event }) => event)).toEqual(['metadata', 'values'])
    expect([await statusOf(first.path), await statusOf(`/threads/${first.threadId}`)]).toEqual([
      'interrupted',
      'interrupted',
    ])
    const again = await agent.call('POST', `${first.path}/cancel`)
    expect([again.status, again.body.detail]).toEqual([
      404,
      expect.stringMatching(/^No matching runs to cancel/),
    ])

    const second = await slow()
    const waited = await agent.call('POST', `${second.path}/cancel?wait=true&action=rollback`)
    expect([waited.status, waited.body, waited.headers.get('location')]).toEqual([
      200,
      {},
      `${second.path}/join`,
    ])
    expect((await agent.call('GET', second.path)).status).toBe(404)
    expect((await agent.call('POST', `${second.path}/cancel`)).body.detail).toBe('No runs found to cancel.')
  })

  it('cancels a run that waits in the queue', async () => {
    const busy = await slow()
    const body = { assistant_id: 'agent', input: says('y') }
    const { body: waiting } = await agent.call('POST', `/threads/${busy.threadId}/runs`, body)
    const cancelled = await agent.call('POST', `/runs/cancel`, {
      thread_id: busy.threadId,
      run_ids: [waiting.run_id],
    })
    expect(cancelled.status).toBe(204)
    expect(await statusOf(`/threads/${busy.threadId}/runs/${waiting.run_id}`)).toBe('interrupted')
    expect(await statusOf(busy.path)).toBe('running')
    await agent.call('POST', `${busy.path}/cancel`)
  })

  it('goes on when its client hangs up, unless on_disconnect is cancel', async () => {
    const going = await slow()
    going.stream.hangUp()
    const ending = await slow({ on_disconnect: 'cancel' })
    ending.stream.hangUp()
    await becomes(ending.path, 'interrupted')
    const thread = await agent.call('GET', `/threads/${ending.threadId}`)
    expect(thread.body).toMatchObject({
      status: 'interrupted',
      error: {
        error: 'UserInterrupt',
        message: 'client disconnected from the run stream (on_disconnect=cancel)',
      },
    })
    expect(await statusOf(going.path)).toBe('running')
    const joined = await agent.open(`${going.path}/stream?cancel_on_disconnect=true`)
    joined.hangUp()
    await becomes(going.path, 'interrupted')
  })

  it('ends its streams in an error when its thread is deleted', async () => {
    const busy = await slow()
    const follower = await agent.open(`/threads/${busy.threadId}/stream`)
    expect((await agent.call('DELETE', `/threads/${busy.threadId}`)).status).toBe(204)
    expect(parse(await busy.stream.rest()).at(-1)).toMatchObject({
      event: 'error',
      data: { error: 'HTTPException', message: '404: Run not found' },
    })
    await follower.rest()
  })

  it('closes streams when the server closes', async () => {
    const other = await startAgent()
    const id = await other.thread()
    const stream = await other.open(`/threads/${id}/runs/stream`, { assistant_id: 'slow', input: says('x') })
    await stream.until('event: values')
    await other.close()
    expect(parse(await stream.rest()).at(-1)?.event).toBe('values')
  })
})

describe('joining a stream', () => {
  it('replays a resumable run from after the last id, without its error', async () => {
    const id = await agent.thread()
    const body = { assistant_id: 'two', input: says('x'), stream_mode: 'updates', stream_resumable: true }
    const live = await agent.stream(id, body)
    const path = `/threads/${id}/runs/${live[0]?.data.run_id}/stream`
    const replay = async (last: string | undefined, query = ''): Promise<string[]> => {
      const headers: Record<string, string> = last === undefined ? {} : { 'last-event-id': last }
      return parse((await agent.call('GET', path + query, undefined, headers)).text).map(({ event }) => event)
    }
    expect(await replay('-1')).toEqual(['metadata', 'updates', 'updates'])
    expect(await replay('0')).toEqual(['metadata', 'updates', 'updates'])
    expect(await replay(live[0]?.id)).toEqual(['updates', 'updates'])
    expect(await replay(live[2]?.id)).toEqual([])
    expect(await replay('bogus')).toEqual([])
    expect(await replay(undefined)).toEqual([])
    expect(await replay('-1', '?stream_mode=updates')).toEqual(['updates', 'updates'])
    expect(await replay('-1', '?stream_mode=values')).toEqual([])

    const failed = await agent.stream(id, { ...body, assistant_id: 'failing' })
    expect(failed.map(({ event, id: mark }) => [event, mark !== undefined])).toEqual([
      ['metadata', true],
      ['error', true],
    ])
    const failedPath = `/threads/${id}/runs/${failed[0]?.data.run_id}/stream`
    const again = await agent.call('GET', failedPath, undefined, { 'last-event-id': '-1' })
    expect(parse(again.text).map(({ event }) => event)).toEqual(['metadata'])
  })

  it('of a run that works begins where it is, without metadata', async () => {
    const busy = await slow()
    const joined = await agent.open(`${busy.path}/stream`)
    await agent.call('POST', `${busy.path}/cancel`)
    expect(await joined.rest()).toBe('')
  })

  it('of a whole thread has ids, and tells when a run is done', async () => {
    const id = await agent.thread()
    const follower = await agent.open(`/threads/${id}/stream`)
    await agent.stream(id, { assistant_id: 'agent', input: says('x') })
    const events = parse(await follower.until('run_done'))
    expect(events.map(({ event }) => event)).toEqual(['metadata', 'values', 'values', 'metadata'])
    expect(events.every((event) => event.id !== undefined)).toBe(true)
    follower.hangUp()
  })
})
