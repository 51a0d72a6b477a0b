import { firstLineOf, hintOf } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { CallOptions, ControlPlane } from '../clients/control-plane/api.ts'
import {
  createOAuthProvider,
  listOAuthProviders,
  patchOAuthProvider,
} from '../clients/control-plane/oauth-providers.ts'
import type { OAuthProvider } from '../clients/control-plane/wire.ts'
import { HttpError } from '../http/errors.ts'
import { isAmbiguous } from '../http/retry.ts'
import { DeployError, reasonOf } from './errors.ts'
import type { ProviderSettings } from './oauth-settings.ts'

/** What a PATCH takes (control-plane-openapi.json, OAuthProviderUpdateRequest). */
const CHANGEABLE = [
  'name',
  'client_id',
  'auth_url',
  'token_url',
  'uses_pkce',
  'code_challenge_method',
] as const
/** What the service cannot change; given and different is an error. */
const FIXED = ['provider_type', 'token_endpoint_auth_method'] as const

/** All providers together have this long. */
const OAUTH_MS = 120_000

export type ProviderAction = 'create' | 'update' | 'leave'

export interface ProviderResult {
  /** `provider_id` to `id` of every provider that is there afterwards. */
  readonly ids: Record<string, string>
  /** One for each provider that could not be registered. */
  readonly failures: readonly { readonly providerId: string; readonly error: unknown }[]
}

/**
 * Registers providers one after the other, upserted by `provider_id`: all are tried. They belong to the
 * organisation. A failure is returned, not thrown; only a cancel throws.
 */
export async function registerProviders(
  api: ControlPlane,
  providers: readonly ProviderSettings[],
  log: Log,
): Promise<ProviderResult> {
  const options: CallOptions = { deadline: api.transport.clock.now() + OAUTH_MS }
  const ids: Record<string, string> = {}
  const failures: { providerId: string; error: unknown }[] = []
  let present: readonly OAuthProvider[] | undefined
  for (const provider of providers) {
    try {
      present ??= await listOAuthProviders(api, options)
      const existing = present.find((entry) => entry.provider_id === provider.provider_id)
      const [action, registered] = await upsert(api, provider, existing, options)
      ids[provider.provider_id] = registered.id
      log.info(
        `OAuth provider "${provider.provider_id}" ${{ create: 'created', update: 'updated', leave: 'is unchanged' }[action]} (${registered.id})`,
      )
    } catch (error) {
      if (api.transport.signal.aborted) throw error
      failures.push({ providerId: provider.provider_id, error })
      log.info(`OAuth provider "${provider.provider_id}" failed: ${firstLineOf(error)}`)
    }
  }
  return { ids, failures }
}

/** The error of a result with failures: names each provider, and the hint of the first failure. */
export function providersError(result: ProviderResult): DeployError | undefined {
  const first = result.failures[0]
  if (first === undefined) return undefined
  const list = (say: (error: unknown) => string): string =>
    result.failures.map(({ providerId, error }) => `"${providerId}" (${say(error)})`).join(', ')
  const live = 'The revision is live, but OAuth providers could not be registered'
  const hint = hintOf(first.error)
  return new DeployError('error', `${live}: ${list(firstLineOf)}`, {
    cause: first.error,
    hint: `The deployment itself is as wanted; correct the provider and run the job again.${hint === undefined ? '' : ` ${hint}`}`,
    reason: `${live}: ${list(reasonOf)}`,
  })
}

async function upsert(
  api: ControlPlane,
  provider: ProviderSettings,
  existing: OAuthProvider | undefined,
  options: CallOptions,
): Promise<[ProviderAction, OAuthProvider]> {
  if (existing !== undefined) return change(api, provider, existing, options)
  try {
    return ['create', await createOAuthProvider(api, provider, options)]
  } catch (error) {
    // 409: somebody was quicker. Ambiguous: it may be there. Both are told by the list, never by a second POST.
    const conflict = error instanceof HttpError && error.status === 409
    if (!conflict && !isAmbiguous(error)) throw error
    const now = (await listOAuthProviders(api, options)).find(
      (entry) => entry.provider_id === provider.provider_id,
    )
    if (now !== undefined) return conflict ? change(api, provider, now, options) : ['create', now]
    if (conflict) throw error
    return ['create', await createOAuthProvider(api, provider, options)]
  }
}

async function change(
  api: ControlPlane,
  provider: ProviderSettings,
  existing: OAuthProvider,
  options: CallOptions,
): Promise<[ProviderAction, OAuthProvider]> {
  const body = changes(provider, existing)
  if (body === undefined) return ['leave', existing]
  try {
    return ['update', await patchOAuthProvider(api, provider.provider_id, body, options)]
  } catch (error) {
    // A PATCH sets values, so sending it once more after a lost answer changes nothing twice.
    if (!isAmbiguous(error)) throw error
    return ['update', await patchOAuthProvider(api, provider.provider_id, body, options)]
  }
}

/**
 * What a PATCH has to say: fields that were given, that the answer shows, and that differ; a given
 * `client_secret` always, because it cannot be read back.
 * @returns undefined when there is nothing to say
 * @throws DeployError for a difference that the service cannot change
 */
export function changes(
  provider: ProviderSettings,
  existing: OAuthProvider,
): Record<string, unknown> | undefined {
  for (const field of FIXED) {
    const want = provider[field]
    const have = existing[field]
    if (want === undefined || have === undefined || want === have) continue
    throw new DeployError(
      'error',
      `${field} cannot be changed: the service has "${have ?? 'null'}", and "${want ?? 'null'}" was asked for`,
      {
        hint: 'Delete the provider in LangSmith first, or give what it has.',
        reason: `${field} cannot be changed`,
      },
    )
  }
  const body: Record<string, unknown> = {}
  for (const field of CHANGEABLE) {
    const want = provider[field]
    if (want !== undefined && existing[field] !== undefined && want !== existing[field]) body[field] = want
  }
  if (provider.client_secret != null) body['client_secret'] = provider.client_secret
  return Object.keys(body).length === 0 ? undefined : body
}

/** What would be done, for the dry run: names and actions, no values. */
export async function planProviders(
  api: ControlPlane,
  providers: readonly ProviderSettings[],
): Promise<{ provider_id: string; action: ProviderAction }[]> {
  if (providers.length === 0) return []
  const present = await listOAuthProviders(api, { deadline: api.transport.clock.now() + OAUTH_MS })
  return providers.map((provider) => {
    const existing = present.find((entry) => entry.provider_id === provider.provider_id)
    return { provider_id: provider.provider_id, action: plannedAction(provider, existing) }
  })
}

function plannedAction(provider: ProviderSettings, existing: OAuthProvider | undefined): ProviderAction {
  if (existing === undefined) return 'create'
  try {
    return changes(provider, existing) === undefined ? 'leave' : 'update'
  } catch (error) {
    if (!(error instanceof DeployError)) throw error
    throw new DeployError('error', `OAuth provider "${provider.provider_id}": ${error.message}`, {
      cause: error,
      hint: error.hint,
      reason: `OAuth provider "${provider.provider_id}": ${reasonOf(error)}`,
    })
  }
}
