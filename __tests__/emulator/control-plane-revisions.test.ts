import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { type Answer, HandClock, startTestEmulator, type TestEmulator } from '../helpers/emulator.ts'
import { DOCKER, GITHUB, PUSHED } from './bodies.ts'

const IMAGE_SECONDS = 26
const BUILD_SECONDS = 59

let clock: HandClock
let emulator: TestEmulator

beforeEach(async () => {
  clock = new HandClock()
  emulator = await startTestEmulator({ speed: 1, now: clock.now })
})

afterEach(() => emulator.close())

/** A deployment whose first revision is live. */
async function live(body: object): Promise<{ id: string; first: string }> {
  const { body: made } = await emulator.call('POST', '/v2/deployments', body)
  clock.pass(BUILD_SECONDS)
  return { id: made.id, first: made.latest_revision_id }
}

function patch(id: string, body: object): Promise<Answer> {
  return emulator.call('PATCH', `/v2/deployments/${id}`, body)
}

async function statuses(id: string): Promise<string[]> {
  const { body } = await emulator.call('GET', `/v2/deployments/${id}/revisions`)
  return body.resources.map(({ status }: { status: string }) => status)
}

function image(tag: number): object {
  return { source_revision_config: { image_uri: `registry.example/agent:${tag}` } }
}

describe('a PATCH', () => {
  it('makes a revision from a config or from secrets, and from nothing else', async () => {
    const { id, first } = await live(DOCKER)
    const nothing = [
      {},
      { source_config: { resource_spec: { cpu: 2 } } },
      { source_config: { custom_url: 'https://agent.example' } },
      { secrets: [] },
      { source_revision_config: { image_uri: null } },
      { display_name: 'My image' },
    ]
    for (const body of nothing) {
      const { status, body: answer } = await patch(id, body)
      expect([status, answer.latest_revision_id]).toEqual([200, first])
    }
    const second = await patch(id, { secrets: [{ name: 'A', value: '1' }] })
    expect(second.body.latest_revision_id).not.toBe(first)
    expect(second.body).toMatchObject({
      display_name: 'My image',
      active_revision_id: first,
      source_revision_config: { image_uri: 'registry.example/agent:1' },
      source_config: { custom_url: 'https://agent.example' },
    })
    const third = await patch(id, image(2))
    expect(third.body.latest_revision_id).not.toBe(second.body.latest_revision_id)
  })

  it('replaces the resources whole, and the secrets too, but an empty list changes nothing', async () => {
    const { id } = await live({ ...DOCKER, secrets: [{ name: 'A', value: '1' }] })
    await patch(id, { source_config: { resource_spec: { cpu: 1, queue_cpu: 2 } } })
    const spec = await patch(id, { source_config: { resource_spec: { cpu: 4, queue_cpu: null } } })
    expect(spec.body.source_config.resource_spec).toEqual({ cpu: 4 })
    expect((await patch(id, { secrets: [] })).body.secrets).toEqual([{ name: 'A', value: '1' }])
    const other = await patch(id, { secrets: [{ name: 'B', value: '2' }] })
    expect(other.body.secrets).toEqual([{ name: 'B', value: '2' }])
  })

  it('changes what may change, and takes null for no change', async () => {
    const { id } = await live(GITHUB)
    await patch(id, { source_config: { build_on_push: true, install_command: 'npm ci' } })
    const { body } = await patch(id, {
      source_config: { install_command: null, build_command: 'npm run build' },
    })
    expect(body.source_config).toMatchObject({
      build_on_push: true,
      install_command: 'npm ci',
      build_command: 'npm run build',
    })
  })

  it.each([
    ['repo_url', { repo_url: 'https://github.com/octo-org/other' }],
    ['integration_id', { integration_id: '00000000-0000-4000-8000-000000000000' }],
    ['deployment_type', { deployment_type: 'prod' }],
  ])('cannot change %s, but may say it again', async (name, change) => {
    const { id } = await live(GITHUB)
    const { status, body } = await patch(id, { source_config: change })
    const sentence = `Source configuration error: 'source_config.${name}' cannot be changed once the deployment is created`
    expect([status, body]).toEqual([400, { detail: sentence }])
    expect((await patch(id, { source_config: GITHUB.source_config })).status).toBe(200)
  })

  it.each([['name'], ['source'], ['agent']])('does not know %s', async (name) => {
    const { id } = await live(DOCKER)
    const { status, body } = await patch(id, { [name]: 'x' })
    expect(status).toBe(422)
    expect(body.detail).toMatchObject([{ type: 'extra_forbidden', loc: ['body', name] }])
  })

  it('refuses a push build of a tag that another request set', async () => {
    const { id } = await live(GITHUB)
    await patch(id, { source_config: { build_on_push: true } })
    const { status } = await patch(id, { source_revision_config: { repo_ref: 'refs/tags/v1' } })
    expect(status).toBe(400)
  })

  it('leaves the deployment as it was when it is refused', async () => {
    const { id, first } = await live(GITHUB)
    const { status } = await patch(id, {
      secrets: [{ name: 'B', value: '2' }],
      source_revision_config: { image_uri: 'a/b:1' },
    })
    expect(status).toBe(400)
    const { body } = await emulator.call('GET', `/v2/deployments/${id}`)
    expect(body).toMatchObject({ latest_revision_id: first, secrets: GITHUB.secrets })
  })

  it('takes what the official clients send', async () => {
    const { body } = await emulator.call('POST', '/v2/deployments', PUSHED)
    const { status, body: pushed } = await patch(body.id, {
      revision_source: 'internal_docker',
      source_revision_config: { image_uri: 'registry.emulator.invalid/x@sha256:1' },
      secrets: [],
      tracked_packages: ['langgraph:1.0.0'],
    })
    expect([status, pushed.latest_revision_id]).toEqual([200, expect.any(String)])
  })
})

