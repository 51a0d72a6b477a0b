/** Shows that the comparison finds what is different: each way of changing a recorded answer must be seen. */
import { assert, Checks } from '../clients/check.mjs'
import { compare } from './compare.mjs'
import { readExchanges } from './exchanges.mjs'
import { IdMap } from './ids.mjs'

const checks = new Checks('comparison')
const exchanges = readExchanges('python-0.16.7.jsonl')
const recorded = (name) => exchanges.find((exchange) => exchange.name === name).response
const NEW_ID = '77777777-7777-4777-8777-777777777777'

/** @type {[what: string, name: string, change: (response: import('./exchanges.mjs').RecordedResponse) => object][]} */
const CHANGES = [
  ['another status', '4-updates-values', () => ({ status: 201 })],
  [
    'another content type',
    '1-ok',
    ({ headers }) => ({ headers: { ...headers, 'content-type': 'text/plain' } }),
  ],
  [
    'a header that is missing',
    '4-updates-values',
    ({ headers: { location: _, ...headers } }) => ({ headers }),
  ],
  ['LF for CRLF', '4-updates-values', ({ body }) => ({ body: body.replaceAll('\r\n', '\n') })],
  [
    'an event that is missing',
    '4-updates-values',
    ({ body }) => ({ body: body.slice(body.indexOf('event: values')) }),
  ],
  [
    'an id where there was none',
    '4-updates-values',
    ({ body }) => ({ body: body.replace('\r\n\r\n', '\r\nid: 0\r\n\r\n') }),
  ],
  ['a key that is missing', '3-create', ({ body }) => ({ body: body.replace('"metadata":{},', '') })],
  ['keys in another order', '7-card-uuid', ({ body }) => ({ body: swapFirstKeys(body) })],
  ['another type', '2-create-ok', ({ body }) => ({ body: body.replace('"version":1', '"version":"1"') })],
  [
    'null for a text',
    '2-create-ok',
    ({ body }) => ({ body: body.replace('"name":"Untitled"', '"name":null') }),
  ],
  [
    'a list that is shorter',
    '2-search-offset2limit2',
    ({ body }) => ({ body: `[${JSON.stringify(JSON.parse(body)[0])}]` }),
  ],
  ['another error text', '2-create-badjson', ({ body }) => ({ body: body.replace('Invalid', 'Broken') })],
  ['another JSON-RPC code', '7-send-ctx-task', ({ body }) => ({ body: body.replace('-32004', '-32001') })],
  ['another answer', '4-updates-values', ({ body }) => ({ body: body.replaceAll('seen 1', 'seen 2') })],
  ['another task state', '7-e-send', ({ body }) => ({ body: body.replace('"completed"', '"working"') })],
]

for (const [what, name, change] of CHANGES) {
  await checks.run(`sees ${what} (${name})`, async () => {
    const response = recorded(name)
    const changed = { ...response, ...change(response) }
    assert.notDeepEqual(changed, response, 'the change changed nothing')
    assert.notEqual(compare(response, changed).length, 0)
  })
}

await checks.run('takes other ids, times and ports for the same', async () => {
  const response = recorded('7-e-send')
  const body = response.body
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, NEW_ID)
    .replaceAll('2026-11-21', '2030-01-02')
  assert.notEqual(body, response.body)
  assert.deepEqual(compare(response, { ...response, body }), [])
})

await checks.run('ids: learns by place, keeps what the client chose and what is made of a name', async () => {
  const ids = new IdMap()
  const theirs = '01a1fc2f-208f-7199-b4ed-0b1cbca3eacd'
  ids.learn({ a: [{ id: `x:${theirs}` }] }, { a: [{ id: `x:${NEW_ID}` }] })
  const agent = 'fe096781-5601-53d2-b2f6-0d3403f7e9ca'
  ids.learn(agent, NEW_ID)
  assert.equal(ids.toActual(`/threads/${theirs}/runs?of=${agent}`), `/threads/${NEW_ID}/runs?of=${agent}`)
  assert.equal(ids.toActual(theirs.toUpperCase()), NEW_ID.toUpperCase())
  assert.equal(ids.toActual(theirs.replaceAll('-', '')), NEW_ID.replaceAll('-', ''))
})

function swapFirstKeys(body) {
  const [[firstKey, first], [secondKey, second], ...rest] = Object.entries(JSON.parse(body))
  return JSON.stringify(Object.fromEntries([[secondKey, second], [firstKey, first], ...rest]))
}

console.log(`\nComparison: ${checks.passed} passed, ${checks.failed} failed`)
process.exitCode = checks.failed === 0 ? 0 : 1
