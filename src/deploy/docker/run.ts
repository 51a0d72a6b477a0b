import { spawn } from 'node:child_process'
import { AgentDeployError } from '../../base/errors.ts'

export interface DockerResult {
  readonly exitCode: number
  /** Its last 256 KiB. */
  readonly stdout: string
  /** Both outputs as they came, their last 256 KiB. */
  readonly output: string
}

export interface DockerOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  /** What it reads; nothing of it is on the command line. */
  readonly input?: string
  readonly timeoutMs: number
}

/** There is no `docker` on the PATH. */
export class DockerMissingError extends AgentDeployError {
  constructor(cause?: unknown) {
    super('There is no docker on the PATH, which push-image needs', {
      cause,
      hint: 'Run this job where Docker is installed (ubuntu-latest has it), or push the image in an earlier step and give its image-uri.',
    })
  }
}

const MAX_OUTPUT = 256 * 1024
const KILL_AFTER_MS = 2000

/** What docker itself needs to find its daemon and to get out; no input, no secret of the job. */
const PASSED = new Set([
  'PATH', 'PATHEXT', 'HOME', 'USERPROFILE', 'HOMEDRIVE', 'HOMEPATH', 'APPDATA', 'LOCALAPPDATA', 'PROGRAMDATA', 'PROGRAMFILES',
  'SYSTEMROOT', 'SYSTEMDRIVE', 'COMSPEC', 'WINDIR', 'TMPDIR', 'TEMP', 'TMP', 'LANG', 'LC_ALL', 'XDG_RUNTIME_DIR', 'SSH_AUTH_SOCK',
  'DOCKER_HOST', 'DOCKER_TLS_VERIFY', 'DOCKER_TLS', 'DOCKER_CERT_PATH', 'DOCKER_API_VERSION', 'DOCKER_CONTENT_TRUST',
  'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY', 'SSL_CERT_FILE', 'SSL_CERT_DIR',
]) // biome-ignore format: a list

/** The environment of a child that is docker, without anything that it does not need. */
export function dockerEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && PASSED.has(name.toUpperCase())) kept[name] = value
  }
  return kept
}

/**
 * Runs `docker` of the PATH, without a shell, and waits for its end.
 * @returns also when it failed: `exitCode` tells
 * @throws DockerMissingError, AgentDeployError when the time is up, the signal's reason when cancelled
 */
export async function docker(args: readonly string[], options: DockerOptions): Promise<DockerResult> {
  const { signal } = options
  signal.throwIfAborted()
  return new Promise((done, fail) => {
    const child = spawn('docker', args, {
      env: options.env as NodeJS.ProcessEnv,
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    })
    let late = false
    let kill: NodeJS.Timeout | undefined
    const stop = (): void => {
      child.kill('SIGTERM')
      kill ??= setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS)
    }
    const timer = setTimeout(() => {
      late = true
      stop()
    }, options.timeoutMs)
    signal.addEventListener('abort', stop, { once: true })
    const settle = (): void => {
      clearTimeout(timer)
      clearTimeout(kill)
      signal.removeEventListener('abort', stop)
    }
    const stdout = new Tail()
    const output = new Tail()
    child.stdout.on('data', (chunk: Buffer) => {
      stdout.add(chunk)
      output.add(chunk)
    })
    child.stderr.on('data', (chunk: Buffer) => output.add(chunk))
    child.on('error', (error) => {
      settle()
      fail(signal.aborted ? signal.reason : notStarted(error))
    })
    const finish = (exitCode: number | null): void => {
      settle()
      if (signal.aborted) fail(signal.reason)
      else if (late) fail(tooLate(args, options.timeoutMs))
      else done({ exitCode: exitCode ?? 1, stdout: stdout.text, output: output.text })
    }
    child.on('close', finish)
    child.on('exit', (exitCode) => {
      // A child of docker that outlives it keeps the pipes open: nobody waits for it after a stop.
      if (!signal.aborted && !late) return
      child.stdout.destroy()
      child.stderr.destroy()
      finish(exitCode)
    })
    // A docker that ends without reading breaks the pipe; its exit code says why.
    child.stdin.on('error', () => {})
    child.stdin.end(options.input ?? '')
  })
}

function notStarted(error: Error): AgentDeployError {
  const code = (error as NodeJS.ErrnoException).code ?? ''
  if (code === 'ENOENT') return new DockerMissingError(error)
  return new AgentDeployError(`docker cannot be started (${code})`, {
    cause: error,
    hint: 'Look at the docker that comes first on the PATH, and at its permissions.',
  })
}

function tooLate(args: readonly string[], timeoutMs: number): AgentDeployError {
  return new AgentDeployError(`docker ${args[0]} was not done within ${timeoutMs / 1000} s`, {
    hint: 'Look at the Docker daemon and the network of the runner, and at the size of the image.',
  })
}

/** The end of an output, in bytes. */
class Tail {
  #chunks: Buffer[] = []
  #size = 0

  add(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    while (this.#size - (this.#chunks[0]?.length ?? 0) >= MAX_OUTPUT) {
      this.#size -= this.#chunks.shift()?.length ?? 0
    }
  }

  get text(): string {
    return Buffer.concat(this.#chunks).subarray(-MAX_OUTPUT).toString('utf8')
  }
}
