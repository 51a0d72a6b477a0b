import { afterEach, describe, expect, it } from '@jest/globals'
import {
  createDeployment,
  getDeployment,
  listDeployments,
  patchDeployment,
} from '../../../src/clients/control-plane/deployments.ts'
import {
  listGithubIntegrations,
  listGithubRepositories,
  listListeners,
} from '../../../src/clients/control-plane/discovery.ts'
import { controlPlaneHint, isCloud } from '../../../src/clients/control-plane/hints.ts'
import { getRevision, interruptRevision } from '../../../src/clients/control-plane/revisions.ts'
import {
  type Answer,
  type Asked,
  type ScriptedService,
  scriptedService,
} from '../../helpers/scripted-service.ts'

let service: ScriptedService
afterEach(() => service.close())
const start = async (serve: (asked: Asked, nth: number) => Answer) => {
  service = await scriptedService(serve)
}
const caught = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error as Error & { hint?: string },
  )
const page = (from: number, count: number): Answer => ({
  body: { resources: Array.from({ length: count }, (_, index) => ({ id: `d${from + index}`, name: 'x' })) },
})

describe('listDeployments', () => {
  it('reads all pages, until one is short', async () => {
    await start((_asked, nth) => page((nth - 1) * 100, nth < 3 ? 100 : 7))
    expect(await listDeployments(service.api, { name_contains: 'x' })).toHaveLength(207)
    expect(service.asked).toHaveLength(3)
  })

  it('ends where the last page is full', async () => {
    await start((_asked, nth) => page(0, nth === 1 ? 100 : 0))
    expect(await listDeployments(service.api, {})).toHaveLength(100)
  })

  it('is an error when a page repeats: it would never end', async () => {
    await start(() => page(0, 100))
    const error = await caught(listDeployments(service.api, {}))
    expect(error?.message).toContain('repeats a page')
    expect(error?.hint).toContain('deployment-id')
    expect(service.asked).toHaveLength(2)
  })

  it('does not mind what it does not read', async () => {
    const odd = {
      id: 'd1',
      name: 3,
      status: [],
      agent: 'x',
      is_preview: 'no',
      secrets: 1,
      source_config: 'y',
    }
    await start(() => ({ body: { resources: [odd], total: 1 } }))
    expect((await listDeployments(service.api, {}))[0]).toMatchObject({ id: 'd1', name: undefined })
  })
})

describe('an answer', () => {
  const deployment = { id: 'd1', latest_revision_id: 'r1', source: 'github', tenant_id: 7, more: [1] }

  it('may have more than is read, and others than uuids as ids', async () => {
    const ids = ['d1', 'dep_1', '01J9ZC.x:y~z', '8f4f6c2e-3f0b-4b53-9c1d-6f3a5d2b9e10']
    await start(({ line }) => ({
      body: { ...deployment, id: decodeURIComponent(line.split('/').at(-1) ?? '') },
    }))
    for (const id of ids) expect((await getDeployment(service.api, id)).id).toBe(id)
  })

  it.each([
    ['no id', { name: 'x' }, 'id'],
    ['an id with a slash', { id: 'a/../b' }, 'id'],
    ['an id with a line end', { id: 'd1\n::error::' }, 'id'],
    ['an empty id', { id: '' }, 'id'],
    [
      'a spec that is a list',
      { id: 'd1', source_config: { resource_spec: [] } },
      'source_config.resource_spec',
    ],
    ['secrets that are no list', { id: 'd1', secrets: 'canary-value' }, 'secrets'],
    ['a list', [], '(the whole answer)'],
  ])('with %s is refused by the field’s name, never its value', async (_title, body, field) => {
    await start(() => ({ body }))
    const error = await caught(getDeployment(service.api, 'd1'))
    expect(error?.message).toContain(`promises: ${field}`)
    expect(error?.message).not.toMatch(/canary|::error/)
  })

  it('of a revision needs a status alone, and must be about the one that was asked for', async () => {
    const bodies = [
      { status: 'DEPLOYED' },
      { id: 'r1', status: 'X', created_at: 17 },
      { id: 'r2', status: 'DEPLOYED' },
      { id: 'r1' },
    ]
    await start((_asked, nth) => ({ body: bodies[nth - 1] }))
    expect(await getRevision(service.api, 'd1', 'r1')).toMatchObject({ id: 'r1', status: 'DEPLOYED' })
    expect(await getRevision(service.api, 'd1', 'r1')).toMatchObject({ id: 'r1', status: 'X' })
    expect((await caught(getRevision(service.api, 'd1', 'r1')))?.message).toContain('another revision')
    expect((await caught(getRevision(service.api, 'd1', 'r1')))?.message).toContain('promises: status')
  })
})

