/** Runs a built action as the job's runner would: as a child process, with inputs and files of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { type Annotation, type Command, readKeyValues, readLog } from './runner-oracle.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface RunOptions extends StepOptions {
  /** `deploy` is the root action; the others are folders. */
  readonly action: 'deploy' | 'verify' | 'feedback' | 'sandbox' | 'delete' | 'emulator'
  readonly phase?: 'main' | 'post'
  /** What `${{ github.token }}` is. */
  readonly githubToken?: string
}

export interface StepOptions {
  /** As in `with:`; declared inputs that are not given have the default of action.yml. */
  readonly inputs?: Readonly<Record<string, string>>
  /** On top of what the runner sets. `undefined` takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The event's JSON. */
  readonly event?: unknown
  readonly eventName?: string
  /** GITHUB_WORKSPACE and the working directory. Absent: an empty folder. */
  readonly cwd?: string
  /** What an earlier phase saved: `state` of its result. */
  readonly state?: Readonly<Record<string, string>>
  /** Cancels as the runner does: the signal, 7.5 s later SIGTERM, 2.5 s later SIGKILL. */
  readonly signalAfter?: {
    readonly signal?: NodeJS.Signals
    /** Milliseconds after the start. */
    readonly ms?: number
    /** Once this was printed on stdout. */
    readonly stdout?: string | RegExp
    /** Once this is settled. */
    readonly until?: Promise<unknown>
    /** One more, milliseconds after the first. */
    readonly again?: { readonly signal: NodeJS.Signals; readonly ms: number }
  }
  /** Secrets that the job knows (`secrets.X`), masked from the start. */
  readonly jobSecrets?: readonly string[]
  /** Milliseconds after which the process is killed and the result has `timedOut`. Absent: 60 000. */
  readonly timeoutMs?: number
}

export interface RunResult {
  /** null when a signal ended the process. */
  readonly exitCode: number | null
  readonly endedBy: NodeJS.Signals | null
  readonly timedOut: boolean
  readonly stdout: string
  readonly stderr: string
  readonly outputs: Readonly<Record<string, string>>
  readonly summary: string
  readonly state: Readonly<Record<string, string>>
  readonly annotations: readonly Annotation[]
  readonly executedCommands: readonly Command[]
  /** What a person sees in the log: masked, without commands. */
  readonly visible: string
  /** Masks that were registered. */
  readonly masks: readonly string[]
  readonly ms: number
  /** Milliseconds from the signal to the end. */
  readonly msAfterSignal: number | undefined
  /** Files that are left under RUNNER_TEMP, relative. */
  readonly tempFiles: readonly string[]
}

interface ActionFile {
  readonly inputs?: Record<string, { default?: unknown }>
  readonly runs: { using: string; main: string; post?: string }
}

/** The parsed action.yml and its folder. */
export function readAction(action: RunOptions['action']): { folder: string; file: ActionFile } {
  const folder = action === 'deploy' ? ROOT : join(ROOT, action)
  return { folder, file: parse(readFileSync(join(folder, 'action.yml'), 'utf8')) as ActionFile }
}

/** Runs the launcher that action.yml names, from the dist that AGENT_DEPLOY_DIST names (absent: dist/). */
export async function runBundle(options: RunOptions): Promise<RunResult> {
  const { folder, file } = readAction(options.action)
  const phase = options.phase ?? 'main'
  const script = file.runs[phase]
  if (script === undefined) throw new Error(`${options.action}: action.yml has no ${phase}`)
  return runStep(inDist(resolve(folder, script)), { ...options, inputs: inputsOf(file, options) })
}

