import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from '@jest/globals'
import { startTestEmulator } from '../helpers/emulator.ts'

const CLI = fileURLToPath(new URL('../../src/emulator/cli.ts', import.meta.url))

let running: ChildProcess | undefined

afterEach(() => {
  running?.kill('SIGKILL')
})

interface Run {
  child: ChildProcess
  out: () => string
  /** Resolves when the first line is out. */
  ready: Promise<string>
  /** Resolves at the end. */
  end: Promise<{ code: number | null; out: string; err: string }>
}

function start(...flags: string[]): Run {
  const child = spawn(process.execPath, ['--no-warnings', CLI, ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running = child
  let [out, err] = ['', '']
  child.stderr.on('data', (chunk) => {
    err += chunk
  })
  const ready = new Promise<string>((resolve) => {
    child.stdout.on('data', (chunk) => {
      out += chunk
      if (out.includes('\n')) resolve(out)
    })
  })
  const end = once(child, 'close').then(([code]) => ({ code: code as number | null, out, err }))
  return { child, out: () => out, ready, end }
}

describe('the command', () => {
  it('with --json prints one line of JSON, answers there, and ends at SIGTERM with 0', async () => {
    const run = start('--json', '--port', '0')
    const line = JSON.parse(await run.ready)
    expect(Object.keys(line)).toEqual(['controlPlaneUrl', 'apiKey', 'workspaceId', 'sandboxUrl'])
    const response = await fetch(`${line.controlPlaneUrl}/v2/deployments`, {
      headers: { 'X-Api-Key': line.apiKey },
    })
    expect(response.status).toBe(200)
    const box = await fetch(`${line.sandboxUrl}/v2/sandboxes/boxes/box-1`, {
      headers: { 'X-Api-Key': line.apiKey },
    })
    expect(box.status).toBe(200)
    run.child.kill('SIGTERM')
    expect(await run.end).toEqual({ code: 0, out: `${JSON.stringify(line)}\n`, err: '' })
  })

  it('without it prints one line with the URLs and the key, and ends at SIGINT with 0, streams open', async () => {
    const run = start('--speed', '1000')
    const line = await run.ready
    const url = /control plane (http:\S+?),/.exec(line)?.[1] ?? ''
    const key = /(lsv2_pt_\w+)/.exec(line)?.[1] ?? ''
    await fetch(`${url}/_emulator/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ path: '/v2/deployments', effect: { stream: 'endless' } }),
    })
    const open = await fetch(`${url}/v2/deployments`, { headers: { 'X-Api-Key': key } })
    run.child.kill('SIGINT')
    expect(await run.end).toEqual({ code: 0, out: line, err: '' })
    await expect(open.text()).rejects.toThrow()
  })

  it('explains itself', async () => {
    const { code, out, err } = await start('--help').end
    expect([code, err]).toEqual([0, ''])
    for (const flag of [
      'port',
      'host',
      'allow-remote',
      'profile',
      'speed',
      'disable-a2a',
      'terminal-tasks',
      'a2a',
    ]) {
      expect(out).toContain(`--${flag}`)
    }
    for (const flag of ['agent-version', 'no-feedback', 'json']) expect(out).toContain(`--${flag}`)
  })

  it.each([
    [['--prot', '1'], "Unknown option '--prot'"],
    [['8123'], "Unexpected argument '8123'"],
    [['--port', 'web'], '--port web: expected a number'],
    [['--port', '70000'], '--port 70000: expected a whole number'],
    [['--speed', '0'], '--speed 0: expected a number above 0'],
    [['--profile', 'ruby'], '--profile ruby: expected python or js'],
    [['--a2a', '2'], '--a2a 2: expected 0.3 or 1.0'],
    [['--terminal-tasks', 'x'], '--terminal-tasks x: expected accept or reject'],
    [['--agent-version', 'new'], '--agent-version new: expected a version'],
    [['--host', '0.0.0.0'], '--host 0.0.0.0: is not loopback'],
    [['--port'], "'--port"],
  ])('%j: says what is wrong, and ends with 2', async (flags, message) => {
    const { code, out, err } = await start(...flags).end
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(message)
    expect(err).toContain('--help')
  })

  it('says so when the port is taken, and ends with 1', async () => {
    const first = await startTestEmulator()
    const { code, err } = await start('--port', String(first.port)).end
    await first.close()
    expect(code).toBe(1)
    expect(err).toContain('Choose another --port')
  })

  it('listens elsewhere when that is allowed', async () => {
    const run = start('--host', '0.0.0.0', '--allow-remote', '--json')
    const { controlPlaneUrl } = JSON.parse(await run.ready)
    expect((await fetch(`${controlPlaneUrl}/openapi.json`)).status).toBe(200)
    run.child.kill('SIGTERM')
    expect((await run.end).code).toBe(0)
  })
})
