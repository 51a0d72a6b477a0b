import { afterAll, describe, expect, it } from '@jest/globals'
import type { AgentServer } from '../../../src/clients/agent-server/api.ts'
import { Answer } from '../../../src/clients/agent-server/messages.ts'
import { getRunStatus, type StreamVerdict, streamRun } from '../../../src/clients/agent-server/runs.ts'
import { getThread } from '../../../src/clients/agent-server/threads.ts'
import { type Exchange, exchange, recording, startReplay, testTransport } from '../../helpers/replay.ts'

/** Every recorded run of both real servers is streamed to our client, in pieces of a few bytes. */
const transport = testTransport()
afterAll(() => transport.close())

interface Played {
  readonly text: string
  readonly nodes: readonly string[]
  readonly runId: string | undefined
  readonly verdict: StreamVerdict
  readonly interrupts: readonly unknown[] | undefined
  readonly feedback: unknown
}

async function play(recorded: Exchange, chunk = 13): Promise<Played> {
  const replay = await startReplay(() => recorded.response, { chunk })
  try {
    const server: AgentServer = { transport, url: replay.url, headers: { 'x-api-key': 'k' } }
    const body = { assistant_id: 'agent', stream_mode: ['updates'] }
    const run = await streamRun(server, 'thread-1', body, { deadline: Date.now() + 10_000 })
    const answer = new Answer()
    let interrupts: readonly unknown[] | undefined
    let feedback: unknown
    for await (const event of run.events) {
      answer.add(event)
      interrupts = event.interrupts ?? interrupts
      if (event.type === 'feedback') feedback = event.urls
    }
    return {
      text: answer.text,
      nodes: answer.nodes,
      runId: run.runId(),
      verdict: run.verdict(),
      interrupts,
      feedback,
    }
  } finally {
    await replay.close()
  }
}

describe.each(['python-0.16.7', 'python-0.5.23'])('runs recorded of %s', (version) => {
  const all = recording(version)
  const named = (name: string): Exchange => exchange(all, name)

  it('reads every recorded stream to its end, and finds its run', async () => {
    const streams = all.filter(
      ({ request, response, end }) =>
        request.method === 'POST' &&
        /\/threads\/[^/]+\/runs\/stream$/.test(request.path) &&
        response.status === 200 &&
        end === undefined,
    )
    expect(streams.length).toBeGreaterThan(40)
    for (const recorded of streams) {
      const played = await play(recorded, 4_096)
      expect([recorded.name, played.verdict.closed]).toEqual([recorded.name, true])
      const location = recorded.response.headers['content-location'] ?? ''
      expect([recorded.name, location.endsWith(`/runs/${played.runId}`)]).toEqual([recorded.name, true])
    }
  })

  it.each([
    ['4-values', 'echo: hello (seen 1)'],
    ['4-messages', 'echo: hello (seen 1)'],
    ['4-messages-tuple-only', 'echo: hello (seen 1)'],
    ['4-messages-tuple-tokens', 'alpha beta gamma'],
    ['4-updates-values', 'echo: hello (seen 1)'],
    ['4-two-updates-values', 'step one\nstep two'],
    ['4-blocks', 'block answer'],
    ['4-subgraphs', 'echo: hello (seen 1)'],
    ['4-nomessages', '{"nomessages":{"answer":"re: q?"}}'],
    ['4-nullnode', '{"nullnode":null}'],
    ['5-counter', 'count=3'],
  ])('%s said %j', async (name, text) => {
    const played = await play(named(name))
    expect(played.text).toBe(text)
    expect(played.verdict.error).toBeUndefined()
    expect(played.verdict.stateEvents).toBeGreaterThan(0)
  })

  it('names the nodes in order', async () => {
    expect((await play(named('4-two-updates-values'))).nodes).toEqual(['first', 'second'])
  })

  it('tells a failed run by its error event, though HTTP says 200', async () => {
    const { verdict, text } = await play(named('4-failing'))
    expect(verdict).toMatchObject({
      closed: true,
      error: { kind: 'ValueError', message: 'deliberate failure in node' },
    })
    expect(text).toBe('')
  })

  it('tells a run that failed when feedback URLs were minted, after its answer', async () => {
    const { verdict, feedback, text } = await play(named('4-feedback-nokey'))
    expect(text).toBe('echo: hello (seen 1)')
    expect(verdict.error).toBeDefined()
    expect(verdict.stateEvents).toBe(1)
    expect(feedback).toBeUndefined()
  })

  it('reads the status of a run and of its thread', async () => {
    const cases = [
      ['4-failing', 'error', 'error'],
      ['4-interrupting', 'success', 'interrupted'],
    ] as const
    for (const [name, status, threadStatus] of cases) {
      const replay = await startReplay(
        ({ path }) => named(path.includes('/runs/') ? `${name}-run` : `${name}-thread`).response,
      )
      const server = { transport, url: replay.url, headers: {} }
      const options = { deadline: Date.now() + 5_000 }
      expect(await getRunStatus(server, 't', 'r', options)).toBe(status)
      expect((await getThread(server, 't', options)).status).toBe(threadStatus)
      await replay.close()
    }
  })
})

describe('runs recorded of 0.16.7 only', () => {
  const all = recording('python-0.16.7')

  it('counts heartbeats, which may come before the metadata', async () => {
    const { verdict, runId } = await play(exchange(all, '4-busy-enqueue'))
    expect(verdict.heartbeats).toBeGreaterThan(0)
    expect(runId).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('tells what an interrupted graph asks', async () => {
    const { interrupts, text } = await play(exchange(all, '4-interrupting-values'))
    expect(interrupts).toMatchObject([{ value: { question: 'approve?' } }])
    expect(text).not.toContain('hello')
  })

  it('sees nothing wrong in the closed stream of a cancelled run: its status is what tells', async () => {
    const { verdict } = await play(exchange(all, '4-cancel-wait-stream'))
    expect(verdict.error).toBeUndefined()
    expect(verdict.closed).toBe(true)
  })
})

describe('feedback recorded of 0.16.7', () => {
  it('reads the URLs by key', async () => {
    const { feedback } = await play(exchange(recording('python-0.16.7-feedback'), '8-ok-one'))
    expect(feedback).toEqual({
      user_liked: expect.stringMatching(/\/api\/v1\/feedback\/tokens\/[0-9a-f-]{36}$/),
    })
  })
})
