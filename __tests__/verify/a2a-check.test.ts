import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import type { Transport } from '../../src/http/transport.ts'
import { checkA2a } from '../../src/verify/a2a-check.ts'
import type { A2aCheck, TextMatcher } from '../../src/verify/checks.ts'
import type { CheckContext, Outcome } from '../../src/verify/types.ts'
import {
  type Exchange,
  exchange,
  type Replay,
  type Reply,
  recording,
  type Seen,
  startReplay,
  testTransport,
} from '../helpers/replay.ts'

const AGENT = 'fe096781-5601-53d2-b2f6-0d3403f7e9ca'
const CONTEXT = '4af12fa5-1a9c-4229-99d7-f8f8e8b38a93'
const recordings = { '0.5.23': recording('python-0.5.23'), '0.16.7': recording('python-0.16.7') }
type Version = keyof typeof recordings

let controller: AbortController
let transport: Transport
let replay: Replay
let routes: Routes
let cleanups: (() => Promise<void>)[]

/** What the server answers; lists are taken from the front, the last one stays. */
interface Routes {
  card: Reply | undefined
  says: Reply[]
  tasksGet: Reply[]
  thread?: Reply
  info?: Reply | undefined
  schemas?: Reply | undefined
}

beforeEach(async () => {
  controller = new AbortController()
  transport = testTransport(controller.signal)
  cleanups = []
  routes = { card: card(), says: [], tasksGet: [] }
  replay = await startReplay(answer)
})

afterEach(async () => {
  await transport.close()
  await replay.close()
})

function answer(request: Seen): Reply | undefined {
  const { method, path, json } = request
  const next = (list: Reply[]): Reply | undefined => (list.length > 1 ? list.shift() : list[0])
  if (path.startsWith('/.well-known/')) return routes.card
  if (method === 'POST' && path.startsWith('/a2a/')) {
    return next(json.method === 'tasks/get' ? routes.tasksGet : routes.says)
  }
  if (method === 'GET' && path.startsWith('/threads/')) return routes.thread
  if (path === '/info') return routes.info
  if (path.endsWith('/schemas')) return routes.schemas
  if (method === 'DELETE') return { status: 204, body: '' }
  const assistant = { assistant_id: AGENT, graph_id: 'agent', metadata: { created_by: 'system' } }
  if (path === '/assistants/search') return { status: 200, body: JSON.stringify([assistant]) }
  return undefined
}

const recorded = (version: Version, name: string): Exchange['response'] =>
  exchange(recordings[version], name).response

/** The recorded card of a version, with this server's URL. */
function card(
  version: Version = '0.16.7',
  change: (card: Record<string, unknown>) => void = () => {},
): Reply {
  const told = recorded(version, '7-card-uuid')
  const value = JSON.parse(told.body) as Record<string, unknown>
  change(value)
  return { ...told, body: JSON.stringify(value) }
}

function task(state: string, text?: string, more: object = {}): Reply {
  const artifacts = text === undefined ? [] : [{ artifactId: 'a', parts: [{ kind: 'text', text }] }]
  const result = {
    kind: 'task',
    id: `${CONTEXT}:r`,
    contextId: CONTEXT,
    status: { state },
    artifacts,
    ...more,
  }
  return { status: 200, body: JSON.stringify({ jsonrpc: '2.0', id: 'x', result }) }
}

function rpcError(code: number, message = 'no'): Reply {
  return { status: 200, body: JSON.stringify({ jsonrpc: '2.0', id: 'x', error: { code, message } }) }
}

const text = (source: string): TextMatcher => ({ source, matches: (said) => said.includes(source) })

function check(part: Partial<A2aCheck> & { text?: string } = {}): A2aCheck {
  const { text: wanted, ...rest } = part
  return {
    kind: 'a2a',
    name: 'speaks A2A',
    assistant: { kind: 'default' },
    method: 'send',
    messages: ['Hello'],
    expect: { interrupt: false, ...(wanted === undefined ? {} : { text: text(wanted) }) },
    ...rest,
  }
}

async function run(one: A2aCheck, timeoutMs = 10_000): Promise<Outcome> {
  let ids = 0
  const context: CheckContext = {
    target: { url: replay.url, headers: { 'x-api-key': 'key' }, allowHttp: false },
    tools: {
      transport,
      clock: transport.clock,
      log: undefined as never,
      signal: controller.signal,
      newId: () => `id-${++ids}`,
      mask: () => {},
    },
    info: {},
    deadline: Date.now() + timeoutMs,
    timeoutMs,
    afterwards: (_, work) => cleanups.push(() => work(Date.now() + 5_000)),
  }
  const outcome = await checkA2a(one, context)
  for (const cleanup of cleanups) await cleanup()
  return outcome
}

