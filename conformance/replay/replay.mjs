/**
 * Replays one recorded file, in order and with mapped ids, against one agent, and compares each answer.
 */
import { readBody } from './body.mjs'
import { compare } from './compare.mjs'
import { ID, IdMap } from './ids.mjs'
import { PRELUDES } from './preludes.mjs'
import { send } from './wire.mjs'

/** What they list stands on many requests that were not kept. */
const LISTS = ['7-rpc-method-ListTasks']

/**
 * @typedef {{name: string, differences: ReturnType<typeof compare>}} Result
 * @param {{exchanges: import('./exchanges.mjs').Exchange[], agentUrl: string, skip: (name: string) => boolean,
 *   credentials: (headers: Record<string, string>) => Record<string, string>}} options `agentUrl` has no last slash;
 *   `credentials` gives a request the headers with which the emulator takes it as the recorded server did
 * @returns {Promise<Result[]>} one for each exchange that was not skipped, in order
 */
export async function replay({ exchanges, agentUrl, skip, credentials }) {
  const ids = new IdMap()
  const results = []
  const ask = (request, path = request.path) => {
    const headers = Object.entries(request.headers).map(([name, value]) => [name, ids.toActual(value)])
    return send(new URL(`${agentUrl}${ids.toActual(path)}`), {
      method: request.method,
      headers: credentials(Object.fromEntries(headers)),
      body: ids.toActual(request.body),
    })
  }

  for (const exchange of exchanges) {
    if (skip(exchange.name)) continue
    for (const prelude of PRELUDES.filter(({ before }) => before === exchange.name)) {
      const answer = await ask(prelude.request)
      if (prelude.learn) ids.learn(prelude.learn, JSON.parse(answer.body))
      ids.learn(prelude.header, answer.headers['content-location'])
    }
    await makeThread(exchange, ids, ask)

    let actual
    try {
      actual = await ask(exchange.request)
    } catch (error) {
      results.push({
        name: exchange.name,
        differences: [{ where: 'answer', recorded: 'one', actual: String(error) }],
      })
      continue
    }
    for (const name of ['content-location', 'location']) {
      ids.learn(exchange.response.headers[name], actual.headers[name])
    }
    ids.learn(content(exchange.response), content(actual))
    results.push({
      name: exchange.name,
      differences: compare(exchange.response, actual, { listsByElement: LISTS.includes(exchange.name) }),
    })
  }
  return results
}

/**
 * The recorder made a thread before each run and did not write that down. Threads that the server made have UUIDs of
 * version 7; those that the recorder chose itself have not, and are made by the recorded request.
 */
async function makeThread(exchange, ids, ask) {
  const thread = exchange.request.path.match(/^\/threads\/([0-9a-f-]{36})/)?.[1]
  if (thread === undefined || thread[14] !== '7' || ids.has(thread) || exchange.response.status === 404)
    return
  const request = {
    method: 'POST',
    path: '/threads',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  }
  ids.set(thread, JSON.parse((await ask(request)).body).thread_id)
}

function content(response) {
  const body = readBody(response)
  if (body.kind === 'json') return body.value
  if (body.kind === 'stream') return body.events.map(({ data, id }) => [data, id])
  return response.body.match(ID)?.length ? response.body : undefined
}
