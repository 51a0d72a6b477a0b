import { describe, expect, it } from '@jest/globals'
import type { TestEmulator } from '../../helpers/emulator.ts'
import { deploy, IMAGE, requestsOf, withEmulator } from './support.ts'

let emulator: TestEmulator
let name = ''

withEmulator('apply', (one, fresh) => {
  emulator = one
  name = fresh
})

const run = (inputs: Record<string, string> = {}) => deploy(emulator, { name, ...inputs })
const CREATE = { method: 'POST', path: '/v2/deployments' }

async function ofThisName(): Promise<Record<string, unknown>[]> {
  return (await emulator.state()).deployments.filter((deployment) => deployment['name'] === name)
}

async function revisionsOf(id: unknown): Promise<unknown[]> {
  return (await emulator.call('GET', `/v2/deployments/${id}/revisions`)).body.resources
}

describe('a create whose answer is lost', () => {
  it.each([
    ['the connection breaks after the work was done', { reset: 'after' }],
    [
      'the answer is no JSON',
      { status: 200, body: '<html>ok</html>', headers: { 'content-type': 'text/html' } },
    ],
    ['the answer has no id', { status: 201, body: { name: 'x' } }],
    ['a gateway gives up', { status: 504, body: 'gateway' }],
    ['the connection breaks before the work was done', { reset: 'before' }],
  ])('makes one deployment when %s', async (_title, effect) => {
    await emulator.fault({ ...CREATE, times: 1, effect })
    const result = await run()
    const found = await ofThisName()
    expect(result.outputs).toMatchObject({
      outcome: 'deployed',
      created: 'true',
      'deployment-id': found[0]?.['id'],
    })
    expect(found).toHaveLength(1)
    expect(await revisionsOf(found[0]?.['id'])).toHaveLength(1)
  })

  it('posts once more at most', async () => {
    const before = (await requestsOf(emulator, 'POST', /^\/v2\/deployments$/)).length
    await emulator.fault({ ...CREATE, times: 10, effect: { status: 502, body: 'bad gateway' } })
    const result = await run()
    expect(result.outputs['outcome']).toBe('error')
    expect(result.outputs['failure-reason']).toContain('502')
    expect((await requestsOf(emulator, 'POST', /^\/v2\/deployments$/)).length - before).toBe(2)
  })
})

describe('a patch whose answer is lost', () => {
  it.each([
    ['after the work was done', { reset: 'after' }],
    ['before it', { reset: 'before' }],
    ['to a gateway', { status: 502, body: 'x' }],
    ['to a page', { status: 200, body: '<html>', headers: { 'content-type': 'text/html' } }],
  ])('makes one revision when it is lost %s', async (_title, effect) => {
    const first = await run()
    const id = first.outputs['deployment-id']
    await emulator.fault({ method: 'PATCH', path: `/v2/deployments/${id}`, times: 1, effect })
    const second = await run()
    expect(second.outputs['outcome']).toBe('deployed')
    expect(await revisionsOf(id)).toHaveLength(2)
  })
})

