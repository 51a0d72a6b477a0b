import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { list } from 'tar'
import type { TestEmulator } from '../../helpers/emulator.ts'
import { deploy, requestsOf, withEmulator } from './support.ts'

let emulator: TestEmulator
let folder = ''
let name = ''

withEmulator('source', (one, fresh) => {
  emulator = one
  name = fresh
})
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'project-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function write(path: string, content = ''): void {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
}

/** A small agent, as somebody has it in a repository. */
function project(config: Record<string, unknown> = {}): void {
  write(
    'langgraph.json',
    JSON.stringify({ dependencies: ['.'], graphs: { support: './agent/graph.py:graph' }, ...config }),
  )
  write('agent/graph.py', 'graph = None\n')
  write('agent/__pycache__/graph.pyc', 'x')
  write('.env', 'SECRET=canary-env-value')
}

const fromSource = (inputs: Record<string, string> = {}, options = {}) =>
  deploy(emulator, { name, 'image-uri': '', ...inputs }, { cwd: folder, ...options })

/** What the emulator keeps of the last upload: entry names of the archive. */
async function uploaded(): Promise<string[]> {
  const id = (await emulator.call('GET', '/_emulator/uploads')).body.at(-1)?.id
  const response = await fetch(`${emulator.controlPlaneUrl}/_emulator/uploads/${id}`)
  const names: string[] = []
  const stream = new PassThrough()
  stream.end(Buffer.from(await response.arrayBuffer()))
  await new Promise<void>((resolve, reject) => {
    stream
      .pipe(list({ onReadEntry: (entry) => void names.push(entry.path) }))
      .on('end', resolve)
      .on('error', reject)
  })
  return names.sort()
}

describe('internal_source', () => {
  it('is what a create without image and integration means: packed, uploaded, built, live and verified', async () => {
    project()
    const result = await fromSource({ verify: 'ready' })
    expect(result.outputs).toMatchObject({ outcome: 'deployed', created: 'true' })
    expect(await uploaded()).toEqual(['agent/graph.py', 'langgraph.json'])
    expect(result.tempFiles).toEqual([])
    expect(result.visible).not.toContain('canary-env-value')
    const puts = await requestsOf(emulator, 'PUT', /./)
    expect(puts.at(-1)?.headers).not.toHaveProperty('x-api-key')
    expect(puts.at(-1)?.headers['content-length']).toMatch(/^\d+$/)
  })

  it('serves the graphs of its own langgraph.json, and an update uploads anew', async () => {
    project()
    await fromSource()
    const checks = {
      checks: [
        {
          name: 'own graph',
          assistant: 'support',
          input: { messages: [{ role: 'user', content: 'hi' }] },
          expect: { text: 'echo: hi' },
        },
      ],
    }
    const second = await fromSource({ verify: JSON.stringify(checks) })
    expect(second.outputs).toMatchObject({ outcome: 'deployed', created: 'false' })
    const patches = await requestsOf(emulator, 'PATCH', /./)
    expect(patches.at(-1)?.body).toMatchObject({
      source_revision_config: { langgraph_config_path: 'langgraph.json' },
    })
  })

  it('takes another folder and another config', async () => {
    write('apps/bot/deploy.json', JSON.stringify({ dependencies: ['.'], graphs: { bot: './bot.py:graph' } }))
    write('apps/bot/bot.py', 'graph = None')
    write('other/file.txt', 'x')
    const result = await fromSource({ 'source-path': 'apps/bot', 'config-path': 'deploy.json' })
    expect(result.outputs['outcome']).toBe('deployed')
    expect(await uploaded()).toEqual(['bot.py', 'deploy.json'])
  })

  it.each([
    ['a folder that is not there', () => {}, { 'source-path': 'nowhere' }, 'source-path'],
    ['a missing langgraph.json', () => write('readme.md', 'x'), {}, 'langgraph.json'],
    ['a broken langgraph.json', () => write('langgraph.json', '{ "graphs": '), {}, 'langgraph.json'],
    [
      'a graph that points nowhere',
      () => write('langgraph.json', JSON.stringify({ dependencies: ['.'], graphs: { a: './gone.py:g' } })),
      {},
      'gone.py',
    ],
    [
      'a symlink out of the folder',
      () => {
        project()
        symlinkSync(tmpdir(), join(folder, 'agent', 'outside'))
      },
      {},
      'outside',
    ],
  ])('%s is said before anything is created', async (_title, make, inputs, words) => {
    make()
    const result = await fromSource(inputs as Record<string, string>)
    expect(result.outputs['outcome']).toBe('error')
    expect(result.annotations[0]?.message).toContain(words)
    expect((await emulator.state()).deployments.some((deployment) => deployment['name'] === name)).toBe(false)
  })

  it('says that checks of A2A contradict http.disable_a2a, before anything is created', async () => {
    project({ http: { disable_a2a: true } })
    const result = await fromSource({
      verify: JSON.stringify({ checks: [{ name: 'a2a', a2a: { messages: ['hi'] } }] }),
    })
    expect(result.outputs['outcome']).toBe('error')
    expect(result.annotations[0]?.message).toContain('disable_a2a')
    expect((await emulator.state()).deployments.some((deployment) => deployment['name'] === name)).toBe(false)
  })

  it('leaves no orphan when the upload fails, and takes the tracing project along', async () => {
    project()
    await emulator.fault({ method: 'PUT', path: '/**', times: 50, effect: { status: 412, body: 'no' } })
    const result = await fromSource()
    expect(result.outputs['outcome']).toBe('error')
    await emulator.clearFaults()
    const gone = (await emulator.state()).deployments.find((deployment) => deployment['name'] === name)
    expect(gone === undefined || /DELETE/.test(String(gone['status']))).toBe(true)
    const deletes = await requestsOf(emulator, 'DELETE', /deployments/)
    expect(deletes.at(-1)?.query).toContain('delete_tracing_project=true')
    expect(result.tempFiles).toEqual([])
  })

  it('leaves a deployment alone that was there before, when the upload fails', async () => {
    project()
    const first = await fromSource()
    await emulator.fault({ method: 'PUT', path: '/**', times: 50, effect: { status: 412, body: 'no' } })
    const second = await fromSource()
    expect(second.outputs['outcome']).toBe('error')
    expect(
      (await emulator.state()).deployments.find((deployment) => deployment['name'] === name),
    ).toMatchObject({
      id: first.outputs['deployment-id'],
      status: 'READY',
    })
  })

  it('tries an upload again, with a new URL', async () => {
    project()
    await emulator.fault({ method: 'PUT', path: '/**', times: 1, effect: { status: 503, body: 'later' } })
    const result = await fromSource()
    expect(result.outputs['outcome']).toBe('deployed')
  })

  it('cancelled while it uploads leaves no orphan and no file', async () => {
    project()
    await emulator.fault({ method: 'PUT', path: '/**', times: 1, effect: { delayMs: 30_000 } })
    const uploading = async () => {
      while ((await requestsOf(emulator, 'PUT', /./)).length === putsBefore)
        await new Promise((resolve) => setTimeout(resolve, 20))
    }
    const putsBefore = (await requestsOf(emulator, 'PUT', /./)).length
    const result = await fromSource({}, { signalAfter: { until: uploading() } })
    expect(result.outputs['outcome']).toBe('cancelled')
    expect(result.msAfterSignal).toBeLessThan(5000)
    expect(result.tempFiles).toEqual([])
    const left = (await emulator.state()).deployments.find((deployment) => deployment['name'] === name)
    expect(left === undefined || /DELETE/.test(String(left['status']))).toBe(true)
  })

  it('a dry run packs, checks, and creates nothing', async () => {
    project()
    const result = await fromSource({ 'dry-run': 'true' })
    expect(result.outputs['outcome']).toBe('planned')
    expect(JSON.parse(result.outputs['plan'] ?? '{}')).toMatchObject({
      action: 'create',
      source: 'internal_source',
      artifact: 'archive',
    })
    expect(result.tempFiles).toEqual([])
  })
})

