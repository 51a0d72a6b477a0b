import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { type RunResult, runBundle } from '../helpers/action.ts'
import { onceAsked, StoppableClock, startTestEmulator, type TestEmulator } from '../helpers/emulator.ts'
import { type Replay, type Reply, startReplay } from '../helpers/replay.ts'

const clock = new StoppableClock()
let emulator: TestEmulator
const replays: Replay[] = []

beforeAll(async () => {
  emulator = await startTestEmulator({ now: clock.now })
})
afterAll(() => emulator.close())
afterEach(async () => {
  clock.go()
  for (const replay of replays.splice(0)) await replay.close()
})

function run(inputs: Record<string, string>, more: object = {}): Promise<RunResult> {
  const known = { 'api-key': emulator.apiKey, 'base-url': emulator.sandboxUrl }
  return runBundle({ action: 'sandbox', inputs: { ...known, ...inputs }, ...more })
}

async function make(name: string, statuses: [string, number | null][], message?: string): Promise<void> {
  const more = message === undefined ? {} : { status_message: message }
  const answer = await emulator.call('POST', '/_emulator/scenarios', {
    sandbox: { name, template_name: 'tpl', statuses, ...more },
  })
  expect(answer.status).toBe(201)
}

async function serve(...replies: Reply[]): Promise<Replay> {
  const queue = [...replies]
  const replay = await startReplay(() => (queue.length > 1 ? queue.shift() : queue[0]))
  replays.push(replay)
  return replay
}

