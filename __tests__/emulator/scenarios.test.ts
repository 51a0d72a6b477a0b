import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { HandClock, startTestEmulator, type TestEmulator } from '../helpers/emulator.ts'
import { DOCKER, GITHUB } from './bodies.ts'

let clock: HandClock
let emulator: TestEmulator

beforeEach(async () => {
  clock = new HandClock()
  emulator = await startTestEmulator({ speed: 1, now: clock.now })
})

afterEach(() => emulator.close())

async function create(body: object): Promise<{ id: string; revision: string }> {
  const { body: made } = await emulator.call('POST', '/v2/deployments', body)
  return { id: made.id, revision: made.latest_revision_id }
}

async function status(id: string, revision: string): Promise<string> {
  return (await emulator.call('GET', `/v2/deployments/${id}/revisions/${revision}`)).body.status
}

async function update(id: string): Promise<string> {
  const change = { source_revision_config: { image_uri: 'registry.example/agent:2' } }
  return (await emulator.call('PATCH', `/v2/deployments/${id}`, change)).body.latest_revision_id
}

describe('a scripted revision', () => {
  it('walks as it was told, by the clock, and says what it was told', async () => {
    await emulator.scenario({
      deployment: 'my-agent',
      statuses: [
        ['BUILDING', 2],
        ['BUILD_FAILED', null],
      ],
      logs: ['first line', 'no such module'],
    })
    const other = await create(DOCKER)
    expect(await status(other.id, other.revision)).toBe('CREATING')
    const { id, revision } = await create(GITHUB)
    expect(await status(id, revision)).toBe('BUILDING')
    clock.pass(1.9)
    expect(await status(id, revision)).toBe('BUILDING')
    clock.pass(0.1)
    expect(await status(id, revision)).toBe('BUILD_FAILED')
    clock.pass(3600)
    expect(await status(id, revision)).toBe('BUILD_FAILED')
    const { body } = await emulator.call('POST', `/v1/projects/${id}/revisions/${revision}/build_logs`, {})
    expect(body.logs.map(({ message }: { message: string }) => message)).toEqual([
      'first line',
      'no such module',
    ])
  })

  it('is the next one only, of any deployment where none is named', async () => {
    await emulator.scenario({ statuses: [['DEPLOYED', null]] })
    const { id, revision } = await create(DOCKER)
    expect(await status(id, revision)).toBe('DEPLOYED')
    expect(await status(id, await update(id))).toBe('CREATING')
  })

  it.each([['UNKNOWN'], ['REBOOTING'], ['CREATE_FAILED'], ['DEPLOY_FAILED'], ['SKIPPED']])(
    'may be %s',
    async (word) => {
      await emulator.scenario({ statuses: [[word, null]] })
      const { id, revision } = await create(DOCKER)
      expect(await status(id, revision)).toBe(word)
    },
  )

  it('may be interrupted and go on', async () => {
    await emulator.scenario({
      statuses: [
        ['INTERRUPTED', 5],
        ['DEPLOYING', 5],
        ['DEPLOYED', null],
      ],
    })
    const { id, revision } = await create(DOCKER)
    expect(await status(id, revision)).toBe('INTERRUPTED')
    clock.pass(10)
    expect(await status(id, revision)).toBe('DEPLOYED')
    const { body } = await emulator.call('GET', `/v2/deployments/${id}`)
    expect(body.active_revision_id).toBe(revision)
  })

  it('that hangs is skipped when a newer one is live', async () => {
    await emulator.scenario({ statuses: [['BUILDING', null]] })
    await emulator.scenario({
      statuses: [
        ['DEPLOYING', 3],
        ['DEPLOYED', null],
      ],
    })
    const { id, revision } = await create(DOCKER)
    const newer = await update(id)
    expect([await status(id, revision), await status(id, newer)]).toEqual(['BUILDING', 'DEPLOYING'])
    clock.pass(3)
    expect([await status(id, revision), await status(id, newer)]).toEqual(['SKIPPED', 'DEPLOYED'])
  })

  it('may be deployed without ever serving', async () => {
    const { id, revision } = await create(DOCKER)
    clock.pass(60)
    await emulator.scenario({ statuses: [['DEPLOYED', null]], active: false })
    const newer = await update(id)
    expect(await status(id, newer)).toBe('DEPLOYED')
    const { body } = await emulator.call('GET', `/v2/deployments/${id}`)
    expect(body).toMatchObject({ active_revision_id: revision, latest_revision_id: newer })
    expect((await emulator.call('GET', `/d/${id}/info`)).body.host.host_revision_id).toBe(revision)
  })
})