const rpcMethods = () => replay.seen.flatMap(({ json }) => (json?.method === undefined ? [] : [json.method]))
const deleted = () => replay.seen.filter(({ method }) => method === 'DELETE').map(({ path }) => path)

describe('an A2A check that passes', () => {
  it('reads the card, sends the messages, reads the last task with id and contextId, and cleans up', async () => {
    routes.says = [task('completed', 'one'), task('completed', 'two')]
    routes.tasksGet = [task('completed')]
    const outcome = await run(check({ messages: ['Hello', 'And again'], text: 'two' }))
    expect(outcome).toMatchObject({ reason: '', said: 'two' })
    expect(rpcMethods()).toEqual(['message/send', 'message/send', 'tasks/get'])
    expect(replay.seen.at(-2)?.json.params).toEqual({ id: `${CONTEXT}:r`, contextId: CONTEXT })
    expect(deleted()).toEqual([`/threads/${CONTEXT}`])
    expect(replay.seen.every(({ headers }) => headers['x-api-key'] === 'key')).toBe(true)
  })

  it.each(['0.5.23', '0.16.7'] as const)('understands a recorded conversation of %s', async (version) => {
    routes.card = card(version)
    routes.says = [recorded(version, '7-e-send'), recorded(version, '7-e-send2')]
    routes.tasksGet = [recorded(version, version === '0.5.23' ? '7-get-id+ctx' : '7-get-second')]
    expect((await run(check({ messages: ['one', 'two'], text: 'echo: two (seen 2)' }))).reason).toBe('')
  })

  it.each(['0.5.23', '0.16.7'] as const)('understands a recorded stream of %s', async (version) => {
    routes.card = card(version)
    routes.says = [recorded(version, '7-stream-noctx')]
    routes.tasksGet = [recorded(version, version === '0.5.23' ? '7-get-id+ctx' : '7-get-second')]
    expect((await run(check({ method: 'stream', text: 'echo: hello (seen 1)' }))).reason).toBe('')
  })

  it('answers a question with the next message, under its taskId', async () => {
    routes.says = [task('input-required'), task('completed', 'resumed')]
    routes.tasksGet = [task('completed')]
    expect((await run(check({ messages: ['go', 'yes'], text: 'resumed' }))).reason).toBe('')
    const second = replay.seen.filter(({ json }) => json?.method === 'message/send')[1]
    expect(second?.json.params.message).toMatchObject({ taskId: `${CONTEXT}:r`, contextId: CONTEXT })
  })

  it('takes a question that was expected', async () => {
    routes.says = [recorded('0.16.7', '7-stream-interrupting')]
    routes.tasksGet = [task('input-required')]
    const expected = { interrupt: true, text: text('approve?') }
    expect((await run(check({ method: 'stream', expect: expected }))).reason).toBe('')
  })

  it('waits a moment for a task that tasks/get still calls working', async () => {
    routes.says = [task('completed', 'hi')]
    routes.tasksGet = [task('working'), task('completed')]
    expect((await run(check({ text: 'hi' }))).reason).toBe('')
  })

  it('warns of a card that sends other agents elsewhere', async () => {
    routes.card = card('0.16.7', (value) => {
      value['url'] = 'http://internal:8000/a2a/x'
    })
    routes.says = [task('completed', 'hi')]
    routes.tasksGet = [task('completed')]
    const { reason, warnings } = await run(check())
    expect(reason).toBe('')
    expect(warnings?.[0]).toContain('internal:8000')
  })
})

describe('the stream of 0.5 that leaves nothing behind', () => {
  it.each([-32001, -32602])('is a warning when tasks/get then says %d', async (code) => {
    routes.card = card('0.5.23')
    routes.says = [recorded('0.5.23', '7-stream-noctx')]
    routes.tasksGet = [rpcError(code)]
    const outcome = await run(check({ method: 'stream', text: 'echo: hello' }))
    expect(outcome.reason).toBe('')
    expect(outcome.warnings?.join()).toContain('without a contextId')
  })

  it('is a failure with send', async () => {
    routes.says = [task('completed', 'hi')]
    routes.tasksGet = [rpcError(-32001)]
    const outcome = await run(check())
    expect(outcome.reason).toBe('Tasks/get of the last task was refused with JSON-RPC error -32001')
  })

  it('is named where a second message finds nothing of the first', async () => {
    routes.card = card('0.5.23')
    routes.says = [recorded('0.5.23', '7-stream-noctx'), recorded('0.5.23', '7-stream-noctx')]
    routes.tasksGet = [task('completed')]
    const outcome = await run(check({ method: 'stream', messages: ['a', 'b'], text: '(seen 2)' }))
    expect(outcome.reason).toContain('without the expected text "(seen 2)"')
    expect(outcome.hint).toContain('method: send')
  })
})

