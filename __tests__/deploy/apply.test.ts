import { afterEach, describe, expect, it } from '@jest/globals'
import type { Deployment } from '../../src/clients/control-plane/wire.ts'
import { APPLY_MS, type ApplyTools, create, firstRevision, patch } from '../../src/deploy/apply.ts'
import {
  type Answer,
  type Asked,
  type ScriptedService,
  scriptedService,
} from '../helpers/scripted-service.ts'

const POST = 'POST /v2/deployments'
const LIST = 'GET /v2/deployments'
const PATCH = 'PATCH /v2/deployments/d1'
const READ = 'GET /v2/deployments/d1'
const TARGET = { name: 'bot', deploymentId: undefined, agent: undefined }
const NONE: Answer = { body: { resources: [] } }
const FOUND: Answer = { body: { resources: [{ id: 'd1', name: 'bot' }] } }
const BEFORE = { id: 'd1', latest_revision_id: 'r1' } as Deployment

let service: ScriptedService
afterEach(() => service.close())

type Script = Record<string, (asked: Asked, nth: number) => Answer>

async function start(script: Script, timeoutMs?: number): Promise<ApplyTools> {
  service = await scriptedService(
    (asked, nth) => script[asked.line]?.(asked, nth) ?? { status: 404 },
    timeoutMs === undefined ? {} : { timeoutMs },
  )
  return { api: service.api, log: service.log, deadline: service.clock.now() + APPLY_MS }
}

const count = (line: string) => service.asked.filter((one) => one.line === line).length
const deployment = (latest: string | null | undefined): Answer => ({
  body: { id: 'd1', latest_revision_id: latest },
})
const caught = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error as Error & { hint?: string },
  )

describe('create', () => {
  it('takes the answer as it comes, without a look-up', async () => {
    const tools = await start({ [POST]: () => deployment('r1') })
    expect(await create({ name: 'bot' }, TARGET, tools)).toMatchObject({
      created: true,
      deployment: { id: 'd1' },
    })
    expect(service.asked).toEqual([{ line: POST, at: 0, body: { name: 'bot' } }])
  })

  it('whose answer comes later than the request may take is looked up, and made once', async () => {
    const tools = await start(
      { [POST]: () => 'hang', [LIST]: () => FOUND, [READ]: () => deployment('r1') },
      150,
    )
    expect(await create({}, TARGET, tools)).toMatchObject({
      created: true,
      deployment: { latest_revision_id: 'r1' },
    })
    expect(count(POST)).toBe(1)
  })

  it('that shows a moment later is found before a second one is sent', async () => {
    const tools = await start({
      [POST]: () => 'reset',
      [LIST]: ({ at }) => (at >= 2 ? FOUND : NONE),
      [READ]: () => deployment('r1'),
    })
    expect((await create({}, TARGET, tools)).created).toBe(true)
    expect(count(POST)).toBe(1)
  })

  it('that is still at work when the second is refused is waited for', async () => {
    const tools = await start(
      {
        [POST]: (_asked, nth) => (nth === 1 ? 'hang' : { status: 409, body: { detail: 'taken' } }),
        [LIST]: ({ at }) => (at >= 10 ? FOUND : NONE),
        [READ]: () => deployment('r1'),
      },
      150,
    )
    expect(await create({}, TARGET, tools)).toMatchObject({ created: true, deployment: { id: 'd1' } })
    expect(count(POST)).toBe(2)
  })

  it('posts once more at most, and throws what the last one got', async () => {
    const tools = await start({ [POST]: () => ({ status: 502 }), [LIST]: () => NONE })
    expect(await caught(create({}, TARGET, tools))).toMatchObject({ status: 502 })
    expect(count(POST)).toBe(2)
  })

  it.each([400, 401, 403, 404, 422])('%s is thrown at once', async (status) => {
    const tools = await start({ [POST]: () => ({ status, body: { detail: 'no' } }) })
    expect(await caught(create({}, TARGET, tools))).toMatchObject({ status })
    expect(service.asked).toHaveLength(1)
  })

  it.each([
    ['429', 429, { 'retry-after': '7' }, 7],
    [
      '503 with a date',
      503,
      { 'retry-after': new Date(Date.parse('2026-01-01T00:00:30Z')).toUTCString() },
      30,
    ],
  ])('%s is sent again when the service asks for it', async (_title, status, headers, at) => {
    const tools = await start({
      [POST]: (_asked, nth) => (nth === 1 ? { status, headers } : deployment('r1')),
    })
    expect((await create({}, TARGET, tools)).created).toBe(true)
    expect(service.asked.map((one) => one.at)).toEqual([0, at])
    expect(service.said.join()).toContain('trying again')
  })

  it('does not wait beyond the two minutes', async () => {
    const tools = await start({ [POST]: () => ({ status: 429, headers: { 'retry-after': '500' } }) })
    expect(await caught(create({}, TARGET, tools))).toMatchObject({ status: 429 })
    expect(service.elapsed()).toBe(0)
  })

  it('409 with a deployment of the name is somebody else’s; without one it is a left-over project', async () => {
    const taken = { status: 409, body: { detail: 'There already exists a project' } }
    const tools = await start({ [POST]: () => taken, [LIST]: () => FOUND, [READ]: () => deployment('r1') })
    expect((await create({}, TARGET, tools)).created).toBe(false)
    await service.close()
    const none = await start({ [POST]: () => taken, [LIST]: () => NONE })
    const error = await caught(create({}, TARGET, none))
    expect(error?.message).toContain('left over')
    expect(error?.hint).toContain('delete-tracing-project')
    expect(service.elapsed()).toBe(0)
  })
})

