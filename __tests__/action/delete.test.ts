import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { type RunOptions, type RunResult, runBundle } from '../helpers/action.ts'
import { startTestEmulator, type TestEmulator } from '../helpers/emulator.ts'
import { type GithubStub, startGithubStub } from '../helpers/github-stub.ts'
import { type Replay, type Reply, type Seen, startReplay } from '../helpers/replay.ts'

let emulator: TestEmulator
const open: { close(): Promise<void> }[] = []

beforeEach(async () => {
  emulator = await startTestEmulator()
})
afterEach(async () => {
  await emulator.close()
  for (const one of open.splice(0)) await one.close()
})

async function make(name: string): Promise<string> {
  const { body, status } = await emulator.call('POST', '/v2/deployments', {
    name,
    source: 'external_docker',
    source_config: { resource_spec: {} },
    source_revision_config: { image_uri: 'registry.example/agent:1' },
    secrets: [],
  })
  if (status !== 201) throw new Error(`the emulator refused ${name}: ${JSON.stringify(body)}`)
  return body.id
}

function run(inputs: Record<string, string>, more: Partial<RunOptions> = {}): Promise<RunResult> {
  const known = { 'api-key': emulator.apiKey, 'control-plane-url': emulator.controlPlaneUrl }
  return runBundle({ ...more, action: 'delete', inputs: { ...known, ...inputs } })
}

async function requests(method: string): Promise<{ path: string; query: string }[]> {
  const { requests: all } = await emulator.state()
  return all.filter((one) => one.method === method && one.path.startsWith('/v2/deployments'))
}

async function serve(answer: (request: Seen, count: number) => Reply): Promise<Replay> {
  let count = 0
  const replay = await startReplay((request) => answer(request, count++))
  open.push(replay)
  return replay
}

const json = (status: number, body: unknown): Reply => ({ status, body: JSON.stringify(body) })

