import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { AgentDeployError, InputError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { parseImageName } from './image-uri.ts'
import { DockerMissingError, type DockerResult, docker, dockerEnvironment } from './run.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What `POST /v2/deployments/{id}/push-token` answers. */
export interface PushToken {
  readonly token: string
  /** The registry, possibly with a path and a scheme. */
  readonly registryUrl: string
  /** Absent: the one of Google's Artifact Registry for access tokens. */
  readonly username?: string | undefined
  /** The exact repository, where the service has chosen one; nothing may be added to it. */
  readonly repositoryUrl?: string | undefined
}

export interface PushOptions {
  /** A local image, as `docker build -t` named it, or its id. */
  readonly image: string
  readonly token: PushToken
  readonly env: Environment
  /** `RUNNER_TEMP`: the login is kept there, and removed in the end. */
  readonly tempDir: string
  readonly signal: AbortSignal
  readonly log: Log
  /** Of the push itself, in milliseconds; left out: 15 minutes. */
  readonly timeoutMs?: number
}

const IMAGE_ID = /^(sha256:)?[0-9a-f]{12,64}$/
const DEFAULT_USERNAME = 'oauth2accesstoken'
const QUICK_MS = 60_000
const PUSH_MS = 15 * 60_000
/** docker repeats single layers itself; this is for a registry that refuses the first manifest. */
const PUSH_TRIES = 3

/** docker was there and failed. */
export class DockerError extends AgentDeployError {}

/**
 * Sees to it that there is a `docker` on the PATH, before anything is created.
 * @throws DockerMissingError
 */
export async function findDocker(env: Environment, signal?: AbortSignal): Promise<void> {
  const options = { env: dockerEnvironment(env), signal: signal ?? new AbortController().signal }
  const found = await docker(['--version'], { ...options, timeoutMs: QUICK_MS })
  if (found.exitCode !== 0) throw new DockerMissingError()
}

/**
 * Sees to it that the local image is there, before anything is created.
 * @throws InputError, DockerMissingError, DockerError
 */
export async function findImage(options: {
  image: string
  env: Environment
  signal: AbortSignal
  log: Log
}): Promise<void> {
  const run = await within(options.env, options.signal)
  await requireImage(run, options.image, options.log)
}

/**
 * Tags a local image for the service's registry and pushes it there, logged in with the push token under a
 * `DOCKER_CONFIG` of its own, so that the user's login and credential helpers are not touched. The token goes
 * to docker by its standard input, never by its command line or environment.
 * @returns the image pinned by the digest that the registry answered
 * @throws InputError, DockerMissingError, DockerError with docker's own words in the log, the signal's reason
 */
export async function pushImage(options: PushOptions): Promise<{ imageUri: string }> {
  const { image, token, log, signal } = options
  const outside = await within(options.env, signal)
  await requireImage(outside, image, log)

  const target = targetOf(image, token)
  const host = target.repository.split('/')[0] ?? ''
  const folder = await mkdtemp(join(options.tempDir, 'agent-deploy-docker-'))
  try {
    // An entry of any kind keeps docker from looking for a credential store of the machine (a keychain).
    await writeFile(join(folder, 'config.json'), JSON.stringify({ auths: { [host]: {} } }), { mode: 0o600 })
    const run = inside(outside, folder, options.env)

    const username = token.username ?? DEFAULT_USERNAME
    const login = await run(
      ['login', '--username', username, '--password-stdin', host],
      QUICK_MS,
      token.token,
    )
    if (login.exitCode !== 0) {
      throw failure('login', `docker login at ${host} failed`, login, log, {
        hint: 'The service’s push token was refused. Run the job again; look at the network between runner and registry.',
      })
    }
    const name = `${target.repository}:${target.tag}`
    const tagged = await run(['tag', image, name], QUICK_MS)
    if (tagged.exitCode !== 0) throw failure('tag', `docker tag ${image} ${name} failed`, tagged, log)
    const digest = await push(run, name, options)
    return { imageUri: `${target.repository}@${digest}` }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
  }
}

type Run = (args: readonly string[], timeoutMs: number, input?: string) => Promise<DockerResult>

interface Docker {
  readonly env: Record<string, string>
  readonly signal: AbortSignal
  readonly run: Run
}

/** docker as the user has it, but for the environment: with its context, whose daemon built the image. */
async function within(env: Environment, signal: AbortSignal): Promise<Docker> {
  const own = dockerEnvironment(env)
  const user: Record<string, string> = { ...own }
  for (const name of ['DOCKER_CONFIG', 'DOCKER_CONTEXT']) {
    const value = env[name]
    if (value !== undefined) user[name] = value
  }
  const run: Run = (args, timeoutMs, input) =>
    docker(args, { env: user, signal, timeoutMs, ...(input === undefined ? {} : { input }) })
  return { env: own, signal, run }
}

/**
 * docker under a configuration of its own. That has no context, so the endpoint of the user's present one is
 * handed over: otherwise docker would ask another daemon, which does not have the image.
 */
function inside(outside: Docker, folder: string, env: Environment): Run {
  let endpoint: Promise<string | undefined> | undefined
  return async (args, timeoutMs, input) => {
    endpoint ??= endpointOf(outside)
    const host = await endpoint
    const own: Record<string, string> = { ...outside.env, DOCKER_CONFIG: folder }
    if (host !== undefined) own['DOCKER_HOST'] = host
    // Without a path, docker would look for the certificates in the configuration's folder.
    if (own['DOCKER_TLS_VERIFY'] !== undefined && own['DOCKER_CERT_PATH'] === undefined)
      own['DOCKER_CERT_PATH'] = env['DOCKER_CONFIG'] ?? join(env['HOME'] ?? homedir(), '.docker')
    return docker(args, {
      env: own,
      signal: outside.signal,
      timeoutMs,
      ...(input === undefined ? {} : { input }),
    })
  }
}

async function endpointOf(outside: Docker): Promise<string | undefined> {
  if (outside.env['DOCKER_HOST'] !== undefined && outside.env['DOCKER_HOST'] !== '') return undefined
  const asked = await outside.run(['context', 'inspect', '--format', '{{.Endpoints.docker.Host}}'], QUICK_MS)
  const host = asked.stdout.trim()
  return asked.exitCode === 0 && /^[a-z]+:\/\/\S+$/.test(host) ? host : undefined
}

async function requireImage(outside: Docker, image: string, log: Log): Promise<void> {
  if (parseImageName(image) === undefined) {
    const message = `${JSON.stringify(image)} is not the name of an image: expected what \`docker build -t\` named it`
    throw new InputError([{ input: 'push-image', message }])
  }
  const found = await outside.run(['image', 'inspect', '--format', '{{.Id}}', image], QUICK_MS)
  if (found.exitCode === 0) return
  throw failure('image inspect', `docker has no local image ${JSON.stringify(image)}`, found, log, {
    hint: 'Build it in an earlier step of this job, and give push-image the name of `docker build -t` (buildx keeps images to itself without `--load`).',
  })
}

async function push(run: Run, name: string, options: PushOptions): Promise<string> {
  const { log, signal } = options
  for (let attempt = 1; ; attempt++) {
    const pushed = await run(['push', name], options.timeoutMs ?? PUSH_MS)
    signal.throwIfAborted()
    if (pushed.exitCode === 0) {
      log.remote(`docker push ${name}`, pushed.output)
      const digest = digestIn(pushed.output) ?? (await digestOf(run, name))
      if (digest !== undefined) return digest
      throw new DockerError(`docker pushed ${name}, but neither it nor the image tells the digest`, {
        hint: 'Update the docker of the runner, or push in an earlier step and give image-uri with its digest.',
      })
    }
    if (attempt >= PUSH_TRIES) {
      throw failure('push', `docker push of ${name} failed ${attempt} times`, pushed, log, {
        hint: 'Look at what docker said, in the log above; at the network between runner and registry; and at the free space of both.',
      })
    }
    log.info(`docker push failed (exit code ${pushed.exitCode}), trying again`)
  }
}

/** `<tag>: digest: sha256:… size: 1234`, the last line of a push. */
function digestIn(output: string): string | undefined {
  return [...output.matchAll(/\bdigest: (sha256:[0-9a-f]{64})\b/g)].at(-1)?.[1]
}

/** The daemon remembers under which digest a registry has an image. */
async function digestOf(run: Run, name: string): Promise<string | undefined> {
  const asked = await run(['image', 'inspect', '--format', '{{json .RepoDigests}}', name], QUICK_MS)
  const repository = parseImageName(name)?.repository ?? name
  const found = [...asked.stdout.matchAll(/"([^"]+)@(sha256:[0-9a-f]{64})"/g)]
  return found.find((match) => match[1] === repository)?.[2]
}

/** Where an image goes: the repository that the service chose, else its own last name below the registry. */
function targetOf(image: string, token: PushToken): { repository: string; tag: string } {
  const parsed = IMAGE_ID.test(image) ? undefined : parseImageName(image)
  const tag = parsed?.tag ?? 'latest'
  if (token.repositoryUrl !== undefined && token.repositoryUrl !== '')
    return { repository: withoutScheme(token.repositoryUrl), tag }
  // An id has no name to take over.
  const last = parsed?.repository.split('/').at(-1) ?? 'agent'
  const name = last.replace(/[^a-z0-9-]+/g, '-')
  return { repository: `${withoutScheme(token.registryUrl)}/${name}`, tag }
}

function withoutScheme(url: string): string {
  return url.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '').replace(/\/+$/, '')
}

function failure(
  what: string,
  message: string,
  result: DockerResult,
  log: Log,
  options: { hint?: string } = {},
): DockerError {
  if (result.output.trim() !== '') log.remote(`docker ${what}`, result.output)
  return new DockerError(`${message} (exit code ${result.exitCode})`, {
    hint: options.hint ?? 'Look at what docker said, in the log above.',
  })
}
