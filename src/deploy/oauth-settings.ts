import * as z from 'zod/mini'
import type { InputFault } from '../base/errors.ts'

const AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post'] as const

const nonEmpty = z.string().check(z.minLength(1))

/** One entry of `oauth-providers`: the request table of the interface document, and `client_secret_env`. */
const Entry = z.strictObject({
  provider_id: nonEmpty,
  name: nonEmpty,
  client_id: nonEmpty,
  client_secret: z.nullish(z.string()),
  client_secret_env: z.optional(nonEmpty),
  auth_url: nonEmpty,
  token_url: nonEmpty,
  uses_pkce: z.optional(z.boolean()),
  code_challenge_method: z.optional(nonEmpty),
  provider_type: z.nullish(nonEmpty),
  token_endpoint_auth_method: z.optional(z.enum(AUTH_METHODS)),
})

/** What is sent for one provider; only what was given. */
export type ProviderSettings = Omit<z.output<typeof Entry>, 'client_secret_env'>

const INPUT = 'oauth-providers'

/**
 * Reads the list; `client_secret_env: NAME` is replaced by that variable's value.
 * @returns the providers, and every fault with its place (`[1].token_url`), never a secret's value
 */
export function readProviders(
  list: readonly unknown[],
  env: Readonly<Record<string, string | undefined>>,
): { providers: ProviderSettings[]; faults: InputFault[] } {
  const providers: ProviderSettings[] = []
  const faults: InputFault[] = []
  const fault = (message: string): number => faults.push({ input: INPUT, message })
  const seen = new Set<string>()
  for (const [index, item] of list.entries()) {
    // Without `reportInput` a missing field looks like one of the wrong type. The input itself is never shown.
    const parsed = Entry.safeParse(item, { reportInput: true })
    if (!parsed.success) {
      for (const issue of parsed.error.issues) fault(`[${index}]${place(issue.path)}: ${expectation(issue)}`)
      continue
    }
    const { client_secret_env: variable, ...provider } = parsed.data
    if (seen.has(provider.provider_id))
      fault(`[${index}].provider_id: "${provider.provider_id}" is there twice.`)
    seen.add(provider.provider_id)
    for (const field of ['auth_url', 'token_url'] as const) {
      if (!URL.canParse(provider[field]))
        fault(`[${index}].${field}: expected a URL, got "${provider[field]}".`)
    }
    if (variable === undefined) {
      if (provider.client_secret === '')
        fault(`[${index}].client_secret: is empty. Is the secret defined in this repository or environment?`)
      providers.push(provider)
      continue
    }
    const secret = env[variable]
    if (provider.client_secret != null)
      fault(`[${index}]: has both client_secret and client_secret_env, expected one.`)
    else if (secret === undefined || secret === '')
      fault(
        `[${index}].client_secret_env: the environment variable "${variable}" is not set or empty. Set it in \`env:\` of the step.`,
      )
    else providers.push({ ...provider, client_secret: secret })
  }
  return { providers, faults }
}

function place(path: readonly PropertyKey[]): string {
  return path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('')
}

function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'unrecognized_keys':
      return `unknown ${issue.keys.map((key) => `"${key}"`).join(', ')}; expected ${Object.keys(Entry.shape).join(', ')}.`
    case 'invalid_value':
      return `expected one of ${issue.values.join(', ')}.`
    case 'invalid_type':
      return issue.input === undefined
        ? `is missing, expected a ${issue.expected}.`
        : `expected a ${issue.expected}.`
    default:
      return 'is empty.'
  }
}