describe('refusals', () => {
  it('429 and 503 with Retry-After are waited for, and nothing is made twice', async () => {
    await emulator.fault({
      ...CREATE,
      times: 1,
      effect: { status: 429, body: { detail: 'slow down' }, headers: { 'retry-after': '1' } },
    })
    await emulator.fault({
      ...CREATE,
      times: 1,
      effect: { status: 503, body: { detail: 'later' }, headers: { 'retry-after': '1' } },
    })
    const result = await run()
    expect(result.outputs).toMatchObject({ outcome: 'deployed', created: 'true' })
    expect(await ofThisName()).toHaveLength(1)
  })

  it('409 about a left-over tracing project says so, and names delete-tracing-project', async () => {
    const detail = `Deployments create a tracing project in LangSmith with the same name as the deployment. There already exists a project in LangSmith named: ${name}.`
    await emulator.fault({ ...CREATE, times: 1, effect: { status: 409, body: { detail } } })
    const result = await run()
    expect(result.outputs['outcome']).toBe('error')
    expect(result.annotations[0]?.message).toContain('delete-tracing-project')
    expect(result.outputs['failure-reason']).toContain('tracing project')
  })

  it('409 because somebody was quicker goes on as an update', async () => {
    // The look-up sees nothing: its one answer is an empty page.
    await emulator.call('POST', '/v2/deployments', {
      name,
      source: 'external_docker',
      source_config: { resource_spec: {} },
      source_revision_config: { image_uri: IMAGE },
      secrets: [],
    })
    await emulator.fault({
      method: 'GET',
      path: '/v2/deployments',
      times: 1,
      effect: { status: 200, body: { resources: [], offset: 0 } },
    })
    const result = await run()
    expect(result.outputs).toMatchObject({ outcome: 'deployed', created: 'false' })
    expect(await ofThisName()).toHaveLength(1)
  })

  it('422 shows the fields and never what was sent', async () => {
    const detail = [
      {
        type: 'missing',
        loc: ['body', 'source_config', 'x'],
        msg: 'Field required',
        input: 'canary-secret-1',
        ctx: { a: 'canary-secret-2' },
      },
    ]
    await emulator.fault({ ...CREATE, times: 1, effect: { status: 422, body: { detail } } })
    const result = await run({ secrets: 'A_B=canary-secret-1' })
    expect(result.outputs['outcome']).toBe('error')
    expect(result.annotations[0]?.message).toContain('body.source_config.x: Field required')
    expect(result.visible + result.summary).not.toMatch(/canary-secret/)
  })

  it('an update that makes no revision is an error', async () => {
    const first = await run()
    const id = first.outputs['deployment-id']
    const { body } = await emulator.call('GET', `/v2/deployments/${id}`)
    await emulator.fault({
      method: 'PATCH',
      path: `/v2/deployments/${id}`,
      times: 1,
      effect: { status: 200, body },
    })
    const second = await run()
    expect(second.exitCode).toBe(1)
    expect(second.outputs['outcome']).toBe('error')
    expect(second.outputs['failure-reason']).toContain('made no revision')
  })

  it('403 about the tenant asks for workspace-id', async () => {
    const detail =
      "This API key is org-scoped and requires workspace specification. Please provide 'X-Tenant-ID' header."
    await emulator.fault({
      method: 'GET',
      path: '/v2/deployments',
      times: 1,
      effect: { status: 403, body: { detail } },
    })
    const result = await run()
    expect(result.outputs['outcome']).toBe('error')
    expect(result.annotations[0]?.message).toContain('workspace-id')
  })
})

