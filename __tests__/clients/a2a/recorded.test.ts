import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { getAgentCard } from '../../../src/clients/a2a/card.ts'
import { collectStream, sendMessage, streamMessage } from '../../../src/clients/a2a/message.ts'
import { JsonRpcError } from '../../../src/clients/a2a/rpc-error.ts'
import { getTask } from '../../../src/clients/a2a/task.ts'
import type { A2aConnection, TaskEvent } from '../../../src/clients/a2a/types.ts'
import { HttpError, ProtocolError, RequestError } from '../../../src/http/errors.ts'
import type { Transport } from '../../../src/http/transport.ts'
import {
  type Exchange,
  exchange,
  type Replay,
  recording,
  startReplay,
  testTransport,
} from '../../helpers/replay.ts'

const ASSISTANT = 'fe096781-5601-53d2-b2f6-0d3403f7e9ca'
const recordings = { '0.5.23': recording('python-0.5.23'), '0.16.7': recording('python-0.16.7') }

let replay: Replay
let transport: Transport
let current: Exchange

beforeAll(async () => {
  transport = testTransport()
  replay = await startReplay(() => current.response, { chunk: 13 })
})

afterAll(async () => {
  await transport.close()
  await replay.close()
})

function connection(): A2aConnection {
  let ids = 0
  return { transport, url: replay.url, headers: { 'x-api-key': 'key' }, newId: () => `id-${++ids}` }
}

const options = () => ({ deadline: Date.now() + 10_000 })
const message = { text: 'hello', messageId: 'm-1' }

function play(version: keyof typeof recordings, name: string): void {
  current = exchange(recordings[version], name)
}

async function failure(work: Promise<unknown>): Promise<unknown> {
  try {
    await work
  } catch (error) {
    return error
  }
  throw new Error('it did not fail')
}

describe('message/send as recorded', () => {
  it.each([
    ['0.5.23', '7-send-ctx-new', 'completed', 'echo: x (seen 1)'],
    ['0.16.7', '7-send-ctx-new', 'completed', 'echo: x (seen 1)'],
    ['0.5.23', '7-send-ctx', 'completed', 'echo: third (seen 3)'],
    ['0.16.7', '7-send-ctx', 'completed', 'echo: third (seen 2)'],
    // 0.5 hands on content blocks as a list. It mirrors the user's words when the graph says nothing; nobody said these.
    ['0.5.23', '7-send-blocks', 'completed', 'block answer'],
    ['0.16.7', '7-send-blocks', 'completed', 'block answer'],
    ['0.5.23', '7-send-nullnode', 'completed', ''],
    ['0.16.7', '7-send-nullnode', 'completed', ''],
    ['0.5.23', '7-send-failing', 'failed', 'Error executing assistant: ValueError'],
    ['0.16.7', '7-send-failing', 'failed', 'Error executing assistant: ValueError'],
    ['0.5.23', '7-int-send', 'completed', ''],
    ['0.16.7', '7-int-resume-text', 'completed', "resumed with 'yes do it'"],
    ['0.5.23', '7-slow-send', 'completed', 'slow done'],
  ] as const)('%s %s is %s: %s', async (version, name, state, text) => {
    play(version, name)
    const answer = await sendMessage(connection(), ASSISTANT, message, options())
    expect(answer).toMatchObject({ state, text, ended: true })
    const { result } = JSON.parse(current.response.body)
    expect([answer.taskId, answer.contextId]).toEqual([result.id, result.contextId])
  })

  it.each([
    ['0.16.7', '7-send-ctx-task', -32004],
    ['0.16.7', '7-send-ctx-task-mismatch', -32001],
    ['0.5.23', '7-send-nomessages', -32602],
    ['0.16.7', '7-send-nomessages', -32602],
    ['0.5.23', '7-send-graphname', -32602],
    ['0.16.7', '7-send-graphname', -32602],
    ['0.16.7', '7-rpc-unknown-method', -32601],
    // `id: null`: the server could not read the request.
    ['0.16.7', '7-rpc-nobody', -32700],
  ] as const)('%s %s is JSON-RPC error %d', async (version, name, code) => {
    play(version, name)
    const error = await failure(sendMessage(connection(), ASSISTANT, message, options()))
    expect(error).toBeInstanceOf(JsonRpcError)
    expect((error as JsonRpcError).code).toBe(code)
    expect((error as JsonRpcError).remoteMessage).toBe(JSON.parse(current.response.body).error.message)
  })

  it.each([
    ['0.5.23', '7-rpc-badjson', 400],
    ['0.16.7', '7-rpc-accept-sse', 400],
    ['0.5.23', '7-a2a-root', 404],
  ] as const)('%s %s is HTTP %d', async (version, name, status) => {
    play(version, name)
    const error = await failure(sendMessage(connection(), ASSISTANT, message, options()))
    expect(error).toBeInstanceOf(HttpError)
    expect((error as HttpError).status).toBe(status)
  })

  it('takes an empty 202, the answer to a notification, for no answer', async () => {
    play('0.5.23', '7-rpc-noid-send')
    expect(await failure(sendMessage(connection(), ASSISTANT, message, options()))).toBeInstanceOf(
      ProtocolError,
    )
  })

  it('sends what the interface document lists, and the accepted type', async () => {
    play('0.16.7', '7-send-ctx-new')
    const sent = { ...message, contextId: 'c', taskId: 't' }
    await sendMessage(connection(), ASSISTANT, sent, options())
    const request = replay.seen.at(-1)
    expect(request?.path).toBe(`/a2a/${ASSISTANT}`)
    expect(request?.headers).toMatchObject({ accept: 'application/json', 'x-api-key': 'key' })
    expect(request?.json).toEqual({
      jsonrpc: '2.0',
      id: 'id-1',
      method: 'message/send',
      params: {
        message: {
          role: 'user',
          parts: [{ kind: 'text', text: 'hello' }],
          messageId: 'm-1',
          contextId: 'c',
          taskId: 't',
        },
      },
    })
  })
})