describe('POST …/revisions', () => {
  it('always makes one, and answers with it', async () => {
    const { id, first } = await live(DOCKER)
    const { status, body } = await emulator.call('POST', `/v2/deployments/${id}/revisions`, {})
    expect(status).toBe(201)
    expect(body).toMatchObject({
      status: 'CREATING',
      source_revision_config: { image_uri: 'registry.example/agent:1' },
    })
    expect(body.id).not.toBe(first)
    const { body: empty } = await emulator.call('POST', '/v2/deployments', PUSHED)
    expect((await emulator.call('POST', `/v2/deployments/${empty.id}/revisions`, {})).status).toBe(400)
  })
})

describe('the walk', () => {
  it('needs no build for an image', async () => {
    const { body } = await emulator.call('POST', '/v2/deployments', DOCKER)
    clock.pass(IMAGE_SECONDS - 1)
    expect(await statuses(body.id)).toEqual(['DEPLOYING'])
    clock.pass(1)
    expect(await statuses(body.id)).toEqual(['DEPLOYED'])
  })

  it('keeps the active one until the new one is live', async () => {
    const { id, first } = await live(DOCKER)
    const { body } = await patch(id, image(2))
    clock.pass(IMAGE_SECONDS - 1)
    const before = await emulator.call('GET', `/v2/deployments/${id}`)
    expect(before.body).toMatchObject({
      active_revision_id: first,
      latest_revision_id: body.latest_revision_id,
    })
    clock.pass(1)
    const after = await emulator.call('GET', `/v2/deployments/${id}`)
    expect(after.body.active_revision_id).toBe(body.latest_revision_id)
    expect(await statuses(id)).toEqual(['DEPLOYED', 'DEPLOYED'])
  })

  it('lets the newest of those that wait go first; what it overtakes is skipped', async () => {
    const { id } = await live(DOCKER)
    await patch(id, image(2))
    clock.pass(4)
    await patch(id, image(3))
    await patch(id, image(4))
    clock.pass(10)
    expect(await statuses(id)).toEqual(['QUEUED', 'QUEUED', 'DEPLOYING', 'DEPLOYED'])
    clock.pass(12)
    expect(await statuses(id)).toEqual(['AWAITING_DEPLOY', 'QUEUED', 'DEPLOYED', 'DEPLOYED'])
    clock.pass(23)
    expect(await statuses(id)).toEqual(['DEPLOYED', 'SKIPPED', 'DEPLOYED', 'DEPLOYED'])
  })

  it('comes to the same whether somebody looked in between or not', async () => {
    const { id } = await live(DOCKER)
    await patch(id, image(2))
    clock.pass(4)
    await patch(id, image(3))
    clock.pass(3600)
    expect(await statuses(id)).toEqual(['DEPLOYED', 'DEPLOYED', 'DEPLOYED'])
  })

  it('is blocked by one that hangs until that one is interrupted', async () => {
    const { id } = await live(DOCKER)
    await emulator.scenario({ deployment: 'my-image', statuses: [['DEPLOYING', null]] })
    const stuck = (await patch(id, image(2))).body.latest_revision_id
    await patch(id, image(3))
    clock.pass(3600)
    expect(await statuses(id)).toEqual(['QUEUED', 'DEPLOYING', 'DEPLOYED'])
    const path = `/v2/deployments/${id}/revisions/${stuck}/interruption`
    const interrupted = await emulator.call('POST', path)
    expect([interrupted.status, interrupted.body.status]).toEqual([202, 'INTERRUPTED'])
    clock.pass(IMAGE_SECONDS)
    expect(await statuses(id)).toEqual(['DEPLOYED', 'INTERRUPTED', 'DEPLOYED'])
    expect((await emulator.call('POST', path)).status).toBe(400)
  })
})