describe('requests', () => {
  it('carry ids and names as one segment of the path', async () => {
    await start(() => ({ status: 404 }))
    for (const work of [
      getDeployment(service.api, 'a/b?c#d'),
      getRevision(service.api, 'd1', 'x y'),
      listGithubRepositories(service.api, 'a/b'),
    ])
      await work.catch(() => {})
    expect(service.asked.map(({ line }) => line).sort()).toEqual(
      [
        'GET /v1/integrations/github/a%2Fb/repos',
        'GET /v2/deployments/d1/revisions/x%20y',
        'GET /v2/deployments/a%2Fb%3Fc%23d',
      ].sort(),
    )
  })

  it.each(['', '.', '..'])('are not made with %j, which would make another path', async (id) => {
    await start(() => ({}))
    expect((await caught(getRevision(service.api, 'd1', id)))?.message).toContain('cannot be an id')
    expect(service.asked).toEqual([])
  })

  it('that write are sent once after an answer that may have been a yes', async () => {
    await start(() => ({ status: 500 }))
    await caught(createDeployment(service.api, {}))
    await caught(patchDeployment(service.api, 'd1', {}))
    await caught(interruptRevision(service.api, 'd1', 'r1'))
    expect(service.asked).toHaveLength(3)
  })
})

describe('what is looked up for a create', () => {
  it.each([404, 405])('%s means that there is none', async (status) => {
    await start(() => ({ status }))
    expect(await listListeners(service.api)).toEqual([])
    expect(await listGithubIntegrations(service.api)).toEqual([])
  })

  it('an installation that is refused sees nothing; another error is one', async () => {
    await start(({ line }, nth) => ({ status: line.endsWith('/repos') && nth === 1 ? 403 : 401 }))
    expect(await listGithubRepositories(service.api, 'i1')).toEqual([])
    expect(await caught(listGithubRepositories(service.api, 'i1'))).toMatchObject({ status: 401 })
    expect(await caught(listListeners(service.api))).toMatchObject({ status: 401 })
  })
})

describe('hints', () => {
  const cloud = { baseUrl: new URL('https://api.host.langchain.com'), workspaceId: undefined }
  const own = { baseUrl: new URL('https://smith.corp.example/api-host'), workspaceId: 'w1' }

  it.each([
    [
      403,
      "requires workspace specification. Please provide 'X-Tenant-ID' header.",
      cloud,
      /set `workspace-id`/,
    ],
    [403, 'requires workspace specification', own, /look at `workspace-id`/],
    [403, 'LangSmith Deployment is not enabled for this organization', cloud, /not switched on/],
    [403, 'Invalid token', cloud, /own region.*eu\.api\.host/],
    [401, '', own, /expired/],
    [409, 'There already exists a project in LangSmith named: x', cloud, /delete-tracing-project/],
    [404, '', cloud, /regions are/],
    [404, '', own, /control-plane-url/],
    [400, 'integration_id is required for github source', cloud, /`integration-id`/],
    [400, "listener_id' is required", own, /`listener-id`/],
    [400, 'Scale to zero deployments are not supported in AWS environments', cloud, /deployment-type/],
    [400, "Secret name 'X' is reserved", cloud, /Rename/],
    [422, '', cloud, /`request`/],
    [429, '', cloud, /slow down/],
    [500, '', cloud, /The service failed/],
    [418, '', cloud, undefined],
    [400, 'something else', cloud, undefined],
  ])('%s %s', async (status, detail, facts, words) => {
    await start(() => ({}))
    const hint = controlPlaneHint(status, detail, facts)
    if (words === undefined) expect(hint).toBeUndefined()
    else expect(hint).toMatch(words)
  })

  it.each([
    ['https://api.host.langchain.com', true],
    ['https://eu.api.host.langchain.com', true],
    ['https://xapi.host.langchain.com', false],
    ['https://api.host.langchain.com.evil.example', false],
  ])('%s is the cloud: %s', async (url, expected) => {
    await start(() => ({}))
    expect(isCloud(new URL(url))).toBe(expected)
  })
})
