import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AgentDeployError } from '../base/errors.ts'
import type { Runner } from './runner.ts'

/** A program that goes on after the step. */
export interface Background {
  readonly pid: number
  /** Its first line on stdout. */
  readonly line: string
  /** The folder under RUNNER_TEMP with its output, `out.log` and `errors.log`. */
  readonly folder: string
}

export interface BackgroundOptions {
  /** In messages and in the folder's name: letters and dashes. */
  readonly name: string
  /** A JavaScript file, run by the Node that runs this. */
  readonly file: string
  readonly args: readonly string[]
  /** How long its first line may take, in milliseconds. */
  readonly timeoutMs: number
}

/**
 * What the program gets of the environment: enough to run, and the mark by which the job's runner finds what
 * a job left behind. Nothing else, because a job's environment is full of secrets.
 */
const KEPT = ['PATH', 'HOME', 'TMPDIR', 'TMP', 'TEMP', 'SYSTEMROOT', 'WINDIR', 'RUNNER_TRACKING_ID']

/** How often the first line is looked for, in milliseconds. */
const POLL_MS = 50

/**
 * Starts a Node program that outlives this process, and waits for its first line. It has a session of its own
 * (on Windows a process group), and its output goes to files: a pipe, or the step's own stdout, would keep
 * the step open or break when it ends.
 * @throws AgentDeployError when it ends, or stays silent; it is stopped then. The signal's reason on a cancel
 */
export async function startBackground(runner: Runner, options: BackgroundOptions): Promise<Background> {
  const { name, file, args, timeoutMs } = options
  const folder = await mkdtemp(join(runner.env['RUNNER_TEMP'] ?? tmpdir(), `${name}-`))
  const out = join(folder, 'out.log')
  const errors = join(folder, 'errors.log')
  const files = [openSync(out, 'a', 0o600), openSync(errors, 'a', 0o600)] as const
  const child = spawn(process.execPath, [file, ...args], {
    cwd: folder,
    env: environmentOf(runner),
    stdio: ['ignore', ...files],
    detached: true,
    windowsHide: true,
  })
  for (const descriptor of files) closeSync(descriptor)
  let ended: string | undefined
  child.once('error', (error) => {
    ended = `could not be started (${(error as NodeJS.ErrnoException).code ?? error.message})`
  })
  child.once('exit', (code, signal) => {
    ended ??= `ended at once (${signal ?? `exit code ${code}`})`
  })
  try {
    const deadline = runner.clock.now() + timeoutMs
    for (;;) {
      const [line, rest] = (await readFile(out, 'utf8')).split('\n', 2)
      if (line !== undefined && rest !== undefined && child.pid !== undefined) {
        return { pid: child.pid, line, folder }
      }
      if (ended !== undefined) throw await failure(name, ended, errors)
      if (runner.clock.now() > deadline) {
        throw await failure(name, `said nothing within ${timeoutMs / 1000} s`, errors)
      }
      await runner.clock.sleep(POLL_MS, runner.signal)
    }
  } catch (error) {
    child.kill()
    throw error
  } finally {
    child.removeAllListeners()
    child.unref()
  }
}

/** What a background program wrote on stderr; '' when the file is gone. At most its last 20 000 characters. */
export async function backgroundErrors(folder: string): Promise<string> {
  return (await readFile(join(folder, 'errors.log'), 'utf8').catch(() => '')).slice(-20_000)
}

async function failure(name: string, what: string, errors: string): Promise<AgentDeployError> {
  const said = (await readFile(errors, 'utf8').catch(() => '')).trim().slice(-2_000)
  return new AgentDeployError(`The background program ${name} ${what}${said === '' ? '' : `: ${said}`}`, {
    hint: 'Look at the inputs of the step, a port that is in use among them.',
  })
}

function environmentOf(runner: Runner): NodeJS.ProcessEnv {
  const kept: NodeJS.ProcessEnv = {}
  for (const [name, value] of Object.entries(runner.env)) {
    if (value !== undefined && KEPT.includes(name.toUpperCase())) kept[name] = value
  }
  return kept
}