describe('message/stream as recorded', () => {
  it.each([
    ['0.5.23', '7-stream-noctx', 'completed', 'echo: hello (seen 1)'],
    ['0.16.7', '7-stream-noctx', 'completed', 'echo: hello (seen 1)'],
    ['0.5.23', '7-stream-tokens', 'completed', 'alpha beta gamma'],
    ['0.5.23', '7-stream-two', 'completed', 'step two'],
    ['0.16.7', '7-stream-two', 'completed', 'step two'],
    ['0.16.7', '7-stream-blocks', 'completed', 'block answer'],
    ['0.5.23', '7-stream-blocks', 'completed', ''],
    ['0.16.7', '7-stream-nullnode', 'completed', ''],
    ['0.5.23', '7-stream-nullnode', 'completed', ''],
    ['0.5.23', '7-stream-failing', 'failed', 'deliberate failure in node'],
    ['0.16.7', '7-stream-failing', 'failed', 'deliberate failure in node'],
    ['0.5.23', '7-slow-stream', 'completed', 'slow done'],
    // Pascal-case states and roles, and a first event inside `task`.
    ['0.16.7', '7-stream-Pascal', 'completed', 'echo: pascal (seen 1)'],
  ] as const)('%s %s is %s: %s', async (version, name, state, text) => {
    play(version, name)
    const answer = await collectStream(connection(), ASSISTANT, message, options())
    expect(answer).toMatchObject({ state, text, ended: true })
    expect(current.response.body).toContain(answer.taskId)
  })

  it('keeps what an interrupt asked', async () => {
    play('0.16.7', '7-stream-interrupting')
    const answer = await collectStream(connection(), ASSISTANT, message, options())
    expect(answer).toMatchObject({ state: 'input-required', ended: true })
    expect(JSON.parse(answer.text)).toMatchObject({ value: { question: 'approve?' } })
  })

  it('gives the events in order', async () => {
    play('0.16.7', '7-stream-ctx')
    const events: TaskEvent[] = []
    for await (const event of streamMessage(connection(), ASSISTANT, message, options())) events.push(event)
    expect(events.map(({ kind }) => kind)).toEqual(['task', 'status', 'artifact', 'status'])
    expect(replay.seen.at(-1)?.headers['accept']).toBe('text/event-stream')
  })

  it('knows that a stream which the client left is not at its end', async () => {
    play('0.5.23', '7-disc-stream')
    const answer = await collectStream(connection(), ASSISTANT, message, options())
    expect(answer).toMatchObject({ state: 'submitted', ended: false, text: '' })
  })

  it.each([
    ['0.16.7', '7-stream-termtask', -32004],
    ['0.5.23', '7-stream-nomessages', -32602],
    ['0.16.7', '7-stream-nomessages', -32602],
    ['0.5.23', '7-stream-badctx', -32603],
    // 0.16 refuses a graph's name with plain JSON, though a stream was asked for.
    ['0.16.7', '7-stream-graphname', -32602],
    ['0.5.23', '7-stream-graphname', -32602],
  ] as const)('%s %s is JSON-RPC error %d', async (version, name, code) => {
    play(version, name)
    const error = await failure(collectStream(connection(), ASSISTANT, message, options()))
    expect(error).toBeInstanceOf(JsonRpcError)
    expect((error as JsonRpcError).code).toBe(code)
  })
})

