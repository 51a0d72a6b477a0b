import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { startTestEmulator, type TestEmulator } from '../helpers/emulator.ts'

const PROVIDER = {
  provider_id: 'github',
  name: 'GitHub',
  client_id: 'client',
  client_secret: 'hidden-value',
  auth_url: 'https://auth.example/authorize',
  token_url: 'https://auth.example/token',
}

let emulator: TestEmulator

beforeEach(async () => {
  emulator = await startTestEmulator()
})

afterEach(() => emulator.close())

describe('an OAuth provider', () => {
  it('answers with exactly the 15 fields, the defaults of both tables, and never the secret', async () => {
    const { status, body } = await emulator.call('POST', '/v2/auth/providers', PROVIDER)
    expect(status).toBe(200)
    expect(body).toEqual({
      id: expect.any(String),
      organization_id: expect.any(String),
      provider_id: 'github',
      name: 'GitHub',
      client_id: 'client',
      auth_url: 'https://auth.example/authorize',
      token_url: 'https://auth.example/token',
      uses_pkce: false,
      code_challenge_method: 'S256',
      provider_type: null,
      mcp_server_url: null,
      token_endpoint_auth_method: 'client_secret_post',
      is_dynamic_client: false,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    expect((await emulator.call('GET', '/v2/auth/providers')).body).toEqual([body])
    expect((await emulator.call('GET', '/v2/auth/providers/github')).body).toEqual(body)
    expect((await emulator.state()).providers).toMatchObject([{ client_secret: 'hidden-value' }])
  })

  it('is made once: the second POST is 409', async () => {
    await emulator.call('POST', '/v2/auth/providers', PROVIDER)
    const { status, body } = await emulator.call('POST', '/v2/auth/providers', { ...PROVIDER, name: 'Other' })
    expect([status, body]).toEqual([
      409,
      { detail: "OAuth provider with provider_id 'github' already exists" },
    ])
  })

  it('is changed in what the description names, and null changes nothing', async () => {
    await emulator.call('POST', '/v2/auth/providers', PROVIDER)
    const change = { name: 'Other', client_id: null, uses_pkce: true, client_secret: 'newer-value' }
    const { status, body } = await emulator.call('PATCH', '/v2/auth/providers/github', change)
    expect(status).toBe(200)
    expect(body).toMatchObject({ name: 'Other', client_id: 'client', uses_pkce: true })
    expect(body).not.toHaveProperty('client_secret')
    expect((await emulator.state()).providers).toMatchObject([{ client_secret: 'newer-value' }])
    for (const fixed of ['provider_id', 'provider_type', 'token_endpoint_auth_method']) {
      const refused = await emulator.call('PATCH', '/v2/auth/providers/github', { [fixed]: 'none' })
      expect(refused.body.detail).toEqual([
        { type: 'extra_forbidden', loc: ['body', fixed], msg: 'Extra inputs are not permitted' },
      ])
    }
  })

  it('names what is missing or of the wrong kind', async () => {
    const { client_id: _id, ...rest } = PROVIDER
    const { status, body } = await emulator.call('POST', '/v2/auth/providers', {
      ...rest,
      uses_pkce: 'yes',
      token_endpoint_auth_method: 'basic',
    })
    expect(status).toBe(422)
    expect(body.detail.map(({ type, loc }: { type: string; loc: string[] }) => [type, loc[1]])).toEqual([
      ['missing', 'client_id'],
      ['bool_type', 'uses_pkce'],
      ['literal_error', 'token_endpoint_auth_method'],
    ])
  })

  it('is unknown until it is made and after it is deleted', async () => {
    expect((await emulator.call('PATCH', '/v2/auth/providers/github', { name: 'x' })).status).toBe(404)
    await emulator.call('POST', '/v2/auth/providers', { ...PROVIDER, provider_id: 'a/b c' })
    expect((await emulator.call('GET', '/v2/auth/providers/a%2Fb%20c')).status).toBe(200)
    expect((await emulator.call('DELETE', '/v2/auth/providers/a%2Fb%20c')).status).toBe(200)
    expect((await emulator.call('GET', '/v2/auth/providers/a%2Fb%20c')).status).toBe(404)
  })
})
