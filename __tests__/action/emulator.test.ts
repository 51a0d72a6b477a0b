import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { type RunResult, runBundle } from '../helpers/action.ts'

let temp: string
let pids: number[]

beforeEach(() => {
  temp = mkdtempSync(join(tmpdir(), 'runner-temp-'))
  pids = []
})

afterEach(() => {
  for (const pid of pids.filter(alive)) process.kill(pid, 'SIGKILL')
  rmSync(temp, { recursive: true, force: true, maxRetries: 3 })
})

interface Saved {
  pid: number
  url: string
  folder: string
}

async function start(
  inputs: Record<string, string> = {},
  env: Record<string, string> = {},
): Promise<RunResult & { saved: Saved }> {
  const run = await runBundle({ action: 'emulator', inputs, env: { RUNNER_TEMP: temp, ...env } })
  const saved = JSON.parse(run.state['emulator'] ?? '{}') as Saved
  if (saved.pid !== undefined) pids.push(saved.pid)
  return { ...run, saved }
}

function post(run: RunResult): Promise<RunResult> {
  return runBundle({ action: 'emulator', phase: 'post', env: { RUNNER_TEMP: temp }, state: run.state })
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Ended, and collected by whoever inherited it: soon, but not at once. */
async function gone(url: string): Promise<boolean> {
  return fetch(`${url}/_emulator/state`).then(
    () => false,
    () => true,
  )
}

/** Settled once the program in the background has its folder: then it was started, or is about to be. */
async function begun(): Promise<void> {
  while (!readdirSync(temp).some((name) => name.startsWith('agent-deploy-emulator-')))
    await new Promise((done) => setTimeout(done, 2))
}

/** Processes that were started in this test's folder and have not ended; none are found but on Linux. */
function running(): string[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`).startsWith(temp)
    } catch {
      return false
    }
  })
}

describe('emulator/', () => {
  it('runs on after the step, answers, and is stopped in post with a table of what it was asked', async () => {
    const main = await start()
    expect(main.exitCode).toBe(0)
    expect(main.outputs).toEqual({
      'control-plane-url': expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      'api-key': expect.stringMatching(/^lsv2_pt_/),
      'workspace-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'sandbox-url': expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+/),
    })
    // A mask would take the key out of the outputs of the job.
    expect(main.masks).toEqual([])
    expect(main.annotations).toEqual([])

    const url = main.outputs['control-plane-url'] ?? ''
    const key = main.outputs['api-key'] ?? ''
    const listed = await fetch(`${url}/v2/deployments`, { headers: { 'x-api-key': key } })
    expect(listed.status).toBe(200)
    const refused = await fetch(`${url}/v2/deployments`, { method: 'POST' })
    expect(refused.status).toBeGreaterThanOrEqual(400)

    const end = await post(main)
    expect(end.exitCode).toBe(0)
    expect(end.annotations).toEqual([])
    expect(end.summary).toContain('| `GET` | `/v2/deployments` | 1 | 200 |')
    expect(end.summary).toContain(`| \`POST\` | \`/v2/deployments\` | 1 | ${refused.status} |`)
    expect(end.summary).not.toContain(key)
    expect(await gone(url)).toBe(true)
    expect(existsSync(main.saved.folder)).toBe(false)
  })

  it('hands its inputs on', async () => {
    const main = await start({ profile: 'js', speed: '0.5', 'disable-a2a': 'true' })
    expect(main.exitCode).toBe(0)
    if (process.platform === 'linux') {
      const words = readFileSync(`/proc/${main.saved.pid}/cmdline`, 'utf8').split('\0').slice(2, -1)
      expect(words.join(' ')).toBe('--json --port 0 --profile js --speed 0.5 --disable-a2a')
    }
    expect((await post(main)).exitCode).toBe(0)
  })

  it('takes the port that it is given, and says so when that is taken', async () => {
    const other = createServer()
    await new Promise<void>((ready) => other.listen(0, '127.0.0.1', ready))
    const { port } = other.address() as AddressInfo
    try {
      const run = await start({ port: String(port) })
      expect(run.exitCode).toBe(1)
      expect(run.annotations).toHaveLength(1)
      expect(run.annotations[0]?.message).toMatch(/agent-deploy-emulator ended at once.*EADDRINUSE/s)
    } finally {
      await new Promise((done) => other.close(done))
    }
    const free = await start({ port: String(port) })
    expect(free.outputs['control-plane-url']).toBe(`http://127.0.0.1:${port}`)
    await post(free)
  })

  it('tells all wrong inputs at once, and starts nothing', async () => {
    const run = await start({ port: '80.5', profile: 'ruby', speed: '0', 'disable-a2a': 'maybe' })
    expect(run.exitCode).toBe(1)
    expect(run.annotations).toHaveLength(1)
    for (const name of ['port', 'profile', 'speed', 'disable-a2a']) {
      expect(run.annotations[0]?.message).toContain(`"${name}"`)
    }
    expect(run.state).toEqual({})
  })

  it('keeps nothing of the job’s environment', async () => {
    const main = await start({}, { MY_SECRET: 'canary-canary', ACTIONS_RUNTIME_TOKEN: 'canary-2' })
    if (process.platform === 'linux') {
      expect(readFileSync(`/proc/${main.saved.pid}/environ`, 'utf8')).not.toContain('canary')
    }
    await post(main)
  })

  it('is green in post, with a warning, when the emulator died meanwhile, and kills nobody else', async () => {
    const main = await start()
    process.kill(main.saved.pid, 'SIGKILL')
    for (let at = 0; at < 100 && !(await gone(main.saved.url)); at++) {
      await new Promise((done) => setTimeout(done, 20))
    }
    // The id was given to somebody else meanwhile: this very process.
    const state = { emulator: JSON.stringify({ ...main.saved, pid: process.pid }) }
    const end = await runBundle({ action: 'emulator', phase: 'post', env: { RUNNER_TEMP: temp }, state })
    expect(end.exitCode).toBe(0)
    expect(end.annotations).toEqual([
      expect.objectContaining({ message: expect.stringContaining('does not answer') }),
    ])
  })

  it('does nothing in post when main started nothing', async () => {
    const end = await runBundle({ action: 'emulator', phase: 'post' })
    expect(end).toMatchObject({ exitCode: 0, annotations: [], summary: '' })
  })

  it('stops a half-started emulator when the job is cancelled', async () => {
    const run = await runBundle({
      action: 'emulator',
      env: { RUNNER_TEMP: temp },
      signalAfter: { until: begun() },
    })
    const saved = JSON.parse(run.state['emulator'] ?? 'null') as Saved | null
    if (saved !== null) pids.push(saved.pid)
    expect(run.endedBy).toBeNull()
    expect(run.msAfterSignal ?? 0).toBeLessThan(5_000)
    // Cancelled before or after it was ready: what runs is known to post.
    const end = await post(run)
    expect(end.exitCode).toBe(0)
    if (saved !== null) expect(await gone(saved.url)).toBe(true)
    for (let at = 0; at < 250 && running().length > 0; at++) await new Promise((done) => setTimeout(done, 20))
    expect(running()).toEqual([])
  })
})