describe('patch', () => {
  it('takes the new revision from the answer', async () => {
    const tools = await start({ [PATCH]: () => deployment('r2') })
    expect((await patch(BEFORE, { a: 1 }, tools)).revisionId).toBe('r2')
    expect(service.asked).toEqual([{ line: PATCH, at: 0, body: { a: 1 } }])
  })

  it.each<[string, Answer]>([
    ['names no revision', deployment(undefined)],
    ['names null', deployment(null)],
    ['is empty', { body: {} }],
    ['is no JSON', { body: 'ok' }],
    ['is lost', 'reset'],
    ['never comes', 'hang'],
    ['is a gateway’s', { status: 504 }],
  ])('reads the deployment when the answer %s, also one that is a little old', async (_title, answer) => {
    const tools = await start(
      { [PATCH]: () => answer, [READ]: (_asked, nth) => deployment(nth === 1 ? 'r1' : 'r2') },
      150,
    )
    expect((await patch(BEFORE, {}, tools)).revisionId).toBe('r2')
    expect(count(PATCH)).toBe(1)
  })

  it('sends it once more when it was lost before it was taken', async () => {
    const tools = await start({
      [PATCH]: (_asked, nth) => (nth === 1 ? 'reset' : deployment('r2')),
      [READ]: () => deployment('r1'),
    })
    expect((await patch(BEFORE, {}, tools)).revisionId).toBe('r2')
    expect(count(PATCH)).toBe(2)
  })

  it.each<[string, Answer, Answer]>([
    ['the answer names the old one', deployment('r1'), deployment('r1')],
    ['nothing names a new one', deployment(undefined), deployment('r1')],
  ])('is an error when no revision was made: %s', async (_title, answer, read) => {
    const tools = await start({ [PATCH]: () => answer, [READ]: () => read })
    expect((await caught(patch(BEFORE, {}, tools)))?.message).toContain('made no revision')
    expect(count(PATCH)).toBe(1)
    expect(service.elapsed()).toBeLessThan(120)
  })
})

describe('the first revision', () => {
  it('is read where the create’s answer has none, for a while', async () => {
    const tools = await start({ [READ]: ({ at }) => deployment(at >= 8 ? 'r1' : null) })
    expect(await firstRevision({ id: 'd1' } as Deployment, tools)).toBe('r1')
  })

  it('is patched in where the create of that source makes none, once', async () => {
    const update = { revision_source: 'internal_docker', source_revision_config: { image_uri: 'r/a:1' } }
    const tools = await start({ [READ]: () => deployment(null), [PATCH]: () => deployment('r1') })
    expect(await firstRevision({ id: 'd1' } as Deployment, tools, update)).toBe('r1')
    expect(service.asked.filter(({ line }) => line === PATCH).map(({ body }) => body)).toEqual([update])
    await service.close()
    const made = await start({ [READ]: ({ at }) => deployment(at >= 1 ? 'r1' : null) })
    expect(await firstRevision({ id: 'd1' } as Deployment, made, update)).toBe('r1')
    expect(count(PATCH)).toBe(0)
  })

  it('that never shows is an error that says what to do', async () => {
    const tools = await start({ [READ]: () => deployment(null) })
    const error = await caught(firstRevision({ id: 'd1' } as Deployment, tools))
    expect(error?.message).toContain('shows no revision')
    expect(error?.hint).toContain('Run the job again')
  })
})
