/** `@a2a-js/sdk`, unchanged, against an agent server that speaks A2A 0.3 or 1.0. */
import { Role, TaskState } from '@a2a-js/sdk'
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client'
import { assert, Checks } from './check.mjs'

const AGENT = 'fe096781-5601-53d2-b2f6-0d3403f7e9ca'
const INTERRUPTING = 'b36cd173-3273-5443-bcde-dfec8278e2f2'

/**
 * @param {{agentUrl: string, apiKey: string, title: string, version: '0.3' | '1.0'}} target
 * @returns {Promise<Checks>}
 */
export async function a2aSdk({ agentUrl, apiKey, title, version }) {
  const checks = new Checks(title)
  const fetchImpl = (url, init = {}) => {
    const headers = new Headers(init.headers)
    headers.set('x-api-key', apiKey)
    return fetch(url, { ...init, headers })
  }
  // Without it the SDK finds no transport in a card of 0.3.
  const legacyCompat = { enabled: version === '0.3' }
  const resolver = new DefaultAgentCardResolver({ fetchImpl, legacyCompat })
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl, legacyCompat })],
  })
  const cardOf = (id) => resolver.resolve(`${agentUrl}/`, `.well-known/agent-card.json?assistant_id=${id}`)
  const clientOf = async (id) => factory.createFromAgentCard(await cardOf(id))
  const message = (text, ids = {}) => ({
    tenant: '',
    metadata: undefined,
    configuration: undefined,
    message: {
      messageId: crypto.randomUUID(),
      contextId: '',
      taskId: '',
      role: Role.ROLE_USER,
      parts: [{ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' }],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
      ...ids,
    },
  })
  const textOf = (task) => task.artifacts[0].parts[0].content.value

  await checks.run('the card', async () => {
    const card = await cardOf(AGENT)
    assert.equal(card.name, 'agent')
    assert.equal(card.capabilities.streaming, true)
    assert.equal(card.supportedInterfaces[0].url, `${agentUrl}/a2a/${AGENT}`)
    assert.ok(card.defaultInputModes.includes('text/plain'))
    assert.equal(card.skills.length, 1)
  })

  await checks.run('send, and again in the same context', async () => {
    const client = await clientOf(AGENT)
    const first = await client.sendMessage(message('Hello'))
    assert.equal(first.status.state, TaskState.TASK_STATE_COMPLETED)
    assert.equal(textOf(first), 'echo: Hello (seen 1)')
    const second = await client.sendMessage(message('And again', { contextId: first.contextId }))
    assert.equal(second.contextId, first.contextId)
    assert.equal(textOf(second), 'echo: And again (seen 2)')
  })

  await checks.run('send with the ids of a finished task', async () => {
    const client = await clientOf(AGENT)
    const first = await client.sendMessage(message('one'))
    const ids = { contextId: first.contextId, taskId: first.id }
    assert.equal(textOf(await client.sendMessage(message('two', ids))), 'echo: two (seen 2)')
  })

  await checks.run('stream', async () => {
    const client = await clientOf(AGENT)
    const events = []
    for await (const event of client.sendMessageStream(message('Hello'))) events.push(event)
    assert.equal(events.length, 4)
    const first = events[0].payload
    assert.equal(first.$case, 'task')
    assert.equal(first.value.status.state, TaskState.TASK_STATE_SUBMITTED)
    if (version === '0.3') {
      const working = events[2].payload.value
      assert.equal(working.status.message.parts[0].content.value, 'echo: Hello (seen 1)')
      assert.equal(events[3].payload.value.status.state, TaskState.TASK_STATE_COMPLETED)
    }
    // With 1.0 the SDK reads the later events as empty: the server names them by `kind`, as recorded, and strict 1.0
    // wants a `statusUpdate` member.
  })

  if (version === '1.0') {
    await checks.run('get, of a task that a stream made', async () => {
      const client = await clientOf(AGENT)
      let task
      for await (const event of client.sendMessageStream(message('Hello'))) task ??= event.payload?.value
      const got = await client.getTask({ tenant: '', id: task.id, historyLength: undefined })
      assert.equal(got.id, task.id)
      assert.equal(got.contextId, task.contextId)
      assert.equal(got.status.state, TaskState.TASK_STATE_COMPLETED)
      assert.equal(got.history.at(-1).parts[0].content.value, 'echo: Hello (seen 1)')
    })

    await checks.run('a question is asked, and answered in its task', async () => {
      const client = await clientOf(INTERRUPTING)
      const asked = await client.sendMessage(message('please'))
      assert.equal(asked.status.state, TaskState.TASK_STATE_INPUT_REQUIRED)
      const ids = { contextId: asked.contextId, taskId: asked.id }
      const answered = await client.sendMessage(message('yes', ids))
      assert.equal(answered.id, asked.id)
      assert.equal(textOf(answered), "resumed with 'yes'")
    })

    await checks.run('cancel, of a task that asks', async () => {
      const client = await clientOf(INTERRUPTING)
      const asked = await client.sendMessage(message('please'))
      const cancelled = await client.cancelTask({ tenant: '', id: asked.id, metadata: undefined })
      assert.equal(cancelled.status.state, TaskState.TASK_STATE_CANCELED)
    })

    await checks.run('list', async () => {
      const client = await clientOf(AGENT)
      const { contextId } = await client.sendMessage(message('x'))
      const { tasks, totalSize } = await client.listTasks({ tenant: '', contextId, status: 0, pageToken: '' })
      assert.equal(tasks.length, 1)
      assert.equal(totalSize, 1)
    })
  } else {
    await checks.run('get: the server wants the context, which the SDK does not send', async () => {
      const client = await clientOf(AGENT)
      const task = await client.sendMessage(message('x'))
      await assert.rejects(client.getTask({ tenant: '', id: task.id, historyLength: undefined }), /contextId/)
    })
  }

  return checks
}
