/** Starts the emulator as users do, as a process of its own, and deploys one agent to it. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const SOURCES = fileURLToPath(new URL('../../src/emulator/cli.ts', import.meta.url))

/**
 * @param {{entry?: string | undefined, flags?: string[]}} options `entry`: a built bundle; left out: the sources, which
 *   Node runs by itself from 22.18 on
 * @returns {Promise<{controlPlaneUrl: string, apiKey: string, workspaceId: string, sandboxUrl: string,
 *   close: () => Promise<void>}>}
 */
export async function startEmulator({ entry = SOURCES, flags = [] }) {
  const args = ['--no-warnings', entry, '--json', '--port', '0', '--speed', '1000', ...flags]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const lines = createInterface({ input: child.stdout })
  const ready = await new Promise((resolve, reject) => {
    lines.once('line', resolve)
    child.once('exit', (code) =>
      reject(new Error(`${entry} ended with exit code ${code} before it was ready`)),
    )
  })
  return {
    ...JSON.parse(ready),
    close: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/**
 * Creates a deployment from an image and waits until it serves.
 * @param {{controlPlaneUrl: string, apiKey: string}} emulator
 * @param {string} [name]
 * @returns {Promise<string>} the deployment's URL, without a last slash
 */
export async function deployAgent({ controlPlaneUrl, apiKey }, name = 'conformance') {
  const call = async (method, path, body) => {
    const answer = await fetch(`${controlPlaneUrl}${path}`, {
      method,
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }
  const { id } = await call('POST', '/v2/deployments', {
    name,
    source: 'external_docker',
    source_config: { resource_spec: {} },
    source_revision_config: { image_uri: 'registry.example/agent@sha256:0' },
    secrets: [],
  })
  for (let tries = 0; tries < 200; tries++) {
    const deployment = await call('GET', `/v2/deployments/${id}`)
    const url = deployment.source_config?.custom_url
    if (url && deployment.active_revision_id === deployment.latest_revision_id) return url.replace(/\/$/, '')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`deployment ${id} did not get DEPLOYED within 10 s`)
}
