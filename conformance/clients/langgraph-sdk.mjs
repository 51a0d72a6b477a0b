/** `@langchain/langgraph-sdk`, unchanged, against an agent server. */
import { Client } from '@langchain/langgraph-sdk'
import { assert, Checks } from './check.mjs'

const input = (text) => ({ messages: [{ role: 'user', content: text }] })
const lastText = (values) => values.messages.at(-1).content

/**
 * @param {{agentUrl: string, apiKey: string, title: string}} target
 * @returns {Promise<Checks>}
 */
export async function langgraphSdk({ agentUrl, apiKey, title }) {
  const checks = new Checks(title)
  const client = new Client({ apiUrl: agentUrl, apiKey })

  await checks.run('assistants: search, create, get, update, delete', async () => {
    const found = await client.assistants.search({ graphId: 'agent', limit: 10 })
    assert.ok(found.some((assistant) => assistant.metadata?.created_by === 'system'))
    const made = await client.assistants.create({
      graphId: 'agent',
      config: { configurable: { prefix: 'SDK' } },
    })
    assert.equal((await client.assistants.get(made.assistant_id)).graph_id, 'agent')
    await client.assistants.update(made.assistant_id, { metadata: { seen: true } })
    assert.deepEqual((await client.assistants.get(made.assistant_id)).metadata, { seen: true })
    const run = await client.runs.wait(null, made.assistant_id, { input: input('hi') })
    assert.equal(lastText(run), 'SDK: echo: hi (seen 1)')
    await client.assistants.delete(made.assistant_id)
    await assert.rejects(client.assistants.get(made.assistant_id))
  })

  await checks.run('threads: create, get, state, history, search, delete', async () => {
    const thread = await client.threads.create({ metadata: { purpose: 'conformance' } })
    await client.runs.wait(thread.thread_id, 'agent', { input: input('hi') })
    assert.equal((await client.threads.get(thread.thread_id)).status, 'idle')
    assert.equal(lastText((await client.threads.getState(thread.thread_id)).values), 'echo: hi (seen 1)')
    assert.ok((await client.threads.getHistory(thread.thread_id)).length > 1)
    const found = await client.threads.search({ metadata: { purpose: 'conformance' } })
    assert.ok(found.some(({ thread_id }) => thread_id === thread.thread_id))
    await client.threads.delete(thread.thread_id)
    await assert.rejects(client.threads.get(thread.thread_id))
  })

  await checks.run('runs.stream: modes in order, and one feedback URL per key', async () => {
    const thread = await client.threads.create()
    const keys = ['user_liked', 'user_score']
    const events = []
    let created
    const stream = client.runs.stream(thread.thread_id, 'agent', {
      input: input('hello'),
      streamMode: ['updates', 'values'],
      feedbackKeys: keys,
      onRunCreated: (run) => {
        created = run
      },
    })
    for await (const event of stream) events.push(event)
    assert.deepEqual(
      events.map(({ event }) => event),
      ['metadata', 'values', 'updates', 'values', 'feedback'],
    )
    assert.equal(events[0].data.run_id, created.run_id)
    const urls = events.at(-1).data
    assert.deepEqual(Object.keys(urls), keys)
    for (const key of keys) {
      assert.match(urls[key], /\/api\/v1\/feedback\/tokens\/[0-9a-f-]{36}$/)
      const answer = await fetch(urls[key], {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ score: 1 }),
      })
      assert.equal(answer.status, 200)
    }
  })

  await checks.run('runs.stream: tokens of a model', async () => {
    const texts = []
    for await (const event of client.runs.stream(null, 'tokens', {
      input: input('x'),
      streamMode: 'messages-tuple',
    })) {
      if (event.event === 'messages') texts.push(event.data[0].content)
    }
    assert.equal(texts.join(''), 'alpha beta gamma')
  })

  await checks.run('runs.stream: a failure is an error event', async () => {
    const events = []
    for await (const event of client.runs.stream(null, 'failing', {
      input: input('x'),
      streamMode: 'updates',
    })) {
      events.push(event)
    }
    assert.deepEqual(events.at(-1), {
      ...events.at(-1),
      event: 'error',
      data: { error: 'ValueError', message: 'deliberate failure in node' },
    })
  })

  await checks.run('runs.create, join, get, list', async () => {
    const thread = await client.threads.create()
    const run = await client.runs.create(thread.thread_id, 'agent', { input: input('later') })
    assert.equal(lastText(await client.runs.join(thread.thread_id, run.run_id)), 'echo: later (seen 1)')
    assert.equal((await client.runs.get(thread.thread_id, run.run_id)).status, 'success')
    assert.equal((await client.runs.list(thread.thread_id)).length, 1)
  })

  await checks.run('runs.joinStream of a resumable run', async () => {
    const thread = await client.threads.create()
    const run = await client.runs.create(thread.thread_id, 'agent', {
      input: input('again'),
      streamMode: 'updates',
      streamResumable: true,
    })
    await client.runs.join(thread.thread_id, run.run_id)
    const events = []
    const stream = client.runs.joinStream(thread.thread_id, run.run_id, { lastEventId: '-1' })
    for await (const event of stream) events.push(event.event)
    assert.deepEqual(events, ['metadata', 'updates'])
  })

  await checks.run('two assistants on one thread', async () => {
    const thread = await client.threads.create()
    await client.runs.wait(thread.thread_id, 'agent', { input: input('one') })
    const second = await client.runs.wait(thread.thread_id, 'counter', { input: input('two') })
    assert.equal(lastText(second), 'count=3')
  })

  await checks.run('an interrupt is answered by a command', async () => {
    const thread = await client.threads.create()
    const asked = await client.runs.wait(thread.thread_id, 'interrupting', { input: input('please') })
    assert.deepEqual(asked.__interrupt__[0].value, { question: 'approve?' })
    const answered = await client.runs.wait(thread.thread_id, 'interrupting', { command: { resume: 'yes' } })
    assert.equal(lastText(answered), "resumed with 'yes'")
  })

  await checks.run('a run is cancelled', async () => {
    const thread = await client.threads.create()
    const run = await client.runs.create(thread.thread_id, 'slow', { input: input('x') })
    await client.runs.cancel(thread.thread_id, run.run_id, true)
    assert.equal((await client.runs.get(thread.thread_id, run.run_id)).status, 'interrupted')
  })

  await checks.run('an unknown assistant is an error', async () => {
    await assert.rejects(client.runs.wait(null, 'nope', { input: input('x') }), /422|Invalid assistant/)
  })

  return checks
}