describe('the delete action', () => {
  it('deletes the deployment of exactly this name and waits until it is gone', async () => {
    const others = [await make('preview-1'), await make('my-preview'), await make('preview-10')]
    const id = await make('preview')
    const result = await run({ name: 'preview' })
    expect(result.stderr).toBe('')
    expect(result).toMatchObject({
      exitCode: 0,
      annotations: [],
      outputs: { deleted: 'true', 'deployment-id': id },
    })
    expect((await emulator.call('GET', `/v2/deployments/${id}`)).status).toBe(404)
    for (const other of others)
      expect((await emulator.call('GET', `/v2/deployments/${other}`)).status).toBe(200)
    expect(result.summary).toContain('✅ Deleted')
    const deletes = await requests('DELETE')
    expect(deletes.map(({ path }) => path)).toEqual([`/v2/deployments/${id}`])
    expect(deletes[0]?.query).not.toContain('delete_tracing_project')
  })

  it('is green when there is none, also the second time', async () => {
    await make('preview')
    expect((await run({ name: 'preview' })).outputs['deleted']).toBe('true')
    const again = await run({ name: 'preview' })
    expect(again).toMatchObject({ exitCode: 0, annotations: [], outputs: { deleted: 'false' } })
    expect(again.outputs['deployment-id']).toBeUndefined()
    expect(again.summary).toContain('Nothing to delete')
  })

  it('deletes the tracing project where asked, so that the name is free again', async () => {
    await make('preview')
    await run({ name: 'preview', 'delete-tracing-project': 'true' })
    expect((await requests('DELETE'))[0]?.query).toContain('delete_tracing_project=true')
    await expect(make('preview')).resolves.toEqual(expect.any(String))
  })

  it('deletes by id; a name beside it must agree', async () => {
    const id = await make('preview')
    const wrong = await run({ 'deployment-id': id, name: 'production' })
    expect(wrong.exitCode).toBe(1)
    expect(wrong.annotations[0]?.message).toContain(`the deployment ${id} has the name "preview"`)
    expect(await requests('DELETE')).toHaveLength(0)
    const right = await run({ 'deployment-id': id, name: 'preview' })
    expect(right).toMatchObject({ exitCode: 0, outputs: { deleted: 'true', 'deployment-id': id } })
    const gone = await run({ 'deployment-id': id })
    expect(gone).toMatchObject({ exitCode: 0, outputs: { deleted: 'false' } })
  })

  it('finds a name on a later page', async () => {
    const id = await make('preview')
    for (let index = 0; index < 101; index++) await make(`preview-${index}`)
    const pages = await requests('GET')
    const result = await run({ name: 'preview' })
    expect(result.outputs).toMatchObject({ deleted: 'true', 'deployment-id': id })
    const asked = (await requests('GET')).slice(pages.length).filter(({ path }) => path === '/v2/deployments')
    expect(asked).toHaveLength(2)
  })

  it('does not wait where told so', async () => {
    const slow = await startTestEmulator({ speed: 0.01 })
    await emulator.close()
    emulator = slow
    const id = await make('preview')
    const result = await run({ name: 'preview', wait: 'false' })
    expect(result).toMatchObject({ exitCode: 0, outputs: { deleted: 'true' } })
    expect((await emulator.call('GET', `/v2/deployments/${id}`)).status).toBe(200)
    const late = await run({ name: 'preview', 'timeout-minutes': '0.02' })
    expect(late.exitCode).toBe(1)
    expect(late.annotations[0]?.message).toMatch(/was not gone within 0\.02 minutes.*timeout-minutes/s)
    expect(late.outputs['deleted']).toBe('true')
    expect(await requests('DELETE')).toHaveLength(1)
  })

  it('takes the 404 after a lost answer for done', async () => {
    const id = await make('preview')
    await emulator.fault({
      method: 'DELETE',
      path: '/v2/deployments/*',
      after: 0,
      times: 1,
      effect: { reset: 'after' },
    })
    const result = await run({ name: 'preview' })
    expect(result).toMatchObject({ exitCode: 0, outputs: { deleted: 'true', 'deployment-id': id } })
  })

  it('bears failed polls', async () => {
    await make('preview')
    await emulator.fault({
      method: 'GET',
      path: '/v2/deployments/*',
      after: 0,
      times: 2,
      effect: { status: 503, body: '' },
    })
    expect(await run({ name: 'preview' })).toMatchObject({ exitCode: 0, outputs: { deleted: 'true' } })
  })

  it('deletes nothing where two have the name', async () => {
    const resources = [
      { id: 'a', name: 'preview' },
      { id: 'b', name: 'preview' },
    ]
    const replay = await serve(() => json(200, { resources }))
    const result = await run({ name: 'preview', 'control-plane-url': replay.url.href })
    expect(result.exitCode).toBe(1)
    expect(result.annotations[0]?.message).toMatch(/2 deployments match \(a, b\).*deployment-id/s)
    expect(replay.seen.every(({ method }) => method === 'GET')).toBe(true)
  })

  it('waits for one that is being deleted already, and sends no other DELETE', async () => {
    const going = { id: 'a', name: 'preview', status: 'AWAITING_DELETE' }
    const replay = await serve(({ path }) =>
      path.startsWith('/v2/deployments?') ? json(200, { resources: [going] }) : json(404, { detail: 'gone' }),
    )
    const result = await run({ name: 'preview', 'control-plane-url': replay.url.href })
    expect(result).toMatchObject({ exitCode: 0, outputs: { deleted: 'true', 'deployment-id': 'a' } })
    expect(replay.seen.every(({ method }) => method === 'GET')).toBe(true)
  })

  it('finds the deployment of an agent and its environment', async () => {
    const one = (id: string, environment: string, more: object = {}) => {
      return { id, name: `n-${id}`, agent: { agent_id: 'x', environment }, ...more }
    }
    const resources = [one('a', 'staging', { is_preview: true }), one('b', 'production'), one('c', 'staging')]
    const replay = await serve(({ method, path }) => {
      if (method === 'DELETE') return { status: 204, body: '' }
      return path.startsWith('/v2/deployments?') ? json(200, { resources }) : json(404, {})
    })
    const inputs = { 'agent-id': 'x', 'agent-environment': 'staging', 'control-plane-url': replay.url.href }
    expect((await run(inputs)).outputs).toMatchObject({ deleted: 'true', 'deployment-id': 'c' })
    expect(replay.seen.find(({ method }) => method === 'DELETE')?.path).toBe('/v2/deployments/c')
  })

  it.each([
    [401, 'The key was refused'],
    [403, 'The key was refused'],
  ])('is red when the key is refused (%d)', async (status, hint) => {
    const replay = await serve(() => json(status, { detail: 'no' }))
    const result = await run({ name: 'preview', 'control-plane-url': replay.url.href })
    expect(result.exitCode).toBe(1)
    expect(result.outputs['deleted']).toBeUndefined()
    expect(result.annotations[0]?.message).toContain(hint)
  })

  it('follows no redirect with the key', async () => {
    const target = await serve(() => json(200, { resources: [] }))
    const replay = await serve(() => ({ status: 302, headers: { location: target.url.href }, body: '' }))
    const result = await run({ name: 'preview', 'control-plane-url': replay.url.href })
    expect(result.exitCode).toBe(1)
    expect(target.seen).toHaveLength(0)
  })

  it('tells all wrong inputs at once, before any request', async () => {
    const result = await run({
      'api-key': '',
      'control-plane-url': 'http://control.example',
      name: 'x',
      'deployment-id': 'a/b',
      'agent-id': 'y',
      'agent-environment': 'test',
      wait: 'maybe',
      'timeout-minutes': '-1',
      comment: '1',
    })
    expect(result.exitCode).toBe(1)
    expect(result.annotations).toHaveLength(1)
    const named = [
      'api-key',
      'control-plane-url',
      'name',
      'deployment-id',
      'agent-environment',
      'wait',
      'comment',
    ]
    for (const input of [...named, 'timeout-minutes']) {
      expect(result.annotations[0]?.message).toContain(`"${input}"`)
    }
    expect((await run({})).annotations[0]?.message).toContain('which deployment to delete')
  })

  it('ends within 5 s when the job is cancelled, with what is known', async () => {
    const slow = await startTestEmulator({ speed: 0.01 })
    await emulator.close()
    emulator = slow
    const id = await make('preview')
    const result = await run({ name: 'preview' }, { signalAfter: { stdout: 'AWAITING_DELETE' } })
    expect(result.exitCode).toBe(1)
    expect(result.msAfterSignal).toBeLessThan(5_000)
    expect(result.outputs).toMatchObject({ deleted: 'true', 'deployment-id': id })
  })
})

