import { afterEach, describe, expect, it } from '@jest/globals'
import { Conversation } from '../../../src/clients/a2a/conversation.ts'
import { rpcRequest } from '../../../src/clients/a2a/rpc.ts'
import { JsonRpcError } from '../../../src/clients/a2a/rpc-error.ts'
import type { Transport } from '../../../src/http/transport.ts'
import {
  exchange,
  type Replay,
  type Reply,
  recording,
  type Seen,
  startReplay,
  testTransport,
} from '../../helpers/replay.ts'

const CONTEXT = '4af12fa5-1a9c-4229-99d7-f8f8e8b38a93'
const exchanges = recording('python-0.16.7')
const open: { close(): Promise<void> }[] = []

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()))
})

async function converse(
  method: 'send' | 'stream',
  answers: readonly Reply[],
): Promise<{ conversation: Conversation; replay: Replay; messages: () => Record<string, unknown>[] }> {
  const queue = [...answers]
  const replay = await startReplay(() => queue.shift())
  const transport: Transport = testTransport()
  open.push(transport, replay)
  let ids = 0
  const conversation = new Conversation(
    { transport, url: replay.url, headers: {}, newId: () => `id-${++ids}` },
    'fe096781-5601-53d2-b2f6-0d3403f7e9ca',
    method,
  )
  return { conversation, replay, messages: () => replay.seen.map(({ json }: Seen) => json.params.message) }
}

const options = () => ({ deadline: Date.now() + 10_000 })
const recorded = (name: string): Reply => exchange(exchanges, name).response

function task(id: string, state: string, text = 'said'): Reply {
  const status = { state }
  const artifacts = [{ artifactId: 'a', parts: [{ kind: 'text', text }] }]
  const result = { kind: 'task', id, contextId: CONTEXT, status, artifacts, history: [] }
  return { status: 200, body: JSON.stringify({ jsonrpc: '2.0', id: 'x', result }) }
}

describe('A2A continuity', () => {
  it('begins without ids and goes on with both of the answer before', async () => {
    const { conversation, messages } = await converse('send', [
      task('t1', 'completed'),
      task('t2', 'completed'),
    ])
    await conversation.say('one', options())
    await conversation.say('two', options())
    const [first, second] = messages()
    expect(first).not.toHaveProperty('contextId')
    expect(first).not.toHaveProperty('taskId')
    expect(second).toMatchObject({ contextId: CONTEXT, taskId: 't1', parts: [{ kind: 'text', text: 'two' }] })
    expect(second?.['messageId']).not.toBe(first?.['messageId'])
  })

  it('takes the ids of the answer directly before', async () => {
    const tasks = [task('t1', 'completed'), task('t2', 'completed'), task('t3', 'completed')]
    const { conversation, messages } = await converse('send', tasks)
    for (const text of ['one', 'two', 'three']) await conversation.say(text, options())
    expect(messages()[2]).toMatchObject({ contextId: CONTEXT, taskId: 't2' })
  })

  it.each([
    ['send', '7-send-ctx-task', '7-send-ctx', 'echo: third (seen 2)'],
    ['send', '7-send-ctx-task-mismatch', '7-send-ctx', 'echo: third (seen 2)'],
    ['stream', '7-stream-termtask', '7-stream-ctx-second', 'echo: second (seen 2)'],
  ] as const)(
    'with %s, after %s, says the same again, once, with contextId alone',
    async (method, refusal, next, text) => {
      const first = method === 'send' ? task('t1', 'completed') : recorded('7-stream-noctx')
      const { conversation, messages } = await converse(method, [first, recorded(refusal), recorded(next)])
      const before = await conversation.say('one', options())
      const answer = await conversation.say('two', options())
      expect(answer.text).toBe(text)
      const [, refused, again] = messages()
      expect(refused).toMatchObject({ contextId: before.contextId, taskId: before.taskId })
      expect(again).toMatchObject({ contextId: before.contextId, parts: [{ kind: 'text', text: 'two' }] })
      expect(again).not.toHaveProperty('taskId')
      expect(again?.['messageId']).not.toBe(refused?.['messageId'])
    },
  )

  it('gives up when the second try is refused, too', async () => {
    const refusal = recorded('7-send-ctx-task')
    const { conversation, replay } = await converse('send', [task('t1', 'completed'), refusal, refusal])
    await conversation.say('one', options())
    await expect(conversation.say('two', options())).rejects.toThrow(JsonRpcError)
    expect(replay.seen).toHaveLength(3)
  })

  it('does not drop the taskId of a task that asked: without it the words would begin a new task', async () => {
    const answers = [task('t1', 'input-required'), recorded('7-send-ctx-task')]
    const { conversation, replay } = await converse('send', answers)
    await conversation.say('one', options())
    await expect(conversation.say('yes', options())).rejects.toThrow(JsonRpcError)
    expect(replay.seen).toHaveLength(2)
  })

  it('does not say anything again after another error', async () => {
    const { conversation, replay } = await converse('send', [
      task('t1', 'completed'),
      recorded('7-send-graphname'),
    ])
    await conversation.say('one', options())
    await expect(conversation.say('two', options())).rejects.toThrow('-32602')
    expect(replay.seen).toHaveLength(2)
  })

  it('knows the conversation of a stream that broke', async () => {
    const whole = recorded('7-stream-noctx')
    const half = whole.body.slice(0, whole.body.indexOf('artifact-update'))
    const { conversation } = await converse('stream', [{ ...whole, body: half, break: true }])
    await expect(conversation.say('one', options())).rejects.toThrow()
    expect(conversation.contextId).toBe('8faa8bdf-3fc5-47fa-85d5-cab77ea5ad04')
  })

  it('stops at the deadline of a stream that never ends', async () => {
    const whole = recorded('7-stream-noctx')
    const half = whole.body.slice(0, whole.body.indexOf('event: message', 20))
    const { conversation } = await converse('stream', [{ ...whole, body: half, hang: true }])
    await expect(conversation.say('one', { deadline: Date.now() + 300 })).rejects.toThrow('within 0.')
  })
})

describe('the request of a call', () => {
  it('has one limit, the deadline: message/send sends no byte before the agent is done', async () => {
    const transport = testTransport()
    open.push(transport)
    const connection = {
      transport,
      url: new URL('https://agent.example/d/1/'),
      headers: {},
      newId: () => 'id',
    }
    const deadline = Date.now() + 3_600_000
    const { request } = rpcRequest(connection, 'a/b', 'message/send', {}, { deadline })
    expect(request.timeoutMs).toBeGreaterThan(3_500_000)
    expect([request.headersTimeoutMs, request.idleTimeoutMs]).toEqual([request.timeoutMs, request.timeoutMs])
    expect(request.url.href).toBe('https://agent.example/d/1/a2a/a%2Fb')
  })
})
