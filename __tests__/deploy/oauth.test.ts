import { afterEach, describe, expect, it } from '@jest/globals'
import type { OAuthProvider } from '../../src/clients/control-plane/wire.ts'
import { changes, planProviders, providersError, registerProviders } from '../../src/deploy/oauth.ts'
import { type ProviderSettings, readProviders } from '../../src/deploy/oauth-settings.ts'
import {
  type Answer,
  type Asked,
  type ScriptedService,
  scriptedService,
} from '../helpers/scripted-service.ts'

const GIVEN: ProviderSettings = {
  provider_id: 'sso',
  name: 'SSO',
  client_id: 'c1',
  auth_url: 'https://a.example/auth',
  token_url: 'https://a.example/token',
}
const HAS: OAuthProvider = {
  id: 'p1',
  ...GIVEN,
  uses_pkce: false,
  code_challenge_method: 'S256',
  provider_type: null,
  token_endpoint_auth_method: 'client_secret_post',
}
const LIST = 'GET /v2/auth/providers'
const POST = 'POST /v2/auth/providers'
const PATCH = 'PATCH /v2/auth/providers/sso'

describe('the input', () => {
  const read = (list: unknown[], env = {}) => readProviders(list, env)
  const faults = (list: unknown[], env = {}) => read(list, env).faults.map(({ message }) => message)

  it('takes the fields of the request table, and a secret by the name of its variable', () => {
    const full = {
      ...GIVEN,
      uses_pkce: true,
      code_challenge_method: 'plain',
      provider_type: null,
      token_endpoint_auth_method: 'none',
    }
    expect(read([{ ...full, client_secret_env: 'SSO' }], { SSO: 'canary' })).toEqual({
      providers: [{ ...full, client_secret: 'canary' }],
      faults: [],
    })
    expect(read([GIVEN, { ...GIVEN, provider_id: 'b', client_secret: null }]).faults).toEqual([])
  })

  it.each([
    ['a missing field', [{ ...GIVEN, token_url: undefined }], /^\[0\]\.token_url: is missing/],
    ['an empty field', [{ ...GIVEN, name: '' }], /^\[0\]\.name: is empty/],
    ['a number', [{ ...GIVEN, client_id: 12 }], /^\[0\]\.client_id: expected a string/],
    ['an unknown field', [{ ...GIVEN, nam: 'x' }], /^\[0\]: unknown "nam"; expected provider_id/],
    ['a word that is none', [{ ...GIVEN, token_endpoint_auth_method: 'basic' }], /client_secret_basic/],
    ['no URL', [{ ...GIVEN, auth_url: 'a.example' }], /^\[0\]\.auth_url: expected a URL/],
    ['the same twice', [GIVEN, GIVEN], /^\[1\]\.provider_id: "sso" is there twice/],
    ['both secrets', [{ ...GIVEN, client_secret: 'canary', client_secret_env: 'SSO' }], /expected one/],
    ['an empty secret', [{ ...GIVEN, client_secret: '' }], /^\[0\]\.client_secret: is empty/],
    ['a variable that is not set', [{ ...GIVEN, client_secret_env: 'NOPE' }], /"NOPE" is not set/],
    ['a text', ['sso'], /^\[0\]/],
  ])('%s is told with its place', (_title, list, words) => {
    expect(faults(list)).toEqual([expect.stringMatching(words)])
    expect(faults(list).join()).not.toContain('canary')
  })
})

describe('changes', () => {
  it.each([
    ['nothing given differs', {}, undefined],
    ['a name', { name: 'Other' }, { name: 'Other' }],
    [
      'URLs and PKCE',
      { auth_url: 'https://b.example', uses_pkce: true },
      { auth_url: 'https://b.example', uses_pkce: true },
    ],
    ['a secret, which cannot be read back', { client_secret: 's' }, { client_secret: 's' }],
    ['no secret', { client_secret: null }, undefined],
    [
      'the same fixed fields',
      { provider_type: null, token_endpoint_auth_method: 'client_secret_post' as const },
      undefined,
    ],
  ])('%s', (_title, part, body) => {
    expect(changes({ ...GIVEN, ...part }, HAS)).toEqual(body)
  })

  it('are not made of fields that the answer does not show', () => {
    expect(changes({ ...GIVEN, uses_pkce: true }, { id: 'p1', provider_id: 'sso' })).toBeUndefined()
  })

  it.each([
    [{ provider_type: 'x' }, /provider_type.*"null".*"x"/],
    [
      { token_endpoint_auth_method: 'none' as const },
      /token_endpoint_auth_method.*"client_secret_post".*"none"/,
    ],
  ])('%j is an error that names both values', (part, words) => {
    expect(() => changes({ ...GIVEN, ...part }, HAS)).toThrow(words)
  })
})

