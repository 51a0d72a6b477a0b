import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Answer, HandClock, startTestEmulator, type TestEmulator } from '../helpers/emulator.ts'
import { DOCKER, GITHUB, NOWHERE, PUSHED, UPLOADED } from './bodies.ts'

let emulator: TestEmulator

beforeAll(async () => {
  emulator = await startTestEmulator({ speed: 1, now: new HandClock().now })
})

afterAll(() => emulator.close())

function create(body: unknown): Promise<Answer> {
  return emulator.call('POST', '/v2/deployments', body)
}

function config(body: { source_config: object }, change: object): object {
  return { ...body, source_config: { ...body.source_config, ...change } }
}

function revision(body: { source_revision_config: object }, change: object): object {
  return { ...body, source_revision_config: { ...body.source_revision_config, ...change } }
}

const missing = (...loc: (string | number)[]) => ({ type: 'missing', loc, msg: 'Field required' })
const extra = (...loc: (string | number)[]) => ({
  type: 'extra_forbidden',
  loc,
  msg: 'Extra inputs are not permitted',
})

describe('what no request may have', () => {
  const { secrets: _secrets, source_revision_config: _config, ...lacking } = DOCKER
  const cases: [string, unknown, object[]][] = [
    ['missing fields', lacking, [missing('body', 'source_revision_config'), missing('body', 'secrets')]],
    ['a field that nobody knows', { ...DOCKER, colour: 'red' }, [extra('body', 'colour')]],
    ['one deeper down', config(DOCKER, { cpu: 1 }), [extra('body', 'source_config', 'cpu')]],
    ['a display name on create', { ...DOCKER, display_name: 'My image' }, [extra('body', 'display_name')]],
    [
      'null in place of an object',
      { ...DOCKER, source_revision_config: null },
      [
        {
          type: 'model_attributes_type',
          loc: ['body', 'source_revision_config'],
          msg: 'Input should be a valid dictionary or object to extract fields from',
        },
      ],
    ],
    [
      'a number in place of a string',
      { ...DOCKER, name: 7 },
      [{ type: 'string_type', loc: ['body', 'name'], msg: 'Input should be a valid string' }],
    ],
    [
      'a string in place of a boolean',
      config(GITHUB, { build_on_push: 'no' }),
      [
        {
          type: 'bool_type',
          loc: ['body', 'source_config', 'build_on_push'],
          msg: 'Input should be a valid boolean',
        },
      ],
    ],
    [
      'an id that is none',
      config(GITHUB, { integration_id: 'mine' }),
      [
        {
          type: 'uuid_parsing',
          loc: ['body', 'source_config', 'integration_id'],
          msg: 'Input should be a valid UUID',
        },
      ],
    ],
    [
      'a source that does not exist',
      { ...DOCKER, source: 'git' },
      [
        {
          type: 'literal_error',
          loc: ['body', 'source'],
          msg: "Input should be 'github', 'external_docker', 'internal_docker' or 'internal_source'",
        },
      ],
    ],
    [
      'too many cores',
      config(DOCKER, { resource_spec: { cpu: 9, min_scale: 1.5 } }),
      [
        {
          type: 'int_from_float',
          loc: ['body', 'source_config', 'resource_spec', 'min_scale'],
          msg: 'Input should be a valid integer, got a number with a fractional part',
        },
        {
          type: 'less_than_equal',
          loc: ['body', 'source_config', 'resource_spec', 'cpu'],
          msg: 'Input should be less than or equal to 8',
        },
      ],
    ],
    [
      'secrets as a mapping',
      { ...DOCKER, secrets: { KEY: 'value' } },
      [{ type: 'list_type', loc: ['body', 'secrets'], msg: 'Input should be a valid list' }],
    ],
    [
      'a secret without a value',
      { ...DOCKER, secrets: [{ name: 'KEY' }] },
      [missing('body', 'secrets', 0, 'value')],
    ],
    [
      'a name that no host could have',
      { ...DOCKER, name: 'My_Image' },
      [
        {
          type: 'string_pattern_mismatch',
          loc: ['body', 'name'],
          msg: "String should match pattern '^[a-z][a-z0-9-]*$'",
        },
      ],
    ],
  ]
  it.each(cases)('%s: 422', async (_what, body, detail) => {
    const answer = await create(body)
    expect([answer.status, answer.body]).toEqual([422, { detail }])
  })
})

