import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { systemAssistantId } from '../../../src/emulator/agent/ids.ts'
import { type Json, readEvents, startAgent, type TestAgent, text } from './server.ts'

const CARD = `/.well-known/agent-card.json?assistant_id=${systemAssistantId('agent')}`

let agent: TestAgent
beforeAll(async () => {
  agent = await startAgent()
})
afterAll(() => agent.close())

const says = (task: Json): string => task['artifacts'][0].parts[0].text
const told = (task: Json): string[] => task['history'].map((message: Json) => message['parts'][0].text)

describe('a conversation', () => {
  it('keeps its context; each message is a task of its own', async () => {
    const first = await agent.call('agent', 'message/send', text('m1', 'Hello'))
    expect(first['status'].state).toBe('completed')
    expect(says(first)).toBe('echo: Hello (seen 1)')
    expect(first['id']).toMatch(new RegExp(`^${first['contextId']}:[0-9a-f-]{36}$`))
    const second = await agent.call(
      'agent',
      'message/send',
      text('m2', 'And again', { contextId: first['contextId'] }),
    )
    expect(says(second)).toBe('echo: And again (seen 2)')
    expect(second['contextId']).toBe(first['contextId'])
    expect(second['id']).not.toBe(first['id'])
    expect(told(second)).toEqual(['Hello', 'echo: Hello (seen 1)', 'And again', 'echo: And again (seen 2)'])
    expect(second['history'].map((message: Json) => message['taskId'])).toEqual([
      first['id'],
      first['id'],
      second['id'],
      second['id'],
    ])
  })

  it('shares the thread with the runs API', async () => {
    const { contextId } = await agent.call('agent', 'message/send', text('m1', 'over A2A'))
    const run = await agent.fetch(`/threads/${contextId}/runs/wait`, {
      method: 'POST',
      body: JSON.stringify({
        assistant_id: 'agent',
        input: { messages: [{ role: 'user', content: 'over REST' }] },
      }),
    })
    const { messages } = (await run.json()) as Json
    expect(messages.at(-1).content).toBe('echo: over REST (seen 2)')
  })

  it("leaves other assistants' tasks out of the history, though the graph sees them", async () => {
    const { contextId } = await agent.call('agent', 'message/send', text('m1', 'one'))
    const counter = await agent.call('counter', 'message/send', text('m2', 'two', { contextId }))
    expect(told(counter)).toEqual(['two', 'count=3'])
    const again = await agent.call('agent', 'message/send', text('m3', 'three', { contextId }))
    expect(told(again)).toEqual(['one', 'echo: one (seen 1)', 'three', 'echo: three (seen 3)'])
  })

  it('tells the task only, or the last messages, where that is asked', async () => {
    const { contextId } = await agent.call('agent', 'message/send', text('m1', 'one'))
    const scope = { 'LangGraph-A2A-History-Scope': 'task' }
    const task = await agent.call('agent', 'message/send', text('m2', 'two', { contextId }), scope)
    expect(told(task)).toEqual(['two', 'echo: two (seen 2)'])
    const params = { ...text('m3', 'three', { contextId }), configuration: { historyLength: 1 } }
    expect(told(await agent.call('agent', 'message/send', params))).toEqual(['echo: three (seen 3)'])
    expect(await agent.call('agent', 'tasks/get', { id: task['id'], historyLength: 0 })).not.toHaveProperty(
      'history',
    )
    expect(await agent.call('agent', 'tasks/get', { id: task['id'], historyLength: 11 })).toMatchObject({
      error: { code: -32602, message: 'historyLength cannot exceed 10' },
    })
  })
})