describe('what an update keeps', () => {
  it('merges secrets and the resource spec over what is there, and leaves both alone when not given', async () => {
    const first = await run({
      secrets: 'KEEP_ME=first-value\nCHANGE_ME=old-value-1',
      'resource-spec': 'cpu: 1\nmemory_mb: 2048',
    })
    expect(first.outputs['outcome']).toBe('deployed')
    await run({ secrets: 'CHANGE_ME=new-value-1', 'env-vars': 'FEATURE_X=1', 'resource-spec': 'cpu: 2' })
    const [merged] = await ofThisName()
    expect(merged?.['secrets']).toEqual([
      { name: 'KEEP_ME', value: 'first-value' },
      { name: 'CHANGE_ME', value: 'new-value-1' },
      { name: 'FEATURE_X', value: '1' },
    ])
    expect(merged?.['source_config']).toMatchObject({ resource_spec: { cpu: 2, memory_mb: 2048 } })
    await run()
    const [again] = await ofThisName()
    expect(again?.['secrets']).toEqual(merged?.['secrets'])
    expect(again?.['source_config']).toMatchObject({ resource_spec: { cpu: 2, memory_mb: 2048 } })
    await run({ secrets: 'ONLY=this-value', 'secrets-mode': 'replace' })
    const [replaced] = await ofThisName()
    expect(replaced?.['secrets']).toEqual([{ name: 'ONLY', value: 'this-value' }])
  })

  it('does not lose fields of the resource spec that only `request` touches', async () => {
    await run({ 'resource-spec': '{"cpu":1,"memory_mb":2048}' })
    await run({ request: '{"source_config":{"resource_spec":{"max_scale":3}}}' })
    const [found] = await ofThisName()
    expect(found?.['source_config']).toMatchObject({
      resource_spec: { cpu: 1, memory_mb: 2048, max_scale: 3 },
    })
  })

  it('refuses to wipe secrets that come back redacted', async () => {
    const first = await run({ secrets: 'KEEP_ME=first-value' })
    const id = first.outputs['deployment-id']
    const { body } = await emulator.call('GET', `/v2/deployments/${id}`)
    body.secrets = [{ name: 'KEEP_ME', value: '********' }]
    await emulator.fault({
      method: 'GET',
      path: `/v2/deployments/${id}`,
      times: 1,
      effect: { status: 200, body },
    })
    const second = await run({ secrets: 'OTHER=other-value' })
    expect(second.outputs['outcome']).toBe('error')
    expect(second.annotations[0]?.message).toContain('KEEP_ME')
    expect((await ofThisName())[0]?.['secrets']).toEqual([{ name: 'KEEP_ME', value: 'first-value' }])
  })

  it('refuses to change what cannot be changed, and names have and want', async () => {
    const first = await run()
    const result = await run({
      source: 'github',
      'image-uri': '',
      'integration-id': '2f0c0f6e-0d5a-4f2e-8a4f-6d1a3e0b7c11',
    })
    expect(result.outputs['outcome']).toBe('error')
    expect(result.annotations[0]?.message).toMatch(/external_docker.*github/s)
    expect(await revisionsOf(first.outputs['deployment-id'])).toHaveLength(1)
  })
})

describe('OAuth providers', () => {
  const provider = {
    provider_id: 'sso',
    name: 'SSO',
    client_id: 'c1',
    auth_url: 'https://a.example/x',
    token_url: 'https://a.example/y',
  }

  it('are created once, updated in place, and keep their id', async () => {
    const input = { 'oauth-providers': JSON.stringify([{ ...provider, client_secret_env: 'SSO_SECRET' }]) }
    const first = await deploy(emulator, { name, ...input }, { env: { SSO_SECRET: 'sso-secret-canary' } })
    const second = await deploy(emulator, { name, ...input }, { env: { SSO_SECRET: 'sso-secret-canary' } })
    const third = await run({ 'oauth-providers': JSON.stringify([{ ...provider, name: 'Renamed' }]) })
    const { providers } = await emulator.state()
    expect(first.outputs['outcome']).toBe('deployed')
    expect(second.outputs['oauth-providers']).toBe(first.outputs['oauth-providers'])
    expect(third.outputs['oauth-providers']).toBe(first.outputs['oauth-providers'])
    expect(providers.filter((entry) => entry['provider_id'] === 'sso')).toHaveLength(1)
    expect(providers.find((entry) => entry['provider_id'] === 'sso')).toMatchObject({
      name: 'Renamed',
      client_secret: 'sso-secret-canary',
    })
    expect(first.visible + second.visible + first.summary).not.toContain('sso-secret-canary')
  })

  it('that fail are tried all, end error, and do not keep the checks from running', async () => {
    await emulator.fault({
      method: 'POST',
      path: '/v2/auth/providers',
      times: 1,
      effect: { status: 400, body: { detail: 'no' } },
    })
    const list = [
      { ...provider, provider_id: 'bad-one' },
      { ...provider, provider_id: 'good-one' },
    ]
    const result = await run({ 'oauth-providers': JSON.stringify(list), verify: 'ready' })
    expect(result.exitCode).toBe(1)
    expect(result.outputs['outcome']).toBe('error')
    expect(result.outputs['failure-reason']).toContain('bad-one')
    expect(Object.keys(JSON.parse(result.outputs['oauth-providers'] ?? '{}'))).toEqual(['good-one'])
    expect(JSON.parse(result.outputs['verification'] ?? '{}')).toMatchObject({ passed: 1 })
  })
})