describe('internal_docker', () => {
  /** A `docker` that notes what it was told, in a folder first on the PATH. */
  function fakeDocker(): { PATH: string; log: string } {
    const log = join(folder, 'docker.log')
    const bin = join(folder, 'bin')
    write(
      'bin/docker',
      `#!/bin/sh
echo "$DOCKER_CONFIG $*" >> '${log}'
case "$1" in
  login) cat > /dev/null ;;
  image) echo '[]' ; if [ "$2" = inspect ]; then :; fi ;;
  push) echo 'latest: digest: sha256:${'a'.repeat(64)} size: 1234' ;;
esac
exit 0
`,
    )
    chmodSync(join(bin, 'docker'), 0o755)
    return { PATH: `${bin}:${process.env['PATH']}`, log }
  }

  it('pushes a local image with the service’s token, and deploys its digest', async () => {
    const { PATH, log } = fakeDocker()
    const result = await fromSource(
      { source: 'internal_docker', 'push-image': 'my-agent:dev' },
      { env: { PATH } },
    )
    expect(result.outputs).toMatchObject({ outcome: 'deployed', created: 'true' })
    expect(result.outputs['image-uri']).toContain(`@sha256:${'a'.repeat(64)}`)
    const calls = readFileSync(log, 'utf8')
    expect(calls).toMatch(/ login .*--password-stdin/)
    expect(calls).toMatch(/ push /)
    // Whoever logs in or pushes does so under a DOCKER_CONFIG of its own.
    expect(calls).not.toMatch(/^ (login|push)/m)
    expect(result.tempFiles).toEqual([])
  })

  it('takes an image that is in the registry already', async () => {
    const result = await fromSource({
      source: 'internal_docker',
      'image-uri': `registry.example/a@sha256:${'b'.repeat(64)}`,
    })
    expect(result.outputs).toMatchObject({ outcome: 'deployed', created: 'true' })
  })

  it('says that docker is not on the PATH, before anything is created', async () => {
    const result = await fromSource(
      { source: 'internal_docker', 'push-image': 'my-agent:dev' },
      { env: { PATH: '/nowhere' } },
    )
    expect(result.outputs['outcome']).toBe('error')
    expect(result.annotations[0]?.message).toMatch(/docker/i)
    expect((await emulator.state()).deployments.some((deployment) => deployment['name'] === name)).toBe(false)
  })
})