describe('a finished task', () => {
  it('takes no message where the recorded behaviour is asked for', async () => {
    const { id, contextId } = await agent.call('agent', 'message/send', text('m1', 'x'))
    const refused = { error: { code: -32004, message: 'A terminal task cannot accept another message' } }
    const later = text('m2', 'y', { contextId, taskId: id })
    expect(await agent.call('agent', 'message/send', later)).toMatchObject(refused)
    expect(await agent.stream('agent', later)).toEqual([expect.objectContaining(refused)])
  })

  it('takes one by default, in its context, as a new task', async () => {
    const accepting = await startAgent({ terminalTasks: 'accept' })
    try {
      const { id, contextId } = await accepting.call('agent', 'message/send', text('m1', 'x'))
      for (const ids of [{ contextId, taskId: id }, { taskId: id }]) {
        const later = await accepting.call('agent', 'message/send', text('m2', 'y', ids))
        expect(later['contextId']).toBe(contextId)
        expect(later['id']).not.toBe(id)
        expect(says(later)).toMatch(/^echo: y \(seen 2\)$/)
      }
      const unknown = await accepting.call(
        'agent',
        'message/send',
        text('m3', 'z', { contextId, taskId: 'my-task' }),
      )
      expect(unknown['error']).toEqual({ code: -32001, message: 'Task not found: my-task' })
    } finally {
      await accepting.close()
    }
  })
})

describe('a task that asks', () => {
  it('is input-required, and goes on as the same task when it is answered', async () => {
    const asked = await agent.call('interrupting', 'message/send', text('m1', 'please'))
    expect(asked['status'].state).toBe('input-required')
    expect(asked['artifacts'][0]).toMatchObject({
      name: 'Interrupt',
      parts: [{ kind: 'data', data: { value: { question: 'approve?' } } }],
    })
    const ids = { contextId: asked['contextId'], taskId: asked['id'] }
    const answered = await agent.call('interrupting', 'message/send', text('m2', 'yes', ids))
    expect(answered).toMatchObject({ id: asked['id'], status: { state: 'completed' } })
    expect(says(answered)).toBe("resumed with 'yes'")
    expect(await agent.call('interrupting', 'tasks/get', { id: asked['id'] })).toMatchObject({
      status: { state: 'completed' },
    })
  })

  it('takes data as an answer, by its task id alone', async () => {
    const asked = await agent.call('interrupting', 'message/send', text('m1', 'please'))
    const parts = [{ kind: 'data', data: { resume: { approved: true } } }]
    const message = { role: 'user', messageId: 'm2', parts, taskId: asked['id'] }
    const answered = await agent.call('interrupting', 'message/send', { message })
    expect(says(answered)).toBe("resumed with {'approved': True}")
  })

  it('begins a new task when only the context is named', async () => {
    const asked = await agent.call('interrupting', 'message/send', text('m1', 'please'))
    const other = await agent.call(
      'interrupting',
      'message/send',
      text('m2', 'no', { contextId: asked['contextId'] }),
    )
    expect(other['status'].state).toBe('input-required')
    expect(other['id']).not.toBe(asked['id'])
  })

  it('can be cancelled, once', async () => {
    const { id } = await agent.call('interrupting', 'message/send', text('m1', 'please'))
    const cancelled = await agent.call('interrupting', 'tasks/cancel', { id })
    expect(cancelled['status']).toMatchObject({
      state: 'canceled',
      message: { parts: [{ text: 'Task was canceled' }] },
    })
    expect((await agent.call('interrupting', 'tasks/get', { id }))['status'].state).toBe('canceled')
    expect(await agent.call('interrupting', 'tasks/cancel', { id })).toMatchObject({
      error: { code: -32002, message: 'Task is not cancelable in its current state' },
    })
  })
})