describe('what a source does not take, or needs', () => {
  const error = (sentence: string) => `Source configuration error: ${sentence}`
  const cases: [string, unknown, string][] = [
    [
      'github without a ref',
      revision(GITHUB, { repo_ref: null }),
      error("'source_revision_config.repo_ref' is required for 'github' source"),
    ],
    [
      'github without a config path',
      revision(GITHUB, { langgraph_config_path: null }),
      error("'source_revision_config.langgraph_config_path' is required for 'github' source"),
    ],
    [
      'github without an integration',
      config(GITHUB, { integration_id: null }),
      'integration_id is required for github source',
    ],
    [
      'github without a type',
      config(GITHUB, { deployment_type: null }),
      error("'source_config.deployment_type' is required for 'github' source"),
    ],
    [
      'github with an image',
      revision(GITHUB, { image_uri: 'a/b:1' }),
      error("'source_revision_config.image_uri' is not applicable for 'github' source"),
    ],
    [
      'a tag that is built on push',
      revision(config(GITHUB, { build_on_push: true }) as typeof GITHUB, { repo_ref: 'refs/tags/v1' }),
      error("'source_config.build_on_push' must be false when 'repo_ref' is a tag (refs/tags/…)"),
    ],
    [
      'an image without resources',
      config(DOCKER, { resource_spec: null }),
      error("'source_config.resource_spec' is required for 'external_docker' source"),
    ],
    [
      'an image with a type',
      config(DOCKER, { deployment_type: 'prod' }),
      error("'source_config.deployment_type' is not applicable for 'external_docker' source"),
    ],
    [
      'no image',
      revision(DOCKER, { image_uri: null }),
      error("'source_revision_config.image_uri' is required for 'external_docker' source"),
    ],
    [
      'an image with build_on_push',
      config(DOCKER, { build_on_push: false }),
      error("'source_config.build_on_push' is not applicable for 'external_docker' source"),
    ],
    [
      'an upload without a type',
      config(UPLOADED, { deployment_type: null }),
      error("'source_config.deployment_type' is required for 'internal_source' source"),
    ],
    [
      'too little redis',
      config(DOCKER, { resource_spec: { redis_memory_mb: 256 } }),
      error("'resource_spec.redis_memory_mb' must be at least 512"),
    ],
    [
      'a reserved name',
      { ...DOCKER, secrets: [{ name: 'POSTGRES_URI', value: 'x' }] },
      "Secret name 'POSTGRES_URI' is reserved",
    ],
    [
      'references elsewhere',
      { ...PUSHED, secret_references: [{ name: 'A', secret_name: 'b', secret_key: 'c' }] },
      error("'secret_references' is not applicable for 'internal_docker' source"),
    ],
  ]
  it.each(cases)('%s: 400', async (_what, body, detail) => {
    const answer = await create(body)
    expect([answer.status, answer.body]).toEqual([400, { detail }])
  })

  it('takes what the official clients send', async () => {
    for (const body of [UPLOADED, PUSHED]) {
      const answer = await create(body)
      expect([answer.status, answer.body.latest_revision_id]).toEqual([201, null])
    }
  })
})

describe('bodies that are no JSON object', () => {
  const cases: [string, string | undefined, string, object][] = [
    [
      'broken',
      '{"name":',
      'application/json',
      { type: 'json_invalid', loc: ['body', 0], msg: 'JSON decode error' },
    ],
    ['none', undefined, 'application/json', missing('body')],
    [
      'a form',
      'name=x',
      'application/x-www-form-urlencoded',
      {
        type: 'model_attributes_type',
        loc: ['body'],
        msg: 'Input should be a valid dictionary or object to extract fields from',
      },
    ],
  ]
  it.each(cases)('%s: 422', async (_what, body, type, item) => {
    const response = await fetch(`${emulator.controlPlaneUrl}/v2/deployments`, {
      method: 'POST',
      headers: { ...emulator.headers, 'content-type': type },
      ...(body === undefined ? {} : { body }),
    })
    expect([response.status, await response.json()]).toEqual([422, { detail: [item] }])
  })
})

describe('who is let in', () => {
  const cases: [string, (to: TestEmulator) => Record<string, string>, number, string | undefined][] = [
    ['the key', (to) => ({ 'X-Api-Key': to.apiKey }), 200, undefined],
    [
      'the key and its workspace',
      (to) => ({ 'X-Api-Key': to.apiKey, 'X-Tenant-Id': to.workspaceId }),
      200,
      undefined,
    ],
    [
      'a bearer and its workspace',
      (to) => ({ Authorization: `Bearer ${to.apiKey}`, 'X-Tenant-Id': to.workspaceId }),
      200,
      undefined,
    ],
    ['nobody', () => ({}), 403, 'Missing authentication headers'],
    ['another key', () => ({ 'X-Api-Key': 'lsv2_pt_other' }), 403, 'Invalid token'],
    [
      'another workspace',
      (to) => ({ 'X-Api-Key': to.apiKey, 'X-Tenant-Id': NOWHERE }),
      403,
      'Invalid tenant ID',
    ],
    [
      'a bearer alone',
      (to) => ({ Authorization: `Bearer ${to.apiKey}` }),
      403,
      "This API key is org-scoped and requires workspace specification. Please provide 'X-Tenant-ID' header.",
    ],
  ]
  it.each(cases)('%s', async (_who, headers, status, detail) => {
    const response = await fetch(`${emulator.controlPlaneUrl}/v2/deployments`, { headers: headers(emulator) })
    const { detail: given } = (await response.json()) as { detail?: string }
    expect([response.status, given]).toEqual([status, detail])
  })

  it('makes another key at each start, in the shape of a real one', async () => {
    const other = await startTestEmulator()
    expect(other.apiKey).toMatch(/^lsv2_pt_[0-9a-f]{32}_[0-9a-f]{10}$/)
    expect(other.apiKey).not.toBe(emulator.apiKey)
    await other.close()
  })
})

