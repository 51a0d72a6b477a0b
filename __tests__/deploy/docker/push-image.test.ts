import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { CancelledError, InputError } from '../../../src/base/errors.ts'
import {
  DockerError,
  DockerMissingError,
  findDocker,
  findImage,
  type PushToken,
  pushImage,
} from '../../../src/deploy/docker/index.ts'
import { memoryLog, temporary } from '../archive/tree.ts'

const DIGEST = `sha256:${'0a'.repeat(32)}`
const TOKEN = 'ya29.the-push-token'

interface Call {
  args: string[]
  env: Record<string, string>
  input: string
  config: string | null
}

/** What the test's own docker answers: by the words its command line begins with. */
interface Answer {
  out?: string
  err?: string
  code?: number
  /** Fails so often before it answers. */
  failures?: number
  hangs?: boolean
}

/** A `docker` that writes down how it was called. */
function install(answers: Record<string, Answer>) {
  const base = temporary()
  const bin = join(base, 'bin')
  const calls = join(base, 'calls')
  const temp = join(base, 'temp')
  for (const folder of [bin, calls, temp]) mkdirSync(folder)
  const script = `#!${process.execPath}
const fs = require('node:fs')
const path = require('node:path')
const answers = ${JSON.stringify(answers)}
const args = process.argv.slice(2)
const input = fs.readFileSync(0, 'utf8')
const folder = ${JSON.stringify(calls)}
const folderOf = process.env.DOCKER_CONFIG
const file = folderOf && path.join(folderOf, 'config.json')
const config = file && fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : null
const number = fs.readdirSync(folder).length
// Whole or not at all: the test looks while this runs.
fs.writeFileSync(folder + '.part', JSON.stringify({ args, env: process.env, input, config }))
fs.renameSync(folder + '.part', path.join(folder, String(number).padStart(3, '0')))
const line = args.join(' ')
const key = Object.keys(answers).sort((a, b) => b.length - a.length).find((each) => line.startsWith(each)) ?? ''
const answer = answers[key] ?? {}
if (answer.hangs) {
  require('node:child_process').spawn('sleep', ['8'], { stdio: 'inherit' })
  setInterval(() => {}, 1000)
} else {
  const before = fs.readdirSync(folder).filter((each) => JSON.parse(fs.readFileSync(path.join(folder, each))).args.join(' ').startsWith(key)).length
  if (answer.out) process.stdout.write(answer.out)
  if (answer.err) process.stderr.write(answer.err)
  process.exitCode = before <= (answer.failures ?? 0) ? 1 : (answer.code ?? 0)
}
`
  writeFileSync(join(bin, 'docker'), script)
  chmodSync(join(bin, 'docker'), 0o755)
  return {
    temp,
    env: {
      PATH: `${bin}:${process.env['PATH'] ?? ''}`,
      HOME: join(base, 'home'),
      INPUT_SECRETS: 'hunter2',
      OPENAI_API_KEY: 'hunter2',
      https_proxy: 'http://proxy.example:3128',
    } as Record<string, string>,
    calls: (): Call[] =>
      readdirSync(calls)
        .sort()
        .map((name) => JSON.parse(readFileSync(join(calls, name), 'utf8')) as Call),
  }
}

const PUSHED = {
  out: `The push refers to repository [x]\nlayer: Pushed\n1.2: digest: ${DIGEST} size: 1570\n`,
}
const token: PushToken = { registryUrl: 'https://reg.example/team/', token: TOKEN }
const signal = new AbortController().signal

