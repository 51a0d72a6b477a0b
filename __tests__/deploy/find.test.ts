import { afterEach, describe, expect, it } from '@jest/globals'
import { findDeployment } from '../../src/deploy/find.ts'
import type { Target } from '../../src/deploy/settings.ts'
import { type Answer, type ScriptedService, scriptedService } from '../helpers/scripted-service.ts'

let service: ScriptedService
afterEach(() => service.close())

const target = (part: Partial<Target>): Target => ({
  name: undefined,
  deploymentId: undefined,
  agent: undefined,
  ...part,
})

async function find(
  part: Partial<Target>,
  list: unknown[],
  read: (id: string) => Answer = (id) => ({ body: { id } }),
) {
  service = await scriptedService(({ line }) =>
    line === 'GET /v2/deployments' ? { body: { resources: list } } : read(line.split('/').at(-1) ?? ''),
  )
  return findDeployment(service.api, target(part), {}).catch((error: unknown) => error as Error)
}

describe('by name', () => {
  it.each<[string, unknown[], string | undefined]>([
    ['none', [], undefined],
    [
      'parts of the name only',
      [
        { id: 'd1', name: 'bot-2' },
        { id: 'd2', name: 'a-bot' },
        { id: 'd3', name: 'BOT' },
      ],
      undefined,
    ],
    [
      'the exact one among others',
      [
        { id: 'd1', name: 'bot-2' },
        { id: 'd2', name: 'bot' },
      ],
      'd2',
    ],
    [
      'one beside its dying predecessor',
      [
        { id: 'd1', name: 'bot', status: 'AWAITING_DELETE' },
        { id: 'd2', name: 'bot' },
      ],
      'd2',
    ],
    ['one without a name', [{ id: 'd1' }], undefined],
  ])('%s', async (_title, list, id) => {
    expect(await find({ name: 'bot' }, list)).toEqual(
      id === undefined ? undefined : expect.objectContaining({ id }),
    )
  })

  it('two are an error that lists both', async () => {
    const list = [
      { id: 'd1', name: 'bot' },
      { id: 'd2', name: 'bot' },
    ]
    expect(await find({ name: 'bot' }, list)).toMatchObject({ message: expect.stringContaining('(d1, d2)') })
  })

  it.each(['AWAITING_DELETE', 'AWAITING_FINAL_DELETE'])(
    'one that is %s is an error, whoever says so',
    async (status) => {
      const listed = await find({ name: 'bot' }, [{ id: 'd1', name: 'bot', status }], (id) => ({
        body: { id, status },
      }))
      expect(listed).toMatchObject({ message: expect.stringContaining('being deleted') })
      await service.close()
      const read = await find({ name: 'bot' }, [{ id: 'd1', name: 'bot' }], (id) => ({
        body: { id, status },
      }))
      expect(read).toMatchObject({ message: expect.stringContaining('being deleted') })
    },
  )

  it('one that is gone when it is read is none', async () => {
    expect(await find({ name: 'bot' }, [{ id: 'd1', name: 'bot' }], () => ({ status: 404 }))).toBeUndefined()
  })
})

describe('by id', () => {
  const has = { name: 'bot', agent: { agent_id: 'a', environment: 'staging' } }
  const read = (id: string): Answer => (id === 'd1' ? { body: { id, ...has } } : { status: 404 })

  it.each<[Partial<Target>]>([
    [{}],
    [{ name: 'bot' }],
    [{ agent: { agentId: 'a', environment: 'staging' } }],
  ])('is read, and %j agrees', async (part) => {
    expect(await find({ deploymentId: 'd1', ...part }, [], read)).toMatchObject({ id: 'd1' })
    expect(service.asked).toHaveLength(1)
  })

  it.each<[string, Partial<Target>]>([
    ['name', { name: 'other' }],
    ['agent-id', { agent: { agentId: 'a', environment: 'production' } }],
    ['deployment-id', { deploymentId: 'd2' }],
  ])('%s that does not agree is a wrong input', async (input, part) => {
    expect(await find({ deploymentId: 'd1', ...part }, [], read)).toMatchObject({ faults: [{ input }] })
  })
})

it('by agent and environment, without previews', async () => {
  const agent = { agentId: 'a', environment: 'staging' as const }
  const of = (id: string, agent_id: string, environment: string, more = {}) => ({
    id,
    agent: { agent_id, environment },
    ...more,
  })
  const list = [
    of('d1', 'a', 'production'),
    of('d2', 'b', 'staging'),
    of('d3', 'a', 'staging', { is_preview: true }),
    of('d4', 'a', 'staging'),
  ]
  expect(await find({ agent }, list)).toMatchObject({ id: 'd4' })
})
