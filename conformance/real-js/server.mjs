/**
 * A real `@langchain/langgraph-api` server on `graph.mjs`, as `langgraphjs dev` starts it, without its telemetry.
 *   node server.mjs [port]      prints `ready <url>` when it answers, ends on SIGTERM
 * It keeps its state in a temporary folder and reaches for no other host.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Names of the graphs, and what `graph.mjs` calls those that are called otherwise there. */
const GRAPHS = [
  ['agent'],
  ['counter'],
  ['failing'],
  ['slow', 'slowly'],
  ['interrupting'],
  ['nomessages'],
  ['two'],
  ['nullnode'],
  ['tokens'],
  ['blocks'],
]

const port = Number(process.argv[2] ?? 0) || (await freePort())
const langSmith = await startLangSmith()
Object.assign(process.env, {
  NODE_ENV: 'development',
  LANGGRAPH_API_URL: `http://127.0.0.1:${port}`,
  LANGSMITH_TRACING: 'false',
  LANGCHAIN_TRACING_V2: 'false',
  LANGGRAPH_CLI_NO_ANALYTICS: '1',
  LANGSMITH_ENDPOINT: langSmith,
  LANGCHAIN_ENDPOINT: langSmith,
  LOG_LEVEL: 'error',
})

const { startServer } = await import('@langchain/langgraph-api/server')
const cwd = mkdtempSync(join(tmpdir(), 'real-js-'))
const graph = fileURLToPath(new URL('graph.mjs', import.meta.url))
const { cleanup } = await startServer({
  port,
  host: '127.0.0.1',
  nWorkers: 4,
  cwd,
  graphs: Object.fromEntries(GRAPHS.map(([name, exported = name]) => [name, `${graph}:${exported}`])),
})
process.once('SIGTERM', async () => {
  await cleanup()
  rmSync(cwd, { recursive: true, force: true })
  process.exit(0)
})
console.log(`ready http://127.0.0.1:${port}`)

/** What the server asks for feedback tokens: one that knows no key, as for whoever has none. */
async function startLangSmith() {
  const stub = createHttpServer((request, answer) => {
    request.resume()
    answer.writeHead(403, { 'content-type': 'application/json' }).end('{"detail":"Forbidden"}')
  })
  await new Promise((listening) => stub.listen(0, '127.0.0.1', listening))
  stub.unref()
  return `http://127.0.0.1:${stub.address().port}`
}

/** Port 0 is refused by the server's own schema. */
async function freePort() {
  const probe = createServer()
  await new Promise((listening) => probe.listen(0, '127.0.0.1', listening))
  const { port: free } = /** @type {import('node:net').AddressInfo} */ (probe.address())
  await new Promise((closed) => probe.close(closed))
  return free
}