describe('an A2A check that fails says why, and what to do', () => {
  const says =
    (...replies: Reply[]) =>
    () => {
      routes.says = replies
      routes.tasksGet = [task('completed')]
    }
  const cases: [string, () => void, Partial<A2aCheck> & { text?: string }, RegExp, RegExp, RegExp?][] = [
    [
      'switched off',
      () => {
        routes.card = undefined
        routes.info = { status: 200, body: '{"version":"0.16.7"}' }
      },
      {},
      /^A2A is not offered.*404/,
      /disable_a2a/,
    ],
    [
      'too old',
      () => {
        routes.card = undefined
        routes.info = { status: 200, body: '{"version":"0.4.20"}' }
      },
      {},
      /version 0\.4\.20, and A2A needs 0\.4\.21/,
      /api_version/,
    ],
    [
      'the JavaScript server',
      () => {
        routes.card = undefined
        routes.info = { status: 200, body: '{"version":"1.5.0","langgraph_js_version":"1.4.18"}' }
      },
      {},
      /JavaScript/,
      /input:/,
    ],
    [
      'the JavaScript server, where it does not find out its library’s version',
      () => {
        routes.card = undefined
        routes.info = { status: 200, body: '{"version":"1.5.1","context":"js","flags":{}}' }
      },
      {},
      /JavaScript/,
      /input:/,
    ],
    [
      'a Python server with graphs in JavaScript, where it is switched off',
      () => {
        routes.card = undefined
        const info = { version: '0.16.7', langgraph_py_version: '1.2.22', context: 'js' }
        routes.info = { status: 200, body: JSON.stringify(info) }
      },
      {},
      /probably switched off/,
      /disable_a2a/,
    ],
    [
      'a 404 of a server that tells nothing',
      () => {
        routes.card = undefined
      },
      {},
      /^A2A is not offered/,
      /disable_a2a.*0\.4\.21/,
    ],
    [
      'no messages key, by the card',
      () => {
        routes.card = recorded('0.16.7', '7-card-nomessages')
      },
      {},
      /no `messages` key/,
      /MessagesState/,
    ],
    [
      'no messages key, by the refusal of 0.5',
      says(recorded('0.5.23', '7-send-nomessages')),
      {},
      /no `messages` key/,
      /MessagesState/,
      /no input schema/,
    ],
    [
      'no messages key, in a stream',
      says(recorded('0.16.7', '7-stream-nomessages')),
      { method: 'stream' },
      /no `messages` key/,
      /MessagesState/,
    ],
    [
      'no messages key, by the 500 of the 0.5 card',
      () => {
        routes.card = recorded('0.5.23', '7-card-nomessages')
        routes.schemas = { status: 200, body: '{"input_schema":null}' }
      },
      {},
      /no `messages` key/,
      /MessagesState/,
      /NoneType/,
    ],
    [
      'a card that cannot be made for another reason',
      () => {
        routes.card = { status: 500, body: 'Internal Server Error' }
      },
      {},
      /answered 500 while reading the agent card/,
      /log/,
    ],
    [
      'a card without its parts',
      () => {
        routes.card = card('0.5.23', (value) => {
          delete value['description']
          value['skills'] = []
          delete value['url']
        })
      },
      {},
      /^The agent card lacks description, skills, url/,
      /card/,
    ],
    [
      'an assistant that the card does not know',
      () => {
        routes.card = recorded('0.16.7', '7-card-unknown')
      },
      {},
      /no agent card for this assistant \(400\)/,
      /assistant:/,
      /not found/,
    ],
    [
      'a refused key',
      () => {
        routes.card = { status: 403, body: '{"detail":"Invalid token"}' }
      },
      {},
      /does not accept the key.*403/,
      /api-key/,
      /Invalid token/,
    ],
    [
      'a failed task',
      says(recorded('0.16.7', '7-send-failing')),
      {},
      /the task failed/,
      /trace/,
      /ValueError/,
    ],
    [
      'a failed stream',
      says(recorded('0.5.23', '7-stream-failing')),
      { method: 'stream' },
      /the task failed/,
      /trace/,
      /deliberate failure/,
    ],
    [
      'a failed earlier message',
      says(task('failed', 'no'), task('completed', 'yes')),
      { messages: ['a', 'b'] },
      /^Message 1 of 2: the task failed/,
      /trace/,
    ],
    ['a rejected message', says(task('rejected', 'not me')), {}, /rejected/, /does not take/, /not me/],
    [
      'a wrong answer',
      says(task('completed', 'Bye')),
      { text: 'Hello' },
      /without the expected text "Hello"/,
      /expect\.text/,
      /Bye/,
    ],
    ['an empty answer', says(task('completed', '')), { text: 'Hello' }, /empty text/, /said nothing/],
    ['an empty answer, whatever was expected', says(task('completed', ' ')), {}, /empty text$/, /text: ""/],
    [
      'the user’s own words, which 0.5 tells as the answer of an agent that says nothing',
      says(recorded('0.5.23', '7-send-nullnode')),
      { text: 'x' },
      /empty text, expected was "x"/,
      /said nothing/,
    ],
    [
      'an agent that asks on a server that cannot say so',
      () => {
        routes.card = card('0.5.23')
        says(recorded('0.5.23', '7-send-ctx-new'))()
        routes.thread = { status: 200, body: JSON.stringify({ thread_id: CONTEXT, status: 'interrupted' }) }
      },
      { expect: { interrupt: true } },
      /^The message: the agent stopped to ask, and the server tells its task as completed$/,
      /no input-required/,
      /echo/,
    ],
    [
      'an answer in blocks, which a stream of 0.5 keeps back',
      () => {
        routes.card = card('0.5.23')
        says(recorded('0.5.23', '7-stream-blocks'))()
      },
      { method: 'stream', text: 'block answer' },
      /empty text, expected was "block answer"/,
      /0\.5 line stream no text .* content blocks: use `method: send`/,
    ],
    [
      'an answer that asks',
      says(recorded('0.16.7', '7-stream-interrupting')),
      { method: 'stream' },
      /stopped to ask/,
      /interrupt: true/,
      /approve\?/,
    ],
    [
      'no question where one was expected',
      says(task('completed', 'done')),
      { expect: { interrupt: true } },
      /did not stop to ask/,
      /interrupt/,
    ],
    [
      'another conversation',
      says(task('completed', 'one'), task('completed', 'two', { contextId: 'other' })),
      { messages: ['a', 'b'] },
      /^Message 2 of 2 was answered under another contextId/,
      /server/,
    ],
    [
      'an answer that names no conversation',
      says(task('completed', 'hi', { contextId: undefined })),
      {},
      /no task with an id, a contextId and a state/,
      /proxy|routes of your own/,
    ],
    [
      'an answer to another call',
      says({ status: 200, body: '{"jsonrpc":"2.0","result":{}}' }),
      {},
      /another request \(its id differs\)/,
      /proxy|routes of your own/,
    ],
    [
      'a refusal',
      says(rpcError(-32603, 'Internal server error')),
      {},
      /refused with JSON-RPC error -32603/,
      /log/,
      /Internal/,
    ],
    [
      'a stream whose only event is a refusal, twice',
      says(recorded('0.16.7', '7-stream-noctx'), recorded('0.16.7', '7-stream-termtask')),
      { method: 'stream', messages: ['a', 'b'] },
      /^Message 2 of 2 was refused with JSON-RPC error -32004/,
      /no more messages/,
    ],
    [
      'a task that another canceled: 0.16 streams an empty artifact and "completed"',
      () => {
        says(recorded('0.16.7', '7-stream-nullnode'))()
        routes.tasksGet = [task('canceled')]
      },
      { method: 'stream' },
      /^The answer said that the task is "completed", and tasks\/get says "canceled"/,
      /canceled/,
    ],
    [
      'something that is not JSON',
      says({ status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' }),
      {},
      /not JSON/,
      /proxy|web page/,
    ],
    [
      'a stream that is not JSON',
      says({ status: 200, headers: { 'content-type': 'text/event-stream' }, body: 'data: hello\n\n' }),
      { method: 'stream' },
      /not JSON/,
      /proxy/,
    ],
    [
      'a redirect',
      says({ status: 307, headers: { location: 'https://other.example/a2a' }, body: '' }),
      {},
      /redirect to host other\.example/,
      /final URL/,
    ],
  ]

  const rows = cases.map(([title, arrange, part, reason, hint, said]) => {
    return { title, arrange, part, reason, hint, said }
  })

  it.each(rows)('$title', async ({ arrange, part, reason, hint, said }) => {
    arrange()
    const outcome = await run(check(part))
    expect(outcome.reason).toMatch(reason)
    expect(outcome.hint ?? '').toMatch(hint)
    if (said !== undefined) {
      expect(outcome.said).toMatch(said)
      expect(outcome.reason).not.toMatch(said)
    }
  })

  it('a stream that closes without an error before its end: a canceled run does that', async () => {
    const whole = recorded('0.5.23', '7-cancel-stream')
    const half = { ...whole, body: whole.body.slice(0, whole.body.indexOf('event: message', 20)) }
    routes.says = [half]
    routes.tasksGet = [task('canceled')]
    const outcome = await run(check({ method: 'stream' }))
    expect(outcome.reason).toBe(
      'The stream of the message closed before the task came to its end; the task is "canceled"',
    )
    expect(outcome.hint).toContain('without an error')
  })

  it('a stream that breaks', async () => {
    const whole = recorded('0.16.7', '7-stream-noctx')
    routes.says = [{ ...whole, body: whole.body.slice(0, 700), break: true }]
    const outcome = await run(check({ method: 'stream' }))
    expect(outcome.reason).toMatch(/^The connection broke before the message was answered/)
    expect(outcome.hint).toContain('restarted')
    expect(deleted()).toEqual(['/threads/8faa8bdf-3fc5-47fa-85d5-cab77ea5ad04'])
  })

  it('a stream that never ends', async () => {
    const whole = recorded('0.16.7', '7-stream-noctx')
    routes.says = [{ ...whole, body: whole.body.slice(0, 700), hang: true }]
    const outcome = await run(check({ method: 'stream' }), 400)
    expect(outcome.reason).toMatch(/^Not done within 0\.4 s/)
    expect(outcome.hint).toContain('within-seconds')
  })

  it('an answer that comes later than `within-seconds`, however long the check may take', async () => {
    routes.says = [{ status: 200, body: '{', hang: true }]
    const outcome = await run(check({ expect: { interrupt: false, withinMs: 300 } }), 60_000)
    expect(outcome.reason).toMatch(/^Not done within 0\.3 s/)
    expect(outcome.warnings?.at(-1)).toMatch(/^the thread of the message .* stays/)
  })

  it.each([
    ['', {}, 'Hello', undefined],
    ['an empty text that is right', { expect: { interrupt: false, text: text('') } }, '', undefined],
    ['an answer on a thread that is idle', {}, 'Hello', 'idle'],
  ])('nothing else: %s', async (_, part, answered, thread) => {
    if (thread !== undefined) {
      routes.card = card('0.5.23')
      routes.thread = { status: 200, body: JSON.stringify({ thread_id: CONTEXT, status: thread }) }
    }
    routes.says = [task('completed', answered)]
    routes.tasksGet = [task('completed')]
    expect(await run(check(part))).toEqual(expect.objectContaining({ reason: '' }))
  })

  it('nothing, when the job is cancelled: that is no finding', async () => {
    routes.says = [{ status: 200, body: '{', hang: true }]
    setTimeout(() => controller.abort(new Error('cancelled by the test')), 100)
    await expect(run(check())).rejects.toThrow('cancelled by the test')
  })

  it('nothing either, when it is cancelled while tasks/get says why a stream was cut', async () => {
    const whole = recorded('0.16.7', '7-stream-noctx')
    routes.says = [{ ...whole, body: whole.body.slice(0, whole.body.indexOf('event: message', 20)) }]
    routes.tasksGet = [{ status: 200, body: '{', hang: true }]
    setTimeout(() => controller.abort(new Error('cancelled by the test')), 200)
    await expect(run(check({ method: 'stream' }))).rejects.toThrow('cancelled by the test')
  })
})

describe('a stream that the server leaves open after its last event', () => {
  it('is done with that event', async () => {
    routes.says = [{ ...recorded('0.16.7', '7-stream-noctx'), hang: true }]
    routes.tasksGet = [task('completed')]
    expect((await run(check({ method: 'stream', text: 'echo: hello' }))).reason).toBe('')
  })
})