describe('paths', () => {
  it.each([
    ['GET', '/deployments', 404],
    ['GET', '/v3/deployments', 404],
    ['GET', '/', 404],
    ['GET', '/v2/nothing', 404],
    ['PUT', '/v2/deployments', 405],
    ['GET', `/v2/deployments/${NOWHERE}`, 404],
    ['GET', `/v2/deployments/${NOWHERE}/revisions/${NOWHERE}`, 404],
    ['GET', '/v2/deployments/mine', 422],
  ])('%s %s: %i', async (method, path, status) => {
    const answer = await emulator.call(method, path)
    expect(answer.status).toBe(status)
    expect(answer.body).toHaveProperty('detail')
  })

  it('are named in the description, version 0.1.0', async () => {
    const response = await fetch(`${emulator.controlPlaneUrl}/openapi.json`)
    const { info, paths } = (await response.json()) as {
      info: { version: string }
      paths: Record<string, object>
    }
    expect(info.version).toBe('0.1.0')
    expect(Object.keys(paths['/v2/deployments/{deployment_id}'] ?? {})).toEqual(['get', 'patch', 'delete'])
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining([
        '/v2/auth/providers',
        '/v2/sandboxes/boxes/{name}',
        '/api/v2/sandboxes/boxes/{name}',
        '/api/v1/feedback/tokens/{token_id}',
      ]),
    )
  })
})

describe('GitHub installations and listeners', () => {
  it('shows one installation with a repository, and what is added', async () => {
    const [first] = (await emulator.call('GET', '/v1/integrations/github/install')).body
    expect(first).toEqual({ id: expect.any(String), installation_id: expect.any(Number), name: 'octo-org' })
    const repositories = await emulator.call('GET', `/v1/integrations/github/${first.id}/repos`)
    expect(repositories.body).toEqual([
      {
        host_integration_id: first.id,
        id: expect.any(Number),
        name: 'agent',
        owner: 'octo-org',
        url: 'https://github.com/octo-org/agent',
        default_branch: 'main',
      },
    ])
    const added = await emulator.call('POST', '/_emulator/integrations', {
      name: 'me',
      repositories: [{ owner: 'me', name: 'bot' }],
    })
    const seen = await emulator.call('GET', `/v1/integrations/github/${added.body.id}/repos`)
    expect(seen.body[0]).toMatchObject({ url: 'https://github.com/me/bot', default_branch: 'main' })
    await emulator.call('DELETE', '/_emulator/integrations')
    expect((await emulator.call('GET', '/v1/integrations/github/install')).body).toEqual([])
  })

  it('has no listener; with one, an image must name it', async () => {
    const none = await emulator.call('GET', '/v2/listeners')
    expect(none.body).toEqual({ resources: [], offset: 0 })
    const added = await emulator.call('POST', '/_emulator/listeners', {
      compute_id: 'east',
      k8s_namespaces: ['agents'],
    })
    const { id } = added.body
    const listed = await emulator.call('GET', '/v2/listeners')
    expect(listed.body.resources).toMatchObject([
      { id, compute_type: 'k8s', compute_config: { k8s_namespaces: ['agents'] } },
    ])
    const body = { ...DOCKER, name: 'listened' }
    expect((await create(body)).body.detail).toContain("listener_id' is required")
    const elsewhere = config(body, { listener_id: id, listener_config: { k8s_namespace: 'other' } })
    expect((await create(elsewhere)).status).toBe(400)
    const right = await create(
      config(body, { listener_id: id, listener_config: { k8s_namespace: 'agents' } }),
    )
    expect([right.status, right.body.source_config.listener_config]).toEqual([
      201,
      { k8s_namespace: 'agents' },
    ])
    await emulator.call('DELETE', '/_emulator/listeners')
  })
})