describe('a scripted commit', () => {
  const commit = 'b'.repeat(40)

  it('is what the next revision is built from, and stands beside a scripted walk', async () => {
    await emulator.scenario({ deployment: 'my-agent', commit })
    await emulator.scenario({ deployment: 'my-agent', statuses: [['DEPLOYED', null]] })
    const { id, revision } = await create(GITHUB)
    const { body } = await emulator.call('GET', `/v2/deployments/${id}/revisions/${revision}`)
    expect(body).toMatchObject({ status: 'DEPLOYED', source_revision_config: { repo_commit_sha: commit } })
  })

  it('left out: the same one for the same branch', async () => {
    const built = async (body: object) => {
      const { body: made } = await emulator.call('POST', '/v2/deployments', body)
      return made.source_revision_config.repo_commit_sha
    }
    const one = await built(GITHUB)
    expect(one).toMatch(/^[0-9a-f]{40}$/)
    expect(await built({ ...GITHUB, name: 'second' })).toBe(one)
    const other = { ...GITHUB.source_revision_config, repo_ref: 'develop' }
    expect(await built({ ...GITHUB, name: 'third', source_revision_config: other })).not.toBe(one)
  })
})

describe('a scripted sandbox', () => {
  it('is made at once and walks by the clock', async () => {
    await emulator.scenario({
      sandbox: {
        name: 'mine',
        template_name: 'node',
        statuses: [
          ['provisioning', 3],
          ['failed', null],
        ],
        status_message: 'no room',
      },
    })
    const first = await emulator.call('GET', '/v2/sandboxes/boxes/mine')
    expect(first.body).toMatchObject({ name: 'mine', template_name: 'node', status: 'provisioning' })
    clock.pass(3)
    const { sandboxes } = await emulator.state()
    expect(sandboxes.find(({ name }) => name === 'mine')).toMatchObject({
      status: 'failed',
      status_message: 'no room',
    })
    expect(sandboxes.map(({ name }) => name)).toEqual(['box-1', 'box-failed', 'mine'])
  })
})

describe('a scenario', () => {
  it.each([
    ['an unknown field', { deployment: 'x', colour: 'red' }],
    ['no statuses', { statuses: [] }],
    ['a status that is no pair', { statuses: [['BUILDING']] }],
    ['seconds that are none', { statuses: [['BUILDING', '2']] }],
    ['a commit that is none', { commit: 'main' }],
    [
      'a status after one that stays',
      {
        statuses: [
          ['BUILDING', null],
          ['DEPLOYED', 1],
        ],
      },
    ],
    ['nothing to say', { deployment: 'my-agent' }],
    ['a sandbox without a name', { sandbox: { statuses: [['ready', null]] } }],
  ])('with %s is refused', async (_what, spec) => {
    expect((await emulator.call('POST', '/_emulator/scenarios', spec)).status).toBe(422)
  })

  it('is forgotten when all are cleared', async () => {
    await emulator.scenario({ statuses: [['BUILD_FAILED', null]] })
    expect((await emulator.call('DELETE', '/_emulator/scenarios')).status).toBe(204)
    const { id, revision } = await create(DOCKER)
    expect(await status(id, revision)).toBe('CREATING')
  })
})
