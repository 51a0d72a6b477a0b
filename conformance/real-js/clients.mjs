/** Our agent server client, function by function, against a real server. Runs the sources, which Node strips. */
import {
  createAssistant,
  defaultAssistantId,
  deleteAssistant,
  getAssistant,
  searchAssistants,
  systemAssistants,
} from '../../src/clients/agent-server/assistants.ts'
import { getInfo, getOk } from '../../src/clients/agent-server/meta.ts'
import { getRunStatus, streamRun } from '../../src/clients/agent-server/runs.ts'
import {
  createThread,
  deleteThread,
  getNextNodes,
  getThread,
} from '../../src/clients/agent-server/threads.ts'
import { HttpError } from '../../src/http/errors.ts'
import { readProxySettings } from '../../src/http/proxy.ts'
import { Transport } from '../../src/http/transport.ts'
import { assert } from '../clients/check.mjs'

/** More than a page. */
const MANY = 105
const TIMEOUT_MS = 30_000

/** @param {string} url @param {import('../clients/check.mjs').Checks} checks */
export async function ourClients(url, checks) {
  const transport = new Transport({
    proxy: readProxySettings({}),
    signal: new AbortController().signal,
    clock: { now: Date.now, sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) },
    random: Math.random,
    userAgent: 'agent-deploy-conformance',
  })
  const server = { transport, url: new URL(url), headers: {} }
  const soon = () => ({ deadline: Date.now() + TIMEOUT_MS })
  const isGone = (error) => error instanceof HttpError && error.status === 404

  try {
    await checks.run('client: /ok and /info', async () => {
      assert.equal(await getOk(server, soon()), true)
      assert.equal((await getInfo(server, soon())).version, '1.5.1')
    })

    await checks.run('client: assistants over several pages, the default ones by their ids', async () => {
      const made = []
      for (let count = 0; count < MANY; count++) {
        made.push(await createAssistant(server, { graph_id: 'agent', name: `a ${count}` }, soon()))
      }
      const all = await searchAssistants(server, soon())
      assert.equal(new Set(all.map(({ id }) => id)).size, all.length)
      for (const { id } of made) assert(all.some((found) => found.id === id))
      const system = systemAssistants(all)
      assert(system.length > 1)
      for (const { id, graphId } of system) assert.equal(id, defaultAssistantId(graphId))
      const [{ id }] = made
      assert.equal((await getAssistant(server, id, soon())).name, 'a 0')
      for (const one of made) await deleteAssistant(server, one.id, soon())
      await assert.rejects(getAssistant(server, id, soon()), isGone)
      assert.equal((await searchAssistants(server, soon())).length, system.length)
    })

    await checks.run('client: a thread, a run that stops to ask, and what is left of both', async () => {
      const { id } = await createThread(server, soon())
      assert.equal((await getThread(server, id, soon())).status, 'idle')
      const input = { messages: [{ role: 'user', content: 'x' }] }
      const body = { assistant_id: 'interrupting', stream_mode: ['updates', 'values'], input }
      const run = await streamRun(server, id, body, soon())
      const types = []
      for await (const event of run.events) types.push(event.interrupts ? `${event.type}!` : event.type)
      assert.deepEqual(types, ['metadata', 'values', 'updates!', 'values!'])
      const { closed, error, stateEvents } = run.verdict()
      assert.deepEqual([closed, error, stateEvents], [true, undefined, 3])
      assert.equal(await getRunStatus(server, id, run.runId(), soon()), 'success')
      assert.equal((await getThread(server, id, soon())).status, 'interrupted')
      assert.equal(await getNextNodes(server, id, soon()), 1)
      await deleteThread(server, id, soon())
      await assert.rejects(getThread(server, id, soon()), isGone)
    })
  } finally {
    await transport.close()
  }
}