describe('a task that works', () => {
  it('lets a message wait its turn, and is cancelled as a whole', async () => {
    const slow = `/a2a/${systemAssistantId('slow')}`
    const hangUp = new AbortController()
    const first = await agent.fetch(slow, {
      method: 'POST',
      headers: { accept: 'text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: '1', method: 'message/stream', params: text('m1', 'x') }),
      signal: hangUp.signal,
    })
    const chunk = await (first.body as ReadableStream<Uint8Array>).getReader().read()
    const { id, contextId } = readEvents(new TextDecoder().decode(chunk.value))[0] as Json
    const ids = { contextId, taskId: id }
    const waiting = agent.call('slow', 'message/send', text('m2', 'busy', ids))
    const runs = async () =>
      ((await (await agent.fetch(`/threads/${contextId}/runs`)).json()) as Json[]).length
    while ((await runs()) < 2) await new Promise((resolve) => setTimeout(resolve, 10))
    const working = await agent.call('slow', 'tasks/get', { id })
    expect(working['status'].state).toBe('working')
    expect(told(working)).toEqual(['x'])
    // Hanging up ends nothing.
    hangUp.abort()
    expect((await agent.call('slow', 'tasks/get', { id }))['status'].state).toBe('working')
    expect(await agent.call('slow', 'tasks/cancel', { id })).toMatchObject({ status: { state: 'canceled' } })
    expect(await waiting).toMatchObject({ id })
    expect(await (await agent.fetch(`/threads/${contextId}`)).json()).not.toMatchObject({ status: 'busy' })
  })
})

describe('message/stream', () => {
  it('tells the task, what is said, the answer whole, and the end; the id keeps its type', async () => {
    const answer = await agent.fetch(`/a2a/${systemAssistantId('agent')}`, {
      method: 'POST',
      headers: { accept: 'text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 9, method: 'message/stream', params: text('m1', 'hi') }),
    })
    expect(answer.headers.get('content-type')).toBe('text/event-stream')
    const raw = await answer.text()
    expect(raw).toContain('"id":9')
    const [task, working, artifact, completed, ...rest] = readEvents(raw)
    expect(rest).toEqual([])
    expect(task).toMatchObject({ kind: 'task', status: { state: 'submitted' } })
    expect(working).toMatchObject({
      kind: 'status-update',
      status: { state: 'working', message: { parts: [{ text: 'echo: hi (seen 1)' }] } },
      final: false,
    })
    expect(artifact).toMatchObject({
      kind: 'artifact-update',
      artifact: { parts: [{ text: 'echo: hi (seen 1)' }] },
      lastChunk: true,
    })
    expect(completed).toMatchObject({ status: { state: 'completed' }, final: true })
    expect(completed?.['status']).not.toHaveProperty('message')
    const got = await agent.call('agent', 'tasks/get', { id: task?.['id'], contextId: task?.['contextId'] })
    expect(got).toMatchObject({ id: task?.['id'], status: { state: 'completed' } })
    expect(got).not.toHaveProperty('artifacts')
  })

  it('tells a model as it speaks, cumulatively', async () => {
    const events = await agent.stream('tokens', text('m1', 'x'))
    const working = events.filter((event) => event['status']?.state.endsWith('working'))
    const texts = working.map((event) => event['status'].message.parts[0].text)
    expect(texts).toEqual(['alpha', 'alpha ', 'alpha beta', 'alpha beta ', 'alpha beta gamma'])
  })

  it('tells a failure in its own words, and a question as an artifact', async () => {
    const failed = (await agent.stream('failing', text('m1', 'x'))).at(-1)
    expect(failed).toMatchObject({
      status: { state: 'failed', message: { parts: [{ text: 'deliberate failure in node' }] } },
      final: true,
    })
    const asked = await agent.stream('interrupting', text('m1', 'x'))
    expect(asked.map((event) => event['artifact']?.name ?? event['status'].state)).toEqual([
      'submitted',
      'Interrupt',
      'input-required',
    ])
  })

  it('ends with an empty answer when its task is cancelled; a task that works can be read', async () => {
    const answer = await agent.fetch(`/a2a/${systemAssistantId('slow')}`, {
      method: 'POST',
      headers: { accept: 'text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: '1', method: 'message/stream', params: text('m1', 'x') }),
    })
    const reader = (answer.body as ReadableStream<Uint8Array>)
      .pipeThrough(new TextDecoderStream())
      .getReader()
    let raw = (await reader.read()).value ?? ''
    const { id } = readEvents(raw)[0] as Json
    expect(await agent.call('slow', 'tasks/get', { id })).toMatchObject({ status: { state: 'working' } })
    expect(await agent.call('slow', 'tasks/cancel', { id })).toMatchObject({ status: { state: 'canceled' } })
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) raw += chunk.value
    const events = readEvents(raw).slice(1)
    expect(events[0]).toMatchObject({ artifact: { parts: [{ text: '' }] } })
    expect(events[1]).toMatchObject({ status: { state: 'completed' }, final: true })
    expect(await agent.call('slow', 'tasks/get', { id })).toMatchObject({ status: { state: 'canceled' } })
  })
})

describe('PascalCase methods', () => {
  it('answer in the words of A2A 1.0', async () => {
    const params = { message: { role: 'ROLE_USER', messageId: 'm1', parts: [{ text: 'hi' }] } }
    const { task } = await agent.call('agent', 'SendMessage', params)
    expect(task).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      history: [{ role: 'ROLE_USER' }, { role: 'ROLE_AGENT' }],
    })
    const got = await agent.call('agent', 'GetTask', { id: task.id })
    expect(got['status'].state).toBe('TASK_STATE_COMPLETED')
    const [first, ...later] = await agent.stream('agent', params, 'SendStreamingMessage')
    expect(first?.['task'].status.state).toBe('TASK_STATE_SUBMITTED')
    expect(later.at(-1)).toMatchObject({ kind: 'status-update', status: { state: 'TASK_STATE_COMPLETED' } })
  })

  it('list tasks page by page, and give the card', async () => {
    const fresh = await startAgent()
    try {
      const { contextId } = await fresh.call('agent', 'message/send', text('m1', 'one'))
      await fresh.call('agent', 'message/send', text('m2', 'two', { contextId }))
      await fresh.call('agent', 'message/send', text('m3', 'elsewhere'))
      await fresh.call('counter', 'message/send', text('m4', 'not mine'))
      const page = await fresh.call('agent', 'ListTasks', { pageSize: 2 })
      expect(page).toMatchObject({ totalSize: 3, pageSize: 2, nextPageToken: '2' })
      expect(page['tasks'].map(told)[0]).toEqual(['elsewhere', 'echo: elsewhere (seen 1)'])
      const last = await fresh.call('agent', 'ListTasks', { pageSize: 2, pageToken: '2' })
      expect(last).toMatchObject({ totalSize: 3, nextPageToken: '' })
      expect(last['tasks']).toHaveLength(1)
      expect((await fresh.call('agent', 'ListTasks', { contextId }))['totalSize']).toBe(2)
      const card = await (await fresh.fetch(CARD)).json()
      expect(await fresh.call('agent', 'GetExtendedAgentCard', {})).toEqual(card)
    } finally {
      await fresh.close()
    }
  })
})