describe('registering', () => {
  let service: ScriptedService
  afterEach(() => service.close())
  const start = async (script: Record<string, (asked: Asked, nth: number) => Answer>) => {
    service = await scriptedService((asked, nth) => script[asked.line]?.(asked, nth) ?? { status: 500 })
  }
  const lines = () => service.asked.map(({ line }) => line)
  const register = (...providers: ProviderSettings[]) =>
    registerProviders(service.api, providers, service.log)

  it('creates what is not there, changes what differs, leaves the rest, in the order given', async () => {
    const others = ['new', 'same'].map((id) => ({ ...GIVEN, provider_id: id }))
    await start({
      [LIST]: () => ({ body: [HAS, { ...HAS, id: 'p2', provider_id: 'same' }] }),
      [POST]: () => ({ body: { ...HAS, id: 'p3', provider_id: 'new' } }),
      [PATCH]: () => ({ body: HAS }),
    })
    const result = await register({ ...GIVEN, name: 'Other' }, ...others)
    expect(result).toEqual({ ids: { sso: 'p1', new: 'p3', same: 'p2' }, failures: [] })
    expect(lines()).toEqual([LIST, PATCH, POST])
    expect(service.asked[1]?.body).toEqual({ name: 'Other' })
  })

  it.each<[string, Answer, string[]]>([
    ['is lost', 'reset', [LIST, POST, LIST]],
    ['is 409, because somebody was quicker', { status: 409, body: { detail: 'exists' } }, [LIST, POST, LIST]],
    ['has no id', { body: {} }, [LIST, POST, LIST]],
  ])('is not sent twice when the answer to the create %s', async (_title, answer, expected) => {
    await start({ [LIST]: (_asked, nth) => ({ body: nth === 1 ? [] : [HAS] }), [POST]: () => answer })
    expect((await register(GIVEN)).ids).toEqual({ sso: 'p1' })
    expect(lines()).toEqual(expected)
  })

  it('sends a create once more when it was lost before it was taken', async () => {
    await start({
      [LIST]: () => ({ body: [] }),
      [POST]: (_asked, nth) => (nth === 1 ? 'reset' : { body: HAS }),
    })
    expect((await register(GIVEN)).ids).toEqual({ sso: 'p1' })
    expect(lines()).toEqual([LIST, POST, LIST, POST])
  })

  it('tries all, and names each that failed', async () => {
    await start({
      [LIST]: () => ({ body: [{ ...HAS, provider_type: 'a' }] }),
      [POST]: () => ({ body: { ...HAS, id: 'p2', provider_id: 'good' } }),
    })
    const result = await register({ ...GIVEN, provider_type: 'b' }, { ...GIVEN, provider_id: 'good' })
    expect(result.ids).toEqual({ good: 'p2' })
    const error = providersError(result)
    expect(error).toMatchObject({ outcome: 'error' })
    expect(error?.message).toMatch(/"sso" \(provider_type cannot be changed/)
    expect(providersError({ ids: {}, failures: [] })).toBeUndefined()
  })

  it('works where the service has no list', async () => {
    await start({ [LIST]: () => ({ status: 405 }), [POST]: () => ({ body: HAS }) })
    expect((await register(GIVEN)).ids).toEqual({ sso: 'p1' })
  })

  it('plans without a change', async () => {
    await start({ [LIST]: () => ({ body: [HAS, { ...HAS, provider_id: 'same' }] }) })
    const planned = await planProviders(service.api, [
      { ...GIVEN, client_secret: 'canary' },
      { ...GIVEN, provider_id: 'same' },
      { ...GIVEN, provider_id: 'new' },
    ])
    expect(planned.map(({ action }) => action)).toEqual(['update', 'leave', 'create'])
    expect(lines()).toEqual([LIST])
    expect(await planProviders(service.api, [])).toEqual([])
  })
})
