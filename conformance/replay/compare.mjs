/**
 * One recorded answer against one of the emulator: status, content type, the named headers, line ends and order of
 * events, the body's keys (in their order), types and list lengths; an error's body to the letter. Ids, times and
 * addresses are written as `<id>`, `<time>` and `http://HOST` on both sides first.
 */
import { readBody } from './body.mjs'
import { ID, isObject } from './ids.mjs'

/** The headers that a client may lean on. `date`, `server`, `connection`, lengths and chunking are not among them. */
const HEADERS = [
  'content-type',
  'location',
  'content-location',
  'cache-control',
  'x-accel-buffering',
  'allow',
  'vary',
  'x-pagination-total',
  'x-pagination-next',
  'access-control-allow-origin',
  'access-control-expose-headers',
  'access-control-allow-methods',
  'access-control-allow-headers',
  'access-control-allow-private-network',
  'access-control-max-age',
]

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g

/** @param {string} text */
function plain(text) {
  return text
    .replace(/http:\/\/(127\.0\.0\.1|localhost):(PORT|\d+)(\/d\/[^/"\s]+)?/g, 'http://HOST')
    .replace(ID, '<id>')
    .replace(TIME, '<time>')
}

/**
 * @param {import('./exchanges.mjs').RecordedResponse} recorded
 * @param {import('./exchanges.mjs').RecordedResponse} actual
 * @param {{listsByElement?: boolean}} [options] lists are compared by what their elements look like, not one by one
 * @returns {{where: string, recorded: unknown, actual: unknown}[]} empty when they are alike
 */
export function compare(recorded, actual, { listsByElement = false } = {}) {
  const found = []
  const differs = (where, want, got) => found.push({ where, recorded: want, actual: got })

  if (recorded.status !== actual.status) differs('status', recorded.status, actual.status)
  for (const name of HEADERS) {
    const want = header(recorded, name)
    const got = header(actual, name)
    if (want !== got) differs(`header ${name}`, want, got)
  }
  const want = readBody(recorded)
  const got = readBody(actual)
  if (want.kind !== got.kind) {
    differs('body', recorded.body.slice(0, 300), actual.body.slice(0, 300))
  } else if (want.kind === 'text') {
    if (plain(want.value) !== plain(got.value))
      differs('body', want.value.slice(0, 300), got.value.slice(0, 300))
  } else if (want.kind === 'json') {
    const exact = recorded.status >= 400 || isErrorBody(want.value)
    if (listsByElement) compareValue('body', merged(want.value), merged(got.value), false, differs)
    else compareValue('body', want.value, got.value, exact, differs)
  } else if (want.kind === 'stream') {
    compareStream(want, got, differs)
  }
  return found
}

function compareStream(want, got, differs) {
  if (want.lineEnd !== got.lineEnd) differs('line ends', want.lineEnd, got.lineEnd)
  const names = (stream) => stream.events.map((event) => event.event).join(' ')
  if (names(want) !== names(got)) {
    differs('order of events', names(want), names(got))
    return
  }
  want.events.forEach((event, index) => {
    const other = got.events[index]
    const where = `event ${index} (${event.event})`
    if (event.order !== other.order) differs(`${where}: lines`, event.order, other.order)
    const exact = event.event === 'error' || isErrorBody(event.data)
    compareValue(where, event.data, other.data, exact, differs)
  })
}

/** A value in which each list holds one element that has the members of all, and no text says anything. */
function merged(value) {
  if (Array.isArray(value)) return value.length === 0 ? [] : [value.map(merged).reduce(join)]
  if (!isObject(value)) return typeof value === 'string' ? '' : value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, merged(item)]))
}

function join(a, b) {
  if (Array.isArray(a) && Array.isArray(b))
    return [...a, ...b].length === 0 ? [] : [[...a, ...b].reduce(join)]
  if (!isObject(a) || !isObject(b)) return a ?? b
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort()
  return Object.fromEntries(
    keys.map((key) => [key, key in a && key in b ? join(a[key], b[key]) : (a[key] ?? b[key])]),
  )
}

/** A JSON-RPC error, or what `runs/wait` answers for a failed run. */
function isErrorBody(value) {
  return isObject(value) && (Object.hasOwn(value, 'error') || Object.hasOwn(value, '__error__'))
}

function compareValue(where, want, got, exact, differs) {
  if (Array.isArray(want) && Array.isArray(got)) {
    if (want.length !== got.length) differs(`${where}: length`, want.length, got.length)
    for (let i = 0; i < Math.min(want.length, got.length); i++) {
      compareValue(`${where}[${i}]`, want[i], got[i], exact, differs)
    }
  } else if (isObject(want) && isObject(got)) {
    const wantKeys = Object.keys(want)
    const gotKeys = Object.keys(got)
    const wantPlain = wantKeys.map(plain)
    const gotPlain = gotKeys.map(plain)
    if (keyList(wantPlain) !== keyList(gotPlain)) {
      differs(`${where}: keys`, wantPlain.join(), gotPlain.join())
      for (const key of wantKeys) {
        if (Object.hasOwn(got, key)) compareValue(`${where}.${key}`, want[key], got[key], exact, differs)
      }
      return
    }
    wantKeys.forEach((key, index) => {
      const other = Object.hasOwn(got, key) ? key : gotKeys[index]
      compareValue(`${where}.${plain(key)}`, want[key], got[other], exact, differs)
    })
  } else if (typeOf(want) !== typeOf(got)) {
    differs(where, want, got)
  } else if (exact || LITERAL.has(where.slice(where.lastIndexOf('.') + 1))) {
    const a = typeof want === 'string' ? plain(want) : want
    const b = typeof got === 'string' ? plain(got) : got
    if (a !== b) differs(where, want, got)
  }
}

/**
 * Keys in their order. The real server wrote `run_id` and `thread_id` of a message's metadata in either order, one day
 * so and one day so.
 */
function keyList(keys) {
  return (keys.includes('langgraph_api_version') ? [...keys].sort() : keys).join()
}

/** Words whose value is the answer itself, not only its shape. */
const LITERAL = new Set([
  'content',
  'text',
  'kind',
  'state',
  'status',
  'role',
  'type',
  'final',
  'append',
  'lastChunk',
])

function typeOf(value) {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}

function header(response, name) {
  const value = response.headers[name]
  return value === undefined ? undefined : plain(value)
}