describe('what cannot be answered', () => {
  it('a graph without messages says which fields it has, and takes data', async () => {
    const refused = await agent.call('nomessages', 'message/send', text('m1', 'x'))
    expect(refused['error'].message).toContain("Available input fields: ['question', 'answer']")
    const parts = [{ kind: 'data', data: { question: 'q?' } }]
    const task = await agent.call('nomessages', 'message/send', {
      message: { role: 'user', messageId: 'm', parts },
    })
    expect(says(task)).toBe("{'question': 'q?', 'answer': 're: q?', 'messages': []}")
  })

  it('a failed graph is a failed task, not an error', async () => {
    const task = await agent.call('failing', 'message/send', text('m1', 'x'))
    expect(task).toMatchObject({ status: { state: 'failed' }, history: [] })
    expect(task['status'].message.parts[0].text).toBe('Error executing assistant: ValueError')
    expect(await agent.call('failing', 'tasks/get', { id: task['id'] })).toMatchObject({
      status: { state: 'failed', message: { parts: [{ text: 'Task failed with status: error' }] } },
    })
  })

  it('asks for an Accept header that covers the answer', async () => {
    const ask = (accept: string, method: string) =>
      agent.fetch(`/a2a/${systemAssistantId('agent')}`, {
        method: 'POST',
        headers: { accept },
        body: JSON.stringify({ jsonrpc: '2.0', id: '1', method, params: text('m', 'x') }),
      })
    const refused = await ask('text/html', 'message/send')
    expect([refused.status, await refused.json()]).toEqual([
      400,
      { error: 'Accept header must include application/json' },
    ])
    expect((await ask('application/json', 'message/stream')).status).toBe(400)
    expect((await ask('application/*;q=0.5', 'message/send')).status).toBe(200)
  })

  it.each<[string, Json, number, string]>([
    ['no message', {}, -32602, "Missing or invalid 'message' in params"],
    [
      'no messageId',
      { message: { role: 'user', parts: [{ text: 'x' }] } },
      -32602,
      "Missing required 'messageId' in message",
    ],
    [
      'no parts',
      { message: { role: 'user', messageId: 'm' } },
      -32602,
      'Message must contain at least one part',
    ],
    [
      'a part of no kind',
      { message: { role: 'user', messageId: 'm', parts: [{ kind: 'banana' }] } },
      -32005,
      "Unsupported part type. A2A agents support 'text', 'data', and 'file' parts only.",
    ],
    [
      'empty data',
      { message: { role: 'user', messageId: 'm', parts: [{ kind: 'data', data: {} }] } },
      -32005,
      'Message must contain at least one valid text, data, or file part',
    ],
    [
      'a context that is no UUID',
      text('m', 'x', { contextId: 'nope' }),
      -32602,
      'Failed to create run: Invalid thread ID',
    ],
  ])('%s', async (_what, params, code, message) => {
    expect((await agent.call('agent', 'message/send', params))['error']).toEqual({ code, message })
  })
})