describe('pushImage', () => {
  it('logs in, tags, pushes, and pins the digest', async () => {
    const fake = install({ push: PUSHED, 'context inspect': { out: 'unix:///run/user/1000/docker.sock\n' } })
    const log = memoryLog()
    const { imageUri } = await pushImage({
      image: 'ghcr.io/me/My_agent:1.2'.toLowerCase(),
      token,
      env: fake.env,
      tempDir: fake.temp,
      signal,
      log,
    })
    expect(imageUri).toBe(`reg.example/team/my-agent@${DIGEST}`)
    expect(fake.calls().map((call) => call.args)).toEqual([
      ['image', 'inspect', '--format', '{{.Id}}', 'ghcr.io/me/my_agent:1.2'],
      ['context', 'inspect', '--format', '{{.Endpoints.docker.Host}}'],
      ['login', '--username', 'oauth2accesstoken', '--password-stdin', 'reg.example'],
      ['tag', 'ghcr.io/me/my_agent:1.2', 'reg.example/team/my-agent:1.2'],
      ['push', 'reg.example/team/my-agent:1.2'],
    ])
    expect(log.lines.join('\n')).toContain('layer: Pushed')
  })

  it('gives the token by standard input only, to a docker with a configuration of its own', async () => {
    const fake = install({ push: PUSHED, 'context inspect': { out: 'unix:///other.sock\n' } })
    await pushImage({
      image: 'agent:1.2',
      token,
      env: fake.env,
      tempDir: fake.temp,
      signal,
      log: memoryLog(),
    })
    const calls = fake.calls()
    const [, , login, , push] = calls
    expect(login?.input).toBe(TOKEN)
    for (const call of calls) {
      expect(JSON.stringify([call.args, call.env])).not.toContain(TOKEN)
      expect(JSON.stringify(call.env)).not.toContain('hunter2')
      expect(call.env['https_proxy']).toBe('http://proxy.example:3128')
      if (call !== login) expect(call.input).toBe('')
    }
    for (const call of [login, push]) {
      expect(call?.env['DOCKER_CONFIG']?.startsWith(fake.temp)).toBe(true)
      expect(call?.env['DOCKER_HOST']).toBe('unix:///other.sock')
      // Any entry keeps docker from a credential store of the machine.
      expect(JSON.parse(call?.config ?? '{}')).toEqual({ auths: { 'reg.example': {} } })
    }
    expect(readdirSync(fake.temp)).toEqual([])
    expect(existsSync(fake.env['HOME'] ?? '')).toBe(false)
  })

  it('takes the user name and the repository that the service chose', async () => {
    const fake = install({ push: PUSHED })
    const { imageUri } = await pushImage({
      image: 'agent',
      token: { ...token, username: 'AWS', repositoryUrl: '123.dkr.ecr.example/one-name' },
      env: { ...fake.env, DOCKER_HOST: 'tcp://d:2376', DOCKER_TLS_VERIFY: '1', DOCKER_CONFIG: '/users/own' },
      tempDir: fake.temp,
      signal,
      log: memoryLog(),
    })
    expect(imageUri).toBe(`123.dkr.ecr.example/one-name@${DIGEST}`)
    expect(fake.calls().map((call) => call.args)).toEqual([
      ['image', 'inspect', '--format', '{{.Id}}', 'agent'],
      ['login', '--username', 'AWS', '--password-stdin', '123.dkr.ecr.example'],
      ['tag', 'agent', '123.dkr.ecr.example/one-name:latest'],
      ['push', '123.dkr.ecr.example/one-name:latest'],
    ])
    const [inspect, login] = fake.calls()
    expect(inspect?.env['DOCKER_CONFIG']).toBe('/users/own')
    expect(login?.env['DOCKER_CERT_PATH']).toBe('/users/own')
    expect(login?.env['DOCKER_HOST']).toBe('tcp://d:2376')
  })

  it('asks the daemon for the digest where the push does not tell it', async () => {
    const digests = JSON.stringify([
      `other/agent@sha256:${'ff'.repeat(32)}`,
      `reg.example/team/agent@${DIGEST}`,
    ])
    const fake = install({ 'image inspect --format {{json .RepoDigests}}': { out: `${digests}\n` } })
    const options = { image: 'agent:1', token, env: fake.env, tempDir: fake.temp, signal, log: memoryLog() }
    expect(await pushImage(options)).toEqual({ imageUri: `reg.example/team/agent@${DIGEST}` })
  })

  it('is an error where nobody knows the digest', async () => {
    const fake = install({})
    const options = { image: 'agent:1', token, env: fake.env, tempDir: fake.temp, signal, log: memoryLog() }
    await expect(pushImage(options)).rejects.toThrow(/neither it nor the image tells the digest/)
    expect(readdirSync(fake.temp)).toEqual([])
  })

  it('names an image by its id', async () => {
    const fake = install({ push: PUSHED })
    const image = `sha256:${'1'.repeat(64)}`
    const options = { image, token, env: fake.env, tempDir: fake.temp, signal, log: memoryLog() }
    expect((await pushImage(options)).imageUri).toBe(`reg.example/team/agent@${DIGEST}`)
    expect(fake.calls().at(-1)?.args).toEqual(['push', 'reg.example/team/agent:latest'])
  })

  it('pushes again when the registry stumbles', async () => {
    const fake = install({ push: { ...PUSHED, failures: 2 } })
    const options = { image: 'agent:1', token, env: fake.env, tempDir: fake.temp, signal, log: memoryLog() }
    expect((await pushImage(options)).imageUri).toContain(DIGEST)
    expect(fake.calls().filter((call) => call.args[0] === 'push')).toHaveLength(3)
  })

  const failures: [title: string, answers: Record<string, Answer>, message: RegExp][] = [
    ['no such image', { 'image inspect': { code: 1, err: 'No such image' } }, /no local image "agent:1"/],
    [
      'a refused login',
      { login: { code: 1, err: 'denied' } },
      /docker login at reg.example failed \(exit code 1\)/,
    ],
    [
      'a failed tag',
      { tag: { code: 1, err: 'no space' } },
      /docker tag agent:1 reg.example\/team\/agent:1 failed/,
    ],
    ['a failed push', { push: { code: 7, err: 'unauthorized: <x>' } }, /failed 3 times \(exit code 7\)/],
  ]
  it.each(failures)(
    '%s: docker’s words go to the log, not into the error',
    async (_title, answers, message) => {
      const fake = install(answers)
      const log = memoryLog()
      const options = { image: 'agent:1', token, env: fake.env, tempDir: fake.temp, signal, log }
      const error = await pushImage(options).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(DockerError)
      expect((error as DockerError).message).toMatch(message)
      expect((error as DockerError).hint).toBeDefined()
      const words = Object.values(answers)[0]?.err ?? ''
      expect((error as DockerError).message).not.toContain(words)
      expect(log.lines.filter((line) => line.startsWith('remote:')).join()).toContain(words)
      expect(readdirSync(fake.temp)).toEqual([])
    },
  )

  it('refuses an image that is none before docker sees it', async () => {
    const fake = install({})
    const options = { image: '--help', token, env: fake.env, tempDir: fake.temp, signal, log: memoryLog() }
    await expect(pushImage(options)).rejects.toBeInstanceOf(InputError)
    expect(fake.calls()).toEqual([])
  })

  it('stops at once when cancelled, though docker has a child that goes on', async () => {
    const fake = install({ push: { hangs: true } })
    const controller = new AbortController()
    const pushing = pushImage({
      image: 'agent:1',
      token,
      env: fake.env,
      tempDir: fake.temp,
      signal: controller.signal,
      log: memoryLog(),
    })
    pushing.catch(() => {})
    while (!fake.calls().some((call) => call.args[0] === 'push'))
      await new Promise((go) => setTimeout(go, 20))
    controller.abort(new CancelledError('cancelled'))
    await expect(pushing).rejects.toBeInstanceOf(CancelledError)
    expect(readdirSync(fake.temp)).toEqual([])
  }, 15_000)

  it('has a deadline', async () => {
    const fake = install({ push: { hangs: true } })
    const options = { image: 'agent:1', token, env: fake.env, tempDir: fake.temp, signal, log: memoryLog() }
    await expect(pushImage({ ...options, timeoutMs: 300 })).rejects.toThrow(
      'docker push was not done within 0.3 s',
    )
  }, 15_000)
})

describe('before anything is created', () => {
  it('finds docker and the image', async () => {
    const fake = install({})
    await findDocker(fake.env)
    await findImage({ image: 'agent', env: fake.env, signal, log: memoryLog() })
    expect(fake.calls().map((call) => call.args[0])).toEqual(['--version', 'image'])
  })

  it('says that docker is not there', async () => {
    const env = { PATH: temporary() }
    await expect(findDocker(env)).rejects.toBeInstanceOf(DockerMissingError)
    await expect(findDocker({})).rejects.toThrow(/no docker on the PATH/)
    const options = { image: 'agent', token, env, tempDir: temporary(), signal, log: memoryLog() }
    await expect(pushImage(options)).rejects.toBeInstanceOf(DockerMissingError)
  })
})
