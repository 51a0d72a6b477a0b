import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { NetworkError, ProtocolError } from '../http/errors.ts'
import { backgroundErrors, startBackground } from '../runner/background.ts'
import type { Story } from '../runner/run-action.ts'
import type { Runner } from '../runner/runner.ts'
import { type EmulatorSummary, renderEmulatorSummary } from '../runner/summary/emulator.ts'

/** How long the emulator may take to say its line, and then to answer, in milliseconds each. */
const START_MS = 30_000
/** How long it may take to end, before it is killed, in milliseconds. */
const STOP_MS = 5_000
/** Its state holds every request with its body. */
const MAX_STATE_BYTES = 256 * 1024 * 1024

/** Name of the state that `main` leaves for `post`. */
const STATE = 'emulator'

/** What `main` leaves for `post`. No secret: the key opens nothing but the emulator. */
interface Started {
  readonly pid: number
  readonly url: string
  readonly folder: string
}

/** `emulator/`, main: starts the emulator in the background, and puts out its URLs and its key. */
export function emulateStory(): Story {
  return { main: start }
}

/** `emulator/`, post: writes what it was asked into the summary, and stops it. Never red. */
export function emulatePostStory(): Story {
  return { main: finish }
}

async function start(runner: Runner): Promise<void> {
  const args = readArguments(runner)
  const { pid, line, folder } = await startBackground(runner, {
    name: 'agent-deploy-emulator',
    file: emulatorFile(),
    args,
    timeoutMs: START_MS,
  })
  const ready = JSON.parse(line) as ReadyLine
  runner.state.save(STATE, JSON.stringify({ pid, url: ready.controlPlaneUrl, folder } satisfies Started))
  try {
    await readState(runner, ready.controlPlaneUrl, { timeoutMs: START_MS, retries: 20 })
  } catch (error) {
    process.kill(pid)
    throw error
  }
  runner.outputs.set('control-plane-url', ready.controlPlaneUrl)
  runner.outputs.set('api-key', ready.apiKey)
  runner.outputs.set('workspace-id', ready.workspaceId)
  runner.outputs.set('sandbox-url', ready.sandboxUrl)
  runner.log.info(`The emulator answers at ${ready.controlPlaneUrl} (process ${pid}).`)
}

async function finish(runner: Runner): Promise<void> {
  const started = readStarted(runner.state.get(STATE))
  if (started === undefined) return
  if (await tellWhatWasAsked(runner, started)) await stop(runner, started)
  await rm(started.folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
}

function readArguments(runner: Runner): string[] {
  const port = runner.inputs.number('port', 0, { min: 0, max: 65_535 })
  if (!Number.isInteger(port)) runner.inputs.fault('port', `is "${port}", expected a whole number`)
  const profile = runner.inputs.oneOf('profile', ['python', 'js']) ?? 'python'
  const speed = runner.inputs.number('speed', 10, { positive: true })
  const disableA2a = runner.inputs.boolean('disable-a2a', false)
  runner.inputs.check()
  return [
    ...['--json', '--port', String(port), '--profile', profile, '--speed', String(speed)],
    ...(disableA2a ? ['--disable-a2a'] : []),
  ]
}

/** dist/emulator/index.js, beside dist/actions/ where this is bundled into. */
function emulatorFile(): string {
  return join(dirname(dirname(fileURLToPath(import.meta.url))), 'emulator', 'index.js')
}

interface ReadyLine {
  readonly controlPlaneUrl: string
  readonly apiKey: string
  readonly workspaceId: string
  readonly sandboxUrl: string
}

/** @throws RequestError when it does not answer in time */
async function readState(
  runner: Runner,
  url: string,
  limits: { timeoutMs: number; retries: number },
): Promise<EmulatorSummary> {
  const { timeoutMs, retries } = limits
  const request = {
    method: 'GET' as const,
    url: new URL('/_emulator/state', url),
    timeoutMs,
    maxBytes: MAX_STATE_BYTES,
  }
  const answer = await runner.transport.sendWithRetry(request, {
    deadline: runner.clock.now() + timeoutMs,
    retries,
  })
  const state = answer.json() as Partial<Record<'deployments' | 'revisions' | 'requests', unknown[]>>
  if (
    !Array.isArray(state.deployments) ||
    !Array.isArray(state.revisions) ||
    !Array.isArray(state.requests)
  ) {
    throw new ProtocolError(
      { method: request.method, url: request.url.href },
      `${request.url.href} is not the emulator's state`,
    )
  }
  return {
    deployments: state.deployments.map((one) => pick(one, 'id', 'name', 'status')),
    revisions: state.revisions
      .map((one) => pick(one, 'id', 'deployment_id', 'status', 'created_at'))
      .sort((a, b) => (a.created_at < b.created_at ? -1 : 1))
      .map(({ id, deployment_id, status }) => ({ id, deploymentId: deployment_id, status })),
    requests: state.requests.map((one) => {
      const { status } = one as { status?: unknown }
      return { ...pick(one, 'method', 'path'), status: typeof status === 'number' ? status : null }
    }),
  }
}

function pick<Name extends string>(value: unknown, ...names: readonly Name[]): Record<Name, string> {
  const from = value as Record<string, unknown>
  return Object.fromEntries(names.map((name) => [name, String(from[name] ?? '')])) as Record<Name, string>
}

/** @returns whether it answered: then the process is the one that was started, and may be stopped */
async function tellWhatWasAsked(runner: Runner, started: Started): Promise<boolean> {
  try {
    runner.summary.append(
      renderEmulatorSummary(await readState(runner, started.url, { timeoutMs: STOP_MS, retries: 2 })),
    )
    return true
  } catch (error) {
    runner.log.warning(
      `The emulator does not answer any more, so what it was asked is not known: ${error instanceof Error ? error.message : error}`,
    )
    const said = await backgroundErrors(started.folder)
    if (said !== '') runner.log.remote('What the emulator wrote on stderr', said)
    return false
  }
}

/** It ends at SIGTERM (on Windows every signal ends it at once); what stays is killed. */
async function stop(runner: Runner, { pid, url }: Started): Promise<void> {
  try {
    process.kill(pid, 'SIGTERM')
    const deadline = runner.clock.now() + STOP_MS
    while (await answers(runner, url)) {
      if (runner.clock.now() > deadline) {
        process.kill(pid, 'SIGKILL')
        break
      }
      await runner.clock.sleep(100, runner.signal)
    }
    runner.log.info(`The emulator (process ${pid}) is stopped.`)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code !== 'ESRCH')
      runner.log.warning(`The emulator (process ${pid}) cannot be stopped: ${code ?? error}`)
  }
}

/**
 * The process table is no proof: an ended process stays in it where nobody collects it. Faults that the job
 * scripted never hit a path of `/_emulator`, so any answer means that it is there.
 */
async function answers(runner: Runner, url: string): Promise<boolean> {
  try {
    await runner.transport.send({ method: 'GET', url: new URL('/_emulator/', url), timeoutMs: 1_000 })
    return true
  } catch (error) {
    return !(error instanceof NetworkError)
  }
}

function readStarted(text: string): Started | undefined {
  if (text === '') return undefined
  const { pid, url, folder } = JSON.parse(text) as Started
  return { pid, url, folder }
}