describe('whether it is offered', () => {
  it.each<[string, Parameters<typeof startAgent>[0]]>([
    ['switched off', { disableA2a: true }],
    ['a server that is too old', { agentVersion: '0.4.20' }],
    ['the JavaScript server', { profile: 'js' }],
  ])('%s: all its paths are 404', async (_what, options) => {
    const without = await startAgent(options)
    try {
      const id = systemAssistantId('agent')
      for (const path of [CARD, `/a2a/${id}`]) expect((await without.fetch(path)).status).toBe(404)
      expect((await without.fetch(`/a2a/${id}`, { method: 'POST', body: '{}' })).status).toBe(404)
      expect((await without.fetch('/ok')).status).toBe(200)
    } finally {
      await without.close()
    }
  })

  it('begins with 0.4.21, and is behind auth', async () => {
    const old = await startAgent({
      agentVersion: '0.4.21',
      authenticate: (headers) =>
        headers.get('x-api-key') === 'k' ? undefined : 'Missing authentication headers',
    })
    try {
      const refused = await old.fetch(CARD)
      expect([refused.status, await refused.json()]).toEqual([
        403,
        { detail: 'Missing authentication headers' },
      ])
      const card = (await (await old.fetch(CARD, { headers: { 'x-api-key': 'k' } })).json()) as Json
      expect(card).toMatchObject({ name: 'agent', version: '0.4.21' })
    } finally {
      await old.close()
    }
  })
})

describe('A2A 0.3', () => {
  let older: TestAgent
  beforeAll(async () => {
    older = await startAgent({ a2a: '0.3', agentVersion: '0.5.23' })
  })
  afterAll(() => older.close())

  it('has the older card', async () => {
    const card = (await (await older.fetch(CARD)).json()) as Json
    expect(card).toMatchObject({ protocolVersion: '0.3.0', preferredTransport: 'JSONRPC', version: '0.5.23' })
    expect(card).not.toHaveProperty('supportedInterfaces')
    expect((await older.fetch(`/a2a/${systemAssistantId('agent')}`)).status).toBe(405)
  })

  it('names a task by its run, ignores a task id, and reads one by both ids only', async () => {
    const first = await older.call('agent', 'message/send', text('m1', 'one'))
    expect(first['id']).toMatch(/^[0-9a-f-]{36}$/)
    const ids = { contextId: first['contextId'], taskId: first['id'] }
    const second = await older.call('agent', 'message/send', text('m2', 'two', ids))
    expect(says(second)).toBe('echo: two (seen 2)')
    expect(second['history'].every((message: Json) => message['taskId'] === second['id'])).toBe(true)
    expect((await older.call('agent', 'tasks/get', { id: first['id'] }))['error'].message).toBe(
      'Missing required parameter: contextId (thread_id)',
    )
    const got = await older.call('agent', 'tasks/get', { id: first['id'], contextId: first['contextId'] })
    expect(got).toMatchObject({ kind: 'task', status: { state: 'completed' } })
    expect((await older.call('agent', 'tasks/cancel', { id: first['id'] }))['error'].code).toBe(-32004)
  })

  it('loses a stream without a context, and tells no artifact', async () => {
    const events = await older.stream('agent', text('m1', 'hi'))
    expect(events.map((event) => event['status'].state)).toEqual([
      'submitted',
      'working',
      'working',
      'completed',
    ])
    const { id, contextId } = events[0] as Json
    expect((await older.call('agent', 'tasks/get', { id, contextId }))['error'].code).toBe(-32001)
  })

  it('takes a question for an answer, as it did', async () => {
    const asked = await older.call('interrupting', 'message/send', text('m1', 'please'))
    expect(asked['status'].state).toBe('completed')
    expect(says(asked)).toBe('please')
  })
})
