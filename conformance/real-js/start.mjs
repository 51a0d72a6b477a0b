/** Starts `server.mjs` as a process of its own and waits until it answers. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/**
 * @param {{timeoutMs?: number}} [options] how long the start may take; it needs about 2 s on two cores
 * @returns {Promise<{url: string, close: () => Promise<void>}>}
 */
export async function startRealServer({ timeoutMs = 60_000 } = {}) {
  const child = spawn(process.execPath, [fileURLToPath(new URL('server.mjs', import.meta.url))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const url = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`the real server was not ready within ${timeoutMs} ms`))
    }, timeoutMs)
    createInterface({ input: child.stdout }).on('line', (line) => {
      const ready = line.match(/^ready (\S+)$/)?.[1]
      if (ready) resolve(ready)
    })
    child.once('exit', (code) => reject(new Error(`the real server ended with exit code ${code}`)))
    child.once('exit', () => clearTimeout(timer))
  })
  return {
    url,
    close: async () => {
      child.kill('SIGTERM')
      await exited
    },
  }
}
