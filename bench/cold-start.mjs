/** From the start of the process to its first request, as a ratio to a bare Node start in the same run. */
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'

const ROUNDS = 15
const launcher = fileURLToPath(new URL('../dist/index.js', import.meta.url))
let onRequest = () => {}
const server = createServer((_request, response) => {
  onRequest()
  response.end('{}')
}).listen(0, '127.0.0.1')
await new Promise((resolve) => server.once('listening', resolve))

function measure(args, env = {}) {
  const started = performance.now()
  const child = spawn(process.execPath, args, { env: { PATH: process.env.PATH, ...env }, stdio: 'ignore' })
  return new Promise((resolve) => {
    onRequest = () => {
      resolve(performance.now() - started)
      child.kill('SIGKILL')
    }
    child.once('exit', () => resolve(performance.now() - started))
  })
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1]
const bare = []
const action = []
for (let round = 0; round < ROUNDS; round++) {
  bare.push(await measure(['-e', '0']))
  action.push(
    await measure([launcher], {
      'INPUT_API-KEY': 'bench-key-1',
      INPUT_NAME: 'bench',
      'INPUT_IMAGE-URI': 'registry.example/agent:1',
      'INPUT_CONTROL-PLANE-URL': `http://127.0.0.1:${server.address().port}`,
      GITHUB_OUTPUT: '/dev/null',
      GITHUB_STEP_SUMMARY: '/dev/null',
    }),
  )
}
server.closeAllConnections()
server.close()
console.log(
  `first request after ${median(action).toFixed(0)} ms, bare node ${median(bare).toFixed(0)} ms: ratio ${(median(action) / median(bare)).toFixed(2)}`,
)