describe('GitHub after a deletion', () => {
  const event = (number: number) => {
    const repo = { full_name: 'octo/agent', name: 'agent', owner: { login: 'octo' } }
    const side = { ref: 'topic', sha: 'a'.repeat(40), repo }
    return { repository: repo, pull_request: { number, head: side, base: side } }
  }

  async function stubbed(): Promise<{ stub: GithubStub; more: Partial<RunOptions> }> {
    const stub = await startGithubStub()
    open.push(stub)
    const env = { GITHUB_API_URL: stub.apiUrl }
    return { stub, more: { env, githubToken: stub.token, eventName: 'pull_request', event: event(7) } }
  }

  it.each([true, false])(
    'makes its deployments inactive and retires the comment (there was one: %s)',
    async (there) => {
      if (there) await make('preview')
      const { stub, more } = await stubbed()
      const ours = stub.seedDeployment({ task: 'deploy:preview', environment: 'pr-7', states: ['success'] })
      const other = stub.seedDeployment({ task: 'deploy:other', environment: 'pr-7', states: ['success'] })
      stub.seedComment({ issue: 7, body: '<!-- agent-deploy: preview -->\nlive' })
      const result = await run({ name: 'preview', environment: 'pr-7', comment: 'true' }, more)
      expect([result.visible, result.exitCode]).toEqual([result.visible, 0])
      const state = (id: number) => stub.deployments.find((one) => one.id === id)?.statuses.at(-1)?.state
      expect(state(ours.id)).toBe('inactive')
      expect(state(other.id)).toBe('success')
      expect(stub.comments).toHaveLength(1)
      expect(stub.comments[0]?.body).toContain('is gone')
    },
  )

  it('never changes the verdict', async () => {
    await make('preview')
    const { stub, more } = await stubbed()
    stub.fault({ match: '/', status: 403, body: { message: 'Resource not accessible by integration' } })
    const result = await run({ name: 'preview', environment: 'pr-7', comment: 'true' }, more)
    expect(result).toMatchObject({ exitCode: 0, outputs: { deleted: 'true' } })
    expect(result.annotations.map(({ message }) => message).join('\n')).toMatch(/deployments: write/)
  })

  it('is not asked without environment and comment', async () => {
    const { stub, more } = await stubbed()
    await run({ name: 'preview' }, more)
    expect(stub.requests).toHaveLength(0)
  })
})