describe('tasks/get as recorded', () => {
  const ids = { id: 'task', contextId: 'context' }

  it.each([
    ['0.5.23', '7-get-id+ctx', 'completed'],
    ['0.16.7', '7-get-second', 'completed'],
    ['0.5.23', '7-o-fail-get', 'failed'],
    ['0.16.7', '7-get-failed', 'failed'],
    ['0.16.7', '7-get-interrupted', 'input-required'],
    ['0.16.7', '7-get-Pascal', 'completed'],
  ] as const)('%s %s is %s', async (version, name, state) => {
    play(version, name)
    const task = await getTask(connection(), ASSISTANT, ids, options())
    expect(task.state).toBe(state)
    expect(task.artifacts).toEqual([])
    expect(replay.seen.at(-1)?.json.params).toEqual(ids)
  })

  it.each([
    ['0.5.23', '7-get-ctx-mismatch', -32001],
    ['0.5.23', '7-get-garbage-ctx', -32602],
    ['0.16.7', '7-get-unknown-run-ctx', -32001],
  ] as const)('%s %s is JSON-RPC error %d', async (version, name, code) => {
    play(version, name)
    const error = await failure(getTask(connection(), ASSISTANT, ids, options()))
    expect((error as JsonRpcError).code).toBe(code)
  })
})

describe('the agent card as recorded', () => {
  it.each([
    ['0.5.23', '7-card-uuid', '0.3.0', true],
    ['0.16.7', '7-card-uuid', '1.0', true],
    ['0.16.7', '7-card-named', '1.0', true],
    ['0.16.7', '7-card-nomessages', '1.0', false],
  ] as const)('%s %s speaks A2A %s, text: %s', async (version, name, protocolVersion, takesText) => {
    play(version, name)
    const card = await getAgentCard(connection(), ASSISTANT, options())
    expect(card).toMatchObject({ missing: [], protocolVersion, takesText })
    expect(card.url).toContain('/a2a/')
    expect(replay.seen.at(-1)?.path).toBe(`/.well-known/agent-card.json?assistant_id=${ASSISTANT}`)
  })

  it.each([
    ['0.5.23', '7-card-name', 400],
    ['0.16.7', '7-card-unknown', 400],
    ['0.5.23', '7-card-nomessages', 500],
  ] as const)('%s %s is HTTP %d', async (version, name, status) => {
    play(version, name)
    const error = await failure(getAgentCard(connection(), ASSISTANT, options()))
    expect((error as HttpError).status).toBe(status)
    expect((error as HttpError).detail).toContain(JSON.parse(current.response.body).error.message)
  })
})

describe('every recorded A2A exchange', () => {
  // What a reader of JSON finds, without the reader that is tested.
  const plain = (body: string): { error?: { code: number }; result?: unknown }[] =>
    body
      .split(/\r?\n/)
      .map((line) => line.replace(/^data: /, ''))
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))

  const all = Object.entries(recordings).flatMap(([version, exchanges]) =>
    exchanges
      .filter(
        ({ request, end }) =>
          request.method === 'POST' && /^\/a2a\/[^/]+$/.test(request.path) && end === undefined,
      )
      .map((one, index) => ({ title: `${version} ${one.name} (${index})`, one })),
  )

  it('are many', () => expect(all.length).toBeGreaterThan(200))

  it.each(all)('$title is understood, or refused with a typed error', async ({ one }) => {
    current = one
    const streamed = (one.response.headers['content-type'] ?? '').startsWith('text/event-stream')
    const work = streamed
      ? collectStream(connection(), ASSISTANT, message, options())
      : sendMessage(connection(), ASSISTANT, message, options())
    const answers = one.response.status === 200 ? plain(one.response.body) : []
    const refused = answers.find(({ error }) => error !== undefined)
    if (refused !== undefined) {
      expect(((await failure(work)) as JsonRpcError).code).toBe(refused.error?.code)
    } else if (
      one.response.status === 200 &&
      /"status":\{"state"/.test(one.response.body) &&
      !isList(answers)
    ) {
      expect((await work).taskId).not.toBe('')
    } else {
      expect(await failure(work)).toBeInstanceOf(RequestError)
    }
  })

  function isList(answers: { result?: unknown }[]): boolean {
    return answers.some(({ result }) => (result as { tasks?: unknown } | undefined)?.tasks !== undefined)
  }
})