/** Runs any script as a step: for what has no action.yml. */
export async function runStep(script: string, options: StepOptions): Promise<RunResult> {
  // Actions run on Node 24, and so must these: an older one would test something else.
  if (Number.parseInt(process.versions.node, 10) < 24)
    throw new Error(`Node ${process.versions.node}, expected 24`)
  const dir = mkdtempSync(join(tmpdir(), 'action-'))
  try {
    const files = makeFiles(dir, options.event)
    const env = {
      ...environment(dir, files, options),
      ...named('INPUT_', options.inputs, (name) => name.replaceAll(' ', '_').toUpperCase()),
      ...named('STATE_', options.state, (name) => name),
      ...options.env,
    }
    const child = spawn(process.execPath, [script], {
      cwd: options.cwd ?? join(dir, 'workspace'),
      env: Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined)),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const run = await finish(child, options)
    const log = readLog(run.stdout, run.stderr, options.jobSecrets)
    return {
      ...run,
      outputs: readKeyValues(readFileSync(files.GITHUB_OUTPUT, 'utf8')),
      state: readKeyValues(readFileSync(files.GITHUB_STATE, 'utf8')),
      summary: readFileSync(files.GITHUB_STEP_SUMMARY, 'utf8'),
      annotations: log.annotations,
      executedCommands: log.executed,
      visible: log.visible,
      masks: log.masker.registered,
      tempFiles: filesUnder(join(dir, 'temp')),
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

function named(
  prefix: string,
  values: Readonly<Record<string, string>> = {},
  spell: (name: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [prefix + spell(name), value]))
}

type Finished = Pick<
  RunResult,
  'exitCode' | 'endedBy' | 'timedOut' | 'stdout' | 'stderr' | 'ms' | 'msAfterSignal'
>

function finish(child: ChildProcess, options: StepOptions): Promise<Finished> {
  const { signalAfter, timeoutMs = 60_000 } = options
  const started = performance.now()
  const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
  const timers: NodeJS.Timeout[] = []
  let signalled: number | undefined
  let timedOut = false
  const later = (ms: number, act: () => void): void => {
    timers.push(setTimeout(act, ms))
  }
  const cancel = (): void => {
    if (signalled !== undefined || child.exitCode !== null) return
    signalled = performance.now()
    child.kill(signalAfter?.signal ?? 'SIGINT')
    const again = signalAfter?.again
    if (again !== undefined) later(again.ms, () => child.kill(again.signal))
    later(7_500, () => child.kill('SIGTERM'))
    later(10_000, () => child.kill('SIGKILL'))
  }
  const isSeen = (text: string): boolean => {
    const wanted = signalAfter?.stdout
    return wanted !== undefined && (typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text))
  }
  child.stdout?.on('data', (chunk: Buffer) => {
    chunks.stdout.push(chunk)
    if (signalled === undefined && isSeen(Buffer.concat(chunks.stdout).toString())) cancel()
  })
  child.stderr?.on('data', (chunk: Buffer) => chunks.stderr.push(chunk))
  if (signalAfter?.ms !== undefined) later(signalAfter.ms, cancel)
  void signalAfter?.until?.then(cancel, cancel)
  later(timeoutMs, () => {
    timedOut = true
    child.kill('SIGKILL')
  })
  return new Promise((fulfil, reject) => {
    child.on('error', reject)
    let ended = 0
    child.on('exit', () => {
      ended = performance.now()
    })
    child.on('close', (exitCode, endedBy) => {
      for (const timer of timers) clearTimeout(timer)
      fulfil({
        exitCode,
        endedBy,
        timedOut,
        stdout: Buffer.concat(chunks.stdout).toString(),
        stderr: Buffer.concat(chunks.stderr).toString(),
        ms: ended - started,
        msAfterSignal: signalled === undefined ? undefined : ended - signalled,
      })
    })
  })
}

function makeFiles(dir: string, event: unknown) {
  const files = {
    GITHUB_OUTPUT: join(dir, 'commands', 'output'),
    GITHUB_STATE: join(dir, 'commands', 'state'),
    GITHUB_ENV: join(dir, 'commands', 'env'),
    GITHUB_PATH: join(dir, 'commands', 'path'),
    GITHUB_STEP_SUMMARY: join(dir, 'commands', 'summary'),
  }
  for (const folder of ['commands', 'temp', 'workspace', 'home']) mkdirSync(join(dir, folder))
  for (const path of Object.values(files)) writeFileSync(path, '')
  writeFileSync(join(dir, 'event.json'), JSON.stringify(event ?? {}))
  return files
}

/** What a job on GitHub has; nothing of this machine but PATH. */
function environment(
  dir: string,
  files: Record<string, string>,
  options: StepOptions,
): Record<string, string | undefined> {
  return {
    PATH: process.env['PATH'],
    HOME: join(dir, 'home'),
    ...(process.platform === 'win32'
      ? { SystemRoot: process.env['SystemRoot'], USERPROFILE: homedir() }
      : {}),
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_ACTION: '__self',
    GITHUB_ACTOR: 'octocat',
    GITHUB_API_URL: 'https://api.github.com',
    GITHUB_EVENT_NAME: options.eventName ?? 'push',
    GITHUB_EVENT_PATH: join(dir, 'event.json'),
    GITHUB_GRAPHQL_URL: 'https://api.github.com/graphql',
    GITHUB_JOB: 'deploy',
    GITHUB_REF: 'refs/heads/main',
    GITHUB_REF_NAME: 'main',
    GITHUB_REF_TYPE: 'branch',
    GITHUB_REPOSITORY: 'octo/agent',
    GITHUB_REPOSITORY_OWNER: 'octo',
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_RUN_ID: '42',
    GITHUB_RUN_NUMBER: '7',
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_SHA: 'b'.repeat(40),
    GITHUB_WORKFLOW: 'deploy',
    GITHUB_WORKSPACE: options.cwd ?? join(dir, 'workspace'),
    RUNNER_ARCH: 'X64',
    RUNNER_NAME: 'runner',
    RUNNER_OS: 'Linux',
    RUNNER_TEMP: join(dir, 'temp'),
    RUNNER_TOOL_CACHE: join(dir, 'tools'),
    ...files,
  }
}

/** Every declared input is set, unknown ones are refused: a typing mistake in a test must not pass. */
function inputsOf(file: ActionFile, options: RunOptions): Record<string, string> {
  const declared = file.inputs ?? {}
  for (const name of Object.keys(options.inputs ?? {})) {
    if (!Object.hasOwn(declared, name)) throw new Error(`${options.action}: action.yml has no input ${name}`)
  }
  return Object.fromEntries(
    Object.entries(declared).map(([name, { default: fallback }]) => {
      const text = fallback === undefined || fallback === null ? '' : String(fallback)
      const value =
        options.inputs?.[name] ?? text.replace(/\$\{\{ *github\.token *\}\}/, () => options.githubToken ?? '')
      return [name, value]
    }),
  )
}

function inDist(path: string): string {
  const dist = process.env['AGENT_DEPLOY_DIST']
  const inside = relative(join(ROOT, 'dist'), path)
  if (inside.startsWith(`..${sep}`)) throw new Error(`${path} is not in dist/`)
  return dist === undefined || dist === '' ? path : join(resolve(dist), inside)
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
}
