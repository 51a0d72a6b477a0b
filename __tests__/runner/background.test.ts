import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { type Clock, systemClock } from '../../src/base/clock.ts'
import { CancelledError } from '../../src/base/errors.ts'
import { backgroundErrors, startBackground } from '../../src/runner/background.ts'
import { type TestRunner, testContext, testRunner } from '../helpers/test-runner.ts'

let folder: string
let runner: TestRunner & { clock: Clock }

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'background-'))
  const env = { ...process.env, RUNNER_TEMP: folder, INPUT_SECRETS: 'hush', RUNNER_TRACKING_ID: 'track-1' }
  runner = { ...testRunner(testContext('http://127.0.0.1:1'), { env }), clock: systemClock }
})

afterEach(() => rm(folder, { recursive: true, force: true }))

async function start(script: string, timeoutMs = 10_000) {
  const file = join(folder, 'program.mjs')
  await writeFile(file, script)
  return startBackground(runner, { name: 'program', file, args: ['--one', 'two'], timeoutMs })
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function gone(pid: number): Promise<boolean> {
  for (let at = 0; at < 100 && alive(pid); at++) await systemClock.sleep(50)
  return !alive(pid)
}

describe('startBackground', () => {
  it('gives the first line, and leaves the program running', async () => {
    const {
      pid,
      line,
      folder: own,
    } = await start(`
      console.log(JSON.stringify([process.argv.slice(2), process.env.INPUT_SECRETS, process.env.RUNNER_TRACKING_ID]))
      console.error('a word on stderr')
      setInterval(() => {}, 1000)`)
    expect(JSON.parse(line)).toEqual([['--one', 'two'], null, 'track-1'])
    expect(own.startsWith(join(folder, 'program-'))).toBe(true)
    expect(alive(pid)).toBe(true)
    for (let at = 0; at < 100 && (await backgroundErrors(own)) === ''; at++) await systemClock.sleep(20)
    expect(await backgroundErrors(own)).toBe('a word on stderr\n')
    expect(await readFile(join(own, 'out.log'), 'utf8')).toBe(`${line}\n`)
    process.kill(pid)
    expect(await gone(pid)).toBe(true)
  })

  it('tells what the program said when it ends at once', async () => {
    await expect(start('console.error("port 80 is taken"); process.exit(2)')).rejects.toThrow(
      /program ended at once \(exit code 2\): port 80 is taken/,
    )
  })

  it('does not take half a line for a line', async () => {
    await expect(start('process.stdout.write("{"); process.exit(1)')).rejects.toThrow(/exit code 1/)
  })

  it.each([
    ['silent', /said nothing within 10 s/],
    ['cancelled', /cancelled/],
  ])('stops a program when it is %s', async (why, expected) => {
    const pidFile = join(folder, 'pid')
    const runs = () => existsSync(pidFile) && readFileSync(pidFile, 'utf8') !== ''
    // Only when the program runs does the time run out, or the cancel come.
    runner.clock = {
      now: () => (why === 'silent' && runs() ? 60_000 : 0),
      sleep: async (ms, signal) => {
        await systemClock.sleep(ms, signal)
        if (why === 'cancelled' && runs()) runner.cancel()
      },
    }
    const script = `
      import { writeFileSync } from 'node:fs'
      writeFileSync(${JSON.stringify(pidFile)}, String(process.pid))
      setInterval(() => {}, 1000)`
    const failure = await start(script).then(
      () => undefined,
      (error: unknown) => error as Error,
    )
    expect(failure?.message).toMatch(expected)
    expect(failure instanceof CancelledError).toBe(why === 'cancelled')
    const pid = Number(await readFile(pidFile, 'utf8'))
    expect(await gone(pid)).toBe(true)
  })
})