describe('redeploy', () => {
  it('makes a new revision of the old source, without a build', async () => {
    const { id, first } = await live(GITHUB)
    await emulator.scenario({ commit: 'a'.repeat(40) })
    await patch(id, { source_revision_config: { repo_ref: 'other' } })
    clock.pass(BUILD_SECONDS)
    const { status, body } = await emulator.call('POST', `/v2/deployments/${id}/revisions/${first}/redeploy`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id,
      source_config: { repo_branch: 'main' },
      source_revision_config: { repo_ref: 'main' },
    })
    expect(body.latest_revision_id).not.toBe(first)
    clock.pass(IMAGE_SECONDS)
    const { body: now } = await emulator.call('GET', `/v2/deployments/${id}`)
    expect(now.active_revision_id).toBe(body.latest_revision_id)
    const { body: listed } = await emulator.call('GET', `/v2/deployments/${id}/revisions?limit=1`)
    expect(listed).toMatchObject({
      offset: 1,
      resources: [{ id: body.latest_revision_id, source: 'github' }],
    })
  })

  it('is not for what was never built', async () => {
    await emulator.scenario({
      statuses: [
        ['BUILDING', 1],
        ['BUILD_FAILED', null],
      ],
    })
    const { body } = await emulator.call('POST', '/v2/deployments', GITHUB)
    clock.pass(2)
    const path = `/v2/deployments/${body.id}/revisions/${body.latest_revision_id}/redeploy`
    expect((await emulator.call('POST', path)).status).toBe(400)
  })
})

describe('logs', () => {
  it('grow while it builds, in both families', async () => {
    const { body } = await emulator.call('POST', '/v2/deployments', GITHUB)
    const [id, revision] = [body.id, body.latest_revision_id]
    const old = `/v1/projects/${id}/revisions/${revision}/build_logs`
    const lines = async (): Promise<number> =>
      (await emulator.call('POST', old, { order: 'asc' })).body.logs.length
    expect(await lines()).toBe(0)
    clock.pass(15)
    const soFar = await lines()
    expect(soFar).toBeGreaterThan(0)
    clock.pass(BUILD_SECONDS)
    expect(await lines()).toBeGreaterThan(soFar)
    const page = await emulator.call('POST', old, { order: 'desc', limit: 1 })
    expect(page.body).toEqual({
      logs: [
        { id: expect.any(String), timestamp: expect.any(Number), level: 'INFO', message: 'Build succeeded' },
      ],
      next_offset: '1',
    })
    const next = await emulator.call('POST', old, { order: 'desc', limit: 1, offset: page.body.next_offset })
    expect(next.body.logs[0].message).toBe('Pushing image')
    const rest = await emulator.call('POST', old, { offset: 999 })
    expect(rest.body).toEqual({ logs: [], next_offset: null })
    const newer = await emulator.call(
      'GET',
      `/v2/deployments/${id}/revisions/${revision}/logs?type=deploy&query=startup`,
    )
    expect(newer.body.logs).toMatchObject([{ message: 'Application startup complete' }])
    const whole = await emulator.call('POST', `/v1/projects/${id}/deploy_logs`, {})
    expect(whole.body.logs).toHaveLength(3)
    expect((await emulator.call('GET', `/v2/deployments/${id}/revisions/${revision}/logs`)).status).toBe(422)
    expect((await emulator.call('POST', old, { colour: 'red' })).status).toBe(422)
  })
})
