import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { HandClock, startTestEmulator, type TestEmulator } from '../helpers/emulator.ts'
import { DOCKER, GITHUB, NOWHERE } from './bodies.ts'

let clock: HandClock
let emulator: TestEmulator

beforeEach(async () => {
  clock = new HandClock()
  emulator = await startTestEmulator({ speed: 1, now: clock.now })
})

afterEach(() => emulator.close())

describe('a deployment', () => {
  it('is created, walks through every status and gets its URL when it is live', async () => {
    const created = await emulator.call('POST', '/v2/deployments', GITHUB)
    expect(created.status).toBe(201)
    const { id, latest_revision_id: revision } = created.body
    expect(created.body).toMatchObject({
      name: 'my-agent',
      tenant_id: emulator.workspaceId,
      status: 'AWAITING_DATABASE',
      active_revision_id: null,
      image_version: null,
      secrets: [{ name: 'OPENAI_API_KEY', value: 'sk-value' }],
      source_config: { custom_url: null, repo_branch: 'main', build_on_push: false, listener_id: null },
      source_revision_config: { repo_ref: 'main', repo_commit_sha: expect.stringMatching(/^[0-9a-f]{40}$/) },
    })
    const seen: [string, number][] = []
    for (let second = 0; second <= 60; second += 1) {
      const { body } = await emulator.call('GET', `/v2/deployments/${id}/revisions/${revision}`)
      if (seen.at(-1)?.[0] !== body.status) seen.push([body.status, second])
      clock.pass(1)
    }
    expect(seen).toEqual([
      ['CREATING', 0],
      ['QUEUED', 1],
      ['AWAITING_BUILD', 3],
      ['BUILDING', 6],
      ['AWAITING_DEPLOY', 36],
      ['DEPLOYING', 39],
      ['DEPLOYED', 59],
    ])
    const read = await emulator.call('GET', `/v2/deployments/${id}`)
    expect(read.body).toMatchObject({
      status: 'READY',
      active_revision_id: revision,
      latest_revision_id: revision,
      image_version: '0.16.7',
      source_config: { custom_url: `${emulator.controlPlaneUrl}/d/${id}` },
    })
  })

  it('is found by its exact name on a later page', async () => {
    for (let n = 0; n < 25; n += 1) {
      await emulator.call('POST', '/v2/deployments', { ...DOCKER, name: `agent-${n}` })
    }
    const first = await emulator.call('GET', '/v2/deployments?name_contains=agent-')
    expect(first.body.resources).toHaveLength(20)
    expect(first.body.offset).toBe(20)
    const second = await emulator.call(
      'GET',
      `/v2/deployments?name_contains=agent-&offset=${first.body.offset}`,
    )
    expect(second.body.resources.map(({ name }: { name: string }) => name)).toEqual([
      'agent-4',
      'agent-3',
      'agent-2',
      'agent-1',
      'agent-0',
    ])
    const exact = await emulator.call(
      'GET',
      '/v2/deployments?name=agent-1&name_contains=agent-1&limit=100&offset=0',
    )
    expect(exact.body.resources.map(({ name }: { name: string }) => name)).toEqual(['agent-1'])
  })

  it('refuses pages that are too long or start before the first', async () => {
    const { status, body } = await emulator.call('GET', '/v2/deployments?limit=101&offset=-1')
    expect(status).toBe(422)
    expect(body.detail).toEqual([
      { type: 'less_than_equal', loc: ['query', 'limit'], msg: 'Input should be less than or equal to 100' },
      {
        type: 'greater_than_equal',
        loc: ['query', 'offset'],
        msg: 'Input should be greater than or equal to 0',
      },
    ])
  })

  it('keeps its name after it is gone, unless its tracing project goes too', async () => {
    const { body } = await emulator.call('POST', '/v2/deployments', DOCKER)
    const twice = await emulator.call('POST', '/v2/deployments', DOCKER)
    const sentence =
      'Deployments create a tracing project in LangSmith with the same name as the deployment. ' +
      'There already exists a project in LangSmith named: my-image.'
    expect([twice.status, twice.body]).toEqual([409, { detail: sentence }])
    expect((await emulator.call('DELETE', `/v2/deployments/${body.id}`)).status).toBe(204)
    expect((await emulator.call('GET', `/v2/deployments/${body.id}`)).body.status).toBe('AWAITING_DELETE')
    clock.pass(4)
    const gone = await emulator.call('GET', `/v2/deployments/${body.id}`)
    expect([gone.status, gone.body]).toEqual([404, { detail: `Deployment ID ${body.id} not found.` }])
    expect((await emulator.call('DELETE', `/v2/deployments/${body.id}`)).status).toBe(404)
    const left = await emulator.call('POST', '/v2/deployments', DOCKER)
    expect([left.status, left.body]).toEqual([409, { detail: sentence }])

    const other = await emulator.call('POST', '/v2/deployments', { ...DOCKER, name: 'other' })
    await emulator.call('DELETE', `/v2/deployments/${other.body.id}?delete_tracing_project=true`)
    clock.pass(4)
    expect((await emulator.call('POST', '/v2/deployments', { ...DOCKER, name: 'other' })).status).toBe(201)
  })

  it('is deleted together with others, as far as they exist', async () => {
    const one = await emulator.call('POST', '/v2/deployments', { ...DOCKER, name: 'one' })
    const some = await emulator.call(
      'DELETE',
      `/v2/deployments?deployment_ids=${one.body.id}&deployment_ids=${NOWHERE}`,
    )
    expect(some.status).toBe(207)
    expect(some.body).toMatchObject({ deleted: [one.body.id], failed: [{ deployment_id: NOWHERE }] })
    const two = await emulator.call('POST', '/v2/deployments', { ...DOCKER, name: 'two' })
    expect((await emulator.call('DELETE', `/v2/deployments?deployment_ids=${two.body.id}`)).status).toBe(200)
    expect((await emulator.call('DELETE', `/v2/deployments?deployment_ids=${NOWHERE}`)).status).toBe(404)
    const none = await emulator.call('DELETE', '/v2/deployments')
    expect([none.status, none.body]).toEqual([
      422,
      { detail: [{ type: 'missing', loc: ['query', 'deployment_ids'], msg: 'Field required' }] },
    ])
  })

  it('is known by its agent where the workspace works that way', async () => {
    const { name: _name, ...rest } = DOCKER
    const agent = { agent_id: 'support', environment: 'staging' }
    const created = await emulator.call('POST', '/v2/deployments', { ...rest, agent })
    expect([created.status, created.body.agent]).toEqual([201, agent])
    expect((await emulator.call('POST', '/v2/deployments', { ...rest, agent })).status).toBe(409)
    await emulator.call('POST', '/v2/deployments', {
      ...rest,
      agent: { ...agent, environment: 'production' },
    })
    const found = await emulator.call('GET', '/v2/deployments?agent_id=support&agent_environment=staging')
    expect(found.body.resources).toMatchObject([{ id: created.body.id, agent }])
    const wrong = await emulator.call('POST', '/v2/deployments', { ...DOCKER, agent })
    expect(wrong.body.detail).toEqual([
      { type: 'extra_forbidden', loc: ['body', 'name'], msg: 'Extra inputs are not permitted' },
    ])
  })
})
