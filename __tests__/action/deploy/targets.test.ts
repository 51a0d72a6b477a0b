import { createServer, request as httpRequest, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { TestEmulator } from '../../helpers/emulator.ts'
import { deploy, requestsOf, withEmulator } from './support.ts'

const LISTENERS = '/v2/listeners'
const ONE = 'a1f2c3d4-0000-4000-8000-000000000001'
const TWO = 'a1f2c3d4-0000-4000-8000-000000000002'

let emulator: TestEmulator
let name = ''

withEmulator('target', (one, fresh) => {
  emulator = one
  name = fresh
})

const run = (inputs: Record<string, string> = {}, options = {}) =>
  deploy(emulator, { name, ...inputs }, options)

async function lastCreate(): Promise<Record<string, unknown>> {
  return (await requestsOf(emulator, 'POST', /^\/v2\/deployments$/)).at(-1)?.body as Record<string, unknown>
}

const creates = async () => (await requestsOf(emulator, 'POST', /^\/v2\/deployments$/)).length

describe('agent mode', () => {
  const agent = (environment: string) => ({
    name: '',
    'agent-id': `bot-${name}`,
    'agent-environment': environment,
    source: 'internal_docker',
    'image-uri': 'registry.emulator.invalid/x:1',
  })

  it('creates and finds by agent and environment, and asks for these two', async () => {
    const first = await run(agent('staging'))
    expect(first.outputs).toMatchObject({ outcome: 'deployed', created: 'true' })
    const { name: sent, ...body } = await lastCreate()
    expect(sent).toBeUndefined()
    expect(body).toMatchObject({ agent: { agent_id: `bot-${name}`, environment: 'staging' } })
    const second = await run(agent('staging'))
    expect(second.outputs).toMatchObject({
      outcome: 'deployed',
      created: 'false',
      'deployment-id': first.outputs['deployment-id'],
    })
    const other = await run(agent('production'))
    expect(other.outputs['deployment-id']).not.toBe(first.outputs['deployment-id'])
    const list = (await requestsOf(emulator, 'GET', /^\/v2\/deployments$/)).at(-1)
    expect(list?.query).toContain(`agent_id=bot-${name}&agent_environment=production`)
  })

  it('passes by previews, and neighbours of odd shapes', async () => {
    const first = await run(agent('staging'))
    const { body } = await emulator.call('GET', `/v2/deployments/${first.outputs['deployment-id']}`)
    const preview = { id: 'preview-1', agent: body.agent, is_preview: true }
    const odd = { id: 'odd-1', name: 7, status: null, agent: 'none', secrets: 'x', source_config: [] }
    const resources = [preview, odd, { id: body.id, agent: body.agent }]
    await emulator.fault({
      method: 'GET',
      path: '/v2/deployments',
      effect: { status: 200, body: { resources } },
    })
    const second = await run(agent('staging'))
    expect(second.outputs).toMatchObject({ outcome: 'deployed', 'deployment-id': body.id })
  })
})

describe('the name', () => {
  it('of two deployments is an error that lists both', async () => {
    const resources = [
      { id: 'dep_1', name },
      { id: 'dep_2', name },
      { id: 'dep_3', name: `${name}-x` },
    ]
    await emulator.fault({
      method: 'GET',
      path: '/v2/deployments',
      effect: { status: 200, body: { resources } },
    })
    const before = await creates()
    const result = await run()
    expect(result.outputs['outcome']).toBe('error')
    expect(result.annotations[0]?.message).toMatch(/2 deployments match \(dep_1, dep_2\).*deployment-id/s)
    expect(await creates()).toBe(before)
  })

  it('of a deployment that is being deleted is an error, and is free for its successor', async () => {
    const first = await run()
    const id = first.outputs['deployment-id']
    const doomed = (await emulator.call('GET', `/v2/deployments/${id}`)).body
    doomed.status = 'AWAITING_DELETE'
    const list = { method: 'GET', path: '/v2/deployments' }
    await emulator.fault({ ...list, effect: { status: 200, body: { resources: [doomed] } } })
    await emulator.fault({
      method: 'GET',
      path: `/v2/deployments/${id}`,
      effect: { status: 200, body: doomed },
    })
    const going = await run()
    expect(going.outputs['outcome']).toBe('error')
    expect(going.annotations[0]?.message).toMatch(/being deleted.*again when it is gone/s)

    const gone = { ...doomed, id: '00000000-0000-4000-8000-000000000001' }
    await emulator.fault({ ...list, effect: { status: 200, body: { resources: [gone, { id, name }] } } })
    expect((await run()).outputs).toMatchObject({ outcome: 'deployed', 'deployment-id': id })
  })

  it('of a deployment that goes between the list and the read is created anew', async () => {
    const resources = [{ id: '00000000-0000-4000-8000-000000000002', name }]
    await emulator.fault({
      method: 'GET',
      path: '/v2/deployments',
      effect: { status: 200, body: { resources } },
    })
    expect((await run()).outputs).toMatchObject({ outcome: 'deployed', created: 'true' })
  })
})

describe('listeners', () => {
  const listener = (id: string, namespaces: string[]) => ({
    version: null,
    compute_type: 'k8s',
    compute_id: `cluster-${id.slice(-1)}`,
    compute_config: { k8s_namespaces: namespaces },
    id,
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
  })
  const serve = (...resources: object[]) =>
    emulator.fault({
      path: LISTENERS,
      effect: { status: 200, body: { resources, offset: resources.length } },
    })

  it('none, or 404, sends nothing', async () => {
    await run()
    expect(await lastCreate()).toMatchObject({ source_config: { resource_spec: {} } })
    expect((await lastCreate())['source_config']).toEqual({ resource_spec: {} })
    name = `${name}-b`
    await emulator.fault({ path: LISTENERS, effect: { status: 404, body: { detail: 'Not Found' } } })
    expect((await run()).outputs['outcome']).toBe('deployed')
  })

  it('one with one namespace is taken without being told', async () => {
    await serve(listener(ONE, ['agents']))
    expect((await run()).outputs['outcome']).toBe('deployed')
    expect(await lastCreate()).toMatchObject({
      source_config: { listener_id: ONE, listener_config: { k8s_namespace: 'agents' } },
    })
  })

  it.each([
    ['two listeners', [listener(ONE, ['a']), listener(TWO, ['b'])], [ONE, TWO, 'cluster-1']],
    ['two namespaces', [listener(ONE, ['agents', 'lab'])], ['agents', 'lab']],
  ])('%s are listed, and nothing is created', async (_title, resources, words) => {
    await serve(...resources)
    const before = await creates()
    const result = await run()
    expect(result.outputs['outcome']).toBe('error')
    for (const word of words) expect(result.annotations[0]?.message).toContain(word)
    expect(result.annotations[0]?.message).toContain('listener-id')
    expect(await creates()).toBe(before)
  })

  it('is not asked for where listener-id was given, nor on an update', async () => {
    await run({ 'listener-id': ONE, 'listener-namespace': 'agents' })
    await run()
    const asked = await requestsOf(emulator, 'GET', /listeners/)
    await run()
    expect((await requestsOf(emulator, 'GET', /listeners/)).length).toBe(asked.length)
    const other = await run({ 'listener-id': TWO })
    expect(other.annotations[0]?.message).toMatch(new RegExp(`listener-id.*${ONE}.*${TWO}`, 's'))
  })

  it('a name over 21 characters gets a warning, and still deploys', async () => {
    const result = await run({ name: `${name}-with-a-very-long-name` })
    expect(result.outputs['outcome']).toBe('deployed')
    expect(result.annotations).toEqual([
      expect.objectContaining({ type: 'warning', message: expect.stringContaining('21') }),
    ])
  })
})

describe('a control plane under a path prefix, as self-hosted ones are', () => {
  let proxy: Server
  let seen: string[] = []
  beforeAll(async () => {
    const target = new URL(emulator.controlPlaneUrl)
    proxy = createServer((request, response) => {
      seen.push(request.url ?? '')
      const path = (request.url ?? '').replace(/^\/root\/api-host(?=\/)/, '')
      const options = {
        host: target.hostname,
        port: target.port,
        method: request.method,
        path,
        headers: request.headers,
      }
      request.pipe(
        httpRequest(options, (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers)
          answer.pipe(response)
        }),
      )
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => void proxy.close())
  beforeEach(() => {
    seen = []
  })

  it.each(['/root/api-host', '/root/api-host/', '/root/api-host/v2', '/root/api-host/v2/'])(
    '%s keeps it in every request, and names the dashboard',
    async (prefix) => {
      const base = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
      const result = await run({ 'control-plane-url': `${base}${prefix}` })
      const { body } = await emulator.call('GET', `/v2/deployments/${result.outputs['deployment-id']}`)
      expect(result.outputs['outcome']).toBe('deployed')
      expect(seen.filter((path) => !path.startsWith('/root/api-host/v2/'))).toEqual([])
      expect(result.outputs['dashboard-url']).toBe(
        `${base}/root/o/${body.tenant_id}/host/deployments/${body.id}`,
      )
      expect(result.summary).toContain(result.outputs['dashboard-url'])
    },
  )
})

describe('unusual and right inputs', () => {
  it('arrive as they were meant', async () => {
    const result = await run(
      {
        wait: 'TRUE',
        'dry-run': 'False',
        secrets: 'A_KEY=x=y=z#1\r\nB_KEY="two\\nlines"\r\nC_KEY=\'it "is"\'\r\n# a comment\r\n\r\nFROM_ENV',
        'env-vars': '{"FEATURE_X": "1", "LEVEL": 0123, "EMPTY": ""}',
        'resource-spec': '{"cpu": 1, "labels": {"team": "a"}}',
        request: 'source_config:\n  custom_url: https://agent.example/base/',
        'timeout-minutes': '.5',
      },
      { env: { FROM_ENV: 'from the environment' } },
    )
    expect(result.outputs).toMatchObject({
      outcome: 'deployed',
      'deployment-url': 'https://agent.example/base',
    })
    const body = await lastCreate()
    expect(body['secrets']).toEqual([
      { name: 'A_KEY', value: 'x=y=z#1' },
      { name: 'B_KEY', value: 'two\nlines' },
      { name: 'C_KEY', value: 'it "is"' },
      { name: 'FROM_ENV', value: 'from the environment' },
      { name: 'FEATURE_X', value: '1' },
      { name: 'LEVEL', value: '0123' },
      { name: 'EMPTY', value: '' },
    ])
    expect(body['source_config']).toEqual({
      resource_spec: { cpu: 1, labels: { team: 'a' } },
      custom_url: 'https://agent.example/base/',
    })
  })

  it.each([
    [{ 'api-key': 'key-one\nkey-two' }, 'api-key'],
    [{ 'workspace-id': 'a b' }, 'workspace-id'],
  ])('but %j is refused without a request', async (inputs, input) => {
    const before = (await emulator.state()).requests.length
    const result = await run(inputs as unknown as Record<string, string>)
    expect(result.outputs['failure-reason']).toBe(`wrong inputs: ${input}`)
    expect((await emulator.state()).requests.length).toBe(before)
    expect(result.visible).not.toContain('key-two')
  })
})

describe('a second run that is identical', () => {
  it('makes one revision and nothing else', async () => {
    const provider = {
      provider_id: `same-${name}`,
      name: 'Same',
      client_id: 'c1',
      client_secret: 'canary-client-secret',
      auth_url: 'https://a.example/x',
      token_url: 'https://a.example/y',
    }
    const inputs = {
      secrets: 'KEEP_ME=secret-value-1',
      'env-vars': 'FEATURE_X=1',
      'resource-spec': 'cpu: 2\nmemory_mb: 4096',
      'oauth-providers': JSON.stringify([provider]),
    }
    const ours = async () => {
      const { deployments, providers, revisions } = await emulator.state()
      const deployment = deployments.find((one) => one['name'] === name)
      return {
        deployments: deployments.filter((one) => one['name'] === name).length,
        secrets: deployment?.['secrets'],
        config: deployment?.['source_config'],
        providers: providers
          .filter((one) => one['provider_id'] === provider.provider_id)
          .map((one) => one['id']),
        revisions: revisions.filter((one) => one['deployment_id'] === deployment?.['id']).length,
      }
    }
    const first = await run(inputs)
    const before = await ours()
    const second = await run(inputs)
    const after = await ours()
    expect([first.outputs['outcome'], second.outputs['outcome']]).toEqual(['deployed', 'deployed'])
    expect({ ...after, revisions: 0 }).toEqual({ ...before, revisions: 0 })
    expect(second.outputs['oauth-providers']).toBe(first.outputs['oauth-providers'])
    expect(
      await requestsOf(emulator, 'PATCH', new RegExp(first.outputs['deployment-id'] ?? '')),
    ).toHaveLength(1)
  })
})

describe('a dry run', () => {
  it('of an update shows what would be sent, names of secrets only, and changes nothing', async () => {
    const first = await run({ secrets: 'KEEP_ME=secret-value-1' })
    const before = await emulator.state()
    const provider = {
      provider_id: `dry-${name}`,
      name: 'D',
      client_id: 'c',
      auth_url: 'https://a.example',
      token_url: 'https://b.example',
    }
    const result = await run({
      'dry-run': 'true',
      'image-uri': 'registry.example/agent:2',
      secrets: 'NEW_ONE=secret-value-2',
      'resource-spec': 'cpu: 2',
      'oauth-providers': JSON.stringify([{ ...provider, client_secret: 'canary-client-secret' }]),
    })
    const after = await emulator.state()
    expect(result.exitCode).toBe(0)
    expect(result.outputs).toMatchObject({
      outcome: 'planned',
      created: 'false',
      'deployment-id': first.outputs['deployment-id'],
    })
    expect(JSON.parse(result.outputs['plan'] ?? '{}')).toEqual({
      action: 'update',
      method: 'PATCH',
      path: `/v2/deployments/${first.outputs['deployment-id']}`,
      source: 'external_docker',
      artifact: 'none',
      request: {
        source_config: { resource_spec: expect.objectContaining({ cpu: 2 }) },
        source_revision_config: { image_uri: 'registry.example/agent:2' },
      },
      secrets: ['KEEP_ME', 'NEW_ONE'],
      warnings: [],
      oauth_providers: [{ provider_id: `dry-${name}`, action: 'create' }],
    })
    expect({ ...after, requests: [] }).toEqual({ ...before, requests: [] })
    expect(result.summary + result.visible).not.toMatch(/secret-value|canary/)
  })

  it('says that a provider cannot be changed', async () => {
    const provider = {
      provider_id: `fixed-${name}`,
      name: 'F',
      client_id: 'c',
      auth_url: 'https://a.example',
      token_url: 'https://b.example',
    }
    await emulator.call('POST', '/v2/auth/providers', provider)
    const result = await run({
      'dry-run': 'true',
      'oauth-providers': JSON.stringify([{ ...provider, token_endpoint_auth_method: 'none' }]),
    })
    expect(result.outputs['outcome']).toBe('error')
    expect(result.annotations[0]?.message).toMatch(
      /fixed-.*token_endpoint_auth_method.*client_secret_post.*none/s,
    )
  })
})