describe('the sandbox action', () => {
  it('waits until the sandbox is ready and puts out all of it', async () => {
    await make('team/box é', [
      ['provisioning', 200],
      ['booting', 200],
      ['ready', null],
    ])
    // Each status is read once, then a second of ours makes 200 of the emulator's.
    clock.stop()
    const running = run({ name: 'team/box é' })
    for (let step = 0; step < 2; step++)
      await onceAsked(emulator, 'GET', /boxes/, async () => clock.pass(1000))
    const result = await running
    expect(result.stderr).toBe('')
    expect(result).toMatchObject({ exitCode: 0, annotations: [] })
    expect(result.outputs).toEqual({
      id: expect.stringMatching(/.+/),
      name: 'team/box é',
      'template-name': 'tpl',
      status: 'ready',
      'status-message': '',
      'dataplane-url': expect.stringContaining('/sandboxes/'),
      'created-at': expect.stringMatching(/^\d{4}-/),
      'updated-at': expect.stringMatching(/^\d{4}-/),
    })
    expect(result.visible).toContain('is provisioning')
    expect(result.summary).toContain('✅ Sandbox')
    const { requests } = await emulator.state()
    const asked = requests.findLast(({ path }) => path.includes('/boxes/'))
    expect(asked?.path).toContain('/v2/sandboxes/boxes/team%2Fbox%20%C3%A9')
  })

  it('reads once with wait: false; the URL is of no use before ready', async () => {
    await make('young', [['provisioning', null]])
    const result = await run({ name: 'young', wait: 'false', 'workspace-id': emulator.workspaceId })
    expect(result).toMatchObject({ exitCode: 0 })
    expect(result.outputs).toMatchObject({ status: 'provisioning', 'dataplane-url': '' })
  })

  it.each([
    ['failed', 'true'],
    ['failed', 'false'],
    ['stopped', 'true'],
    ['deleting', 'false'],
  ])('is red at once when it is %s (wait: %s), and still puts it out', async (status, wait) => {
    await make(`end-${status}`, [[status, null]], 'template was not found')
    const result = await run({ name: `end-${status}`, wait, 'timeout-minutes': '1' })
    expect(result.exitCode).toBe(1)
    expect(result.ms).toBeLessThan(15_000)
    expect(result.outputs).toMatchObject({ status, 'dataplane-url': '' })
    expect(result.annotations).toHaveLength(1)
    expect(result.annotations[0]?.message).toContain(`Sandbox "end-${status}" is ${status}`)
    if (status === 'failed') {
      expect(result.annotations[0]?.message).toContain('template was not found')
      expect(result.outputs['status-message']).toBe('template was not found')
    }
    expect(result.summary).toContain('❌ Sandbox')
  })

  it('is red at once when there is none', async () => {
    const result = await run({ name: 'nobody' })
    expect(result.exitCode).toBe(1)
    expect(result.annotations[0]?.message).toMatch(/answered 404: NotFound.*No sandbox of this name/s)
  })

  it('is red by its time, in minutes', async () => {
    await make('slow', [['provisioning', null]])
    const result = await run({ name: 'slow', 'timeout-minutes': '0.01' })
    expect(result.exitCode).toBe(1)
    expect(result.annotations[0]?.message).toContain('was not ready within 0.6 s; its status is provisioning')
    expect(result.outputs['status']).toBe('provisioning')
  })

  it('tells a refused key', async () => {
    const result = await run({ name: 'box-1', 'api-key': 'some-other-key' })
    expect(result.exitCode).toBe(1)
    expect(result.annotations[0]?.message).toContain('The key was refused')
    expect(result.visible).not.toContain('some-other-key')
  })

  it('sends key and workspace to the base URL, keeps its path, follows nothing', async () => {
    const replay = await serve({ status: 307, headers: { location: 'https://evil.example/' }, body: '' })
    const result = await run({
      name: 'b',
      'base-url': new URL('/smith/', replay.url).href,
      'workspace-id': 'ws-1',
      'timeout-minutes': '0.1',
    })
    expect(result.exitCode).toBe(1)
    expect(result.annotations[0]?.message).toContain('evil.example')
    expect(replay.seen).toHaveLength(1)
    expect(replay.seen[0]?.path).toBe('/smith/v2/sandboxes/boxes/b')
    expect(replay.seen[0]?.headers).toMatchObject({ 'x-api-key': emulator.apiKey, 'x-tenant-id': 'ws-1' })
  })

  it('needs only name and status of an answer', async () => {
    const replay = await serve({ status: 200, body: '{"name":"b","status":"ready"}' })
    const result = await run({ name: 'b', 'base-url': replay.url.href })
    expect(result).toMatchObject({ exitCode: 0, outputs: { status: 'ready', id: '', 'dataplane-url': '' } })
  })

  it('runs no command that the service says', async () => {
    const evil = '::set-output name=status::ready\n##[error]x\n::error::y'
    const replay = await serve({
      status: 200,
      body: JSON.stringify({ name: 'b', status: 'failed', status_message: evil, id: evil }),
    })
    const result = await run({ name: 'b', 'base-url': replay.url.href })
    expect(result.exitCode).toBe(1)
    expect(result.annotations).toHaveLength(1)
    expect(result.outputs['status']).toBe('failed')
    expect(result.executedCommands.filter(({ name }) => name !== 'error' && name !== 'add-mask')).toEqual([])
  })

  it('tells all wrong inputs at once', async () => {
    const result = await run({
      'api-key': '',
      'base-url': 'http://sandboxes.example',
      name: '..',
      wait: 'perhaps',
      'timeout-minutes': '0',
    })
    expect(result.exitCode).toBe(1)
    expect(result.annotations).toHaveLength(1)
    for (const input of ['api-key', 'base-url', 'name', 'wait', 'timeout-minutes']) {
      expect(result.annotations[0]?.message).toContain(`"${input}"`)
    }
  })

  it('says why the key is missing on a pull request from a fork', async () => {
    const repository = (name: string) => ({
      full_name: name,
      name: 'agent',
      owner: { login: name.split('/')[0] },
    })
    const result = await run(
      { 'api-key': '', name: 'b' },
      {
        eventName: 'pull_request',
        event: {
          repository: repository('octo/agent'),
          pull_request: {
            number: 1,
            head: { ref: 'topic', sha: 'a'.repeat(40), repo: repository('mallory/agent') },
            base: { ref: 'main', sha: 'b'.repeat(40), repo: repository('octo/agent') },
          },
        },
      },
    )
    expect(result.annotations[0]?.message).toContain('emulator/')
  })
})
