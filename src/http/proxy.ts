import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici'
import { AgentDeployError } from '../base/errors.ts'
import { isLoopback } from './url.ts'

/** Environment of the process, as far as it is about proxies. Lower-case names win, as in curl and undici. */
export type Environment = Readonly<Record<string, string | undefined>>

export interface ProxySettings {
  readonly httpProxy: string | undefined
  readonly httpsProxy: string | undefined
  readonly noProxy: string
  /** Passwords inside the proxy URLs, for masking. */
  readonly passwords: readonly string[]
  /** Entries of NO_PROXY with a slash: networks, which undici does not understand and ignores. */
  readonly ignoredNoProxy: readonly string[]
}

/**
 * Reads `http_proxy`, `https_proxy` and `no_proxy` in both spellings.
 * @throws AgentDeployError when a proxy is not a URL (its value can carry a password and is not shown)
 */
export function readProxySettings(env: Environment): ProxySettings {
  const read = (name: string): string | undefined => presence(env[name]) ?? presence(env[name.toUpperCase()])
  const httpProxy = read('http_proxy')
  const httpsProxy = read('https_proxy')
  const noProxy = read('no_proxy') ?? ''
  const passwords: string[] = []
  for (const [name, value] of [
    ['HTTP_PROXY', httpProxy],
    ['HTTPS_PROXY', httpsProxy],
  ] as const) {
    if (value === undefined) continue
    if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol)) {
      throw new AgentDeployError(`${name} in the environment is not an http:// or https:// URL`, {
        hint: `Set ${name} to a URL such as http://proxy.example:3128, or remove it.`,
      })
    }
    const { password } = new URL(value)
    if (password !== '') passwords.push(password, ...decoded(password))
  }
  const ignoredNoProxy = noProxy.split(/[,\s]+/).filter((entry) => entry.includes('/'))
  return { httpProxy, httpsProxy, noProxy, passwords, ignoredNoProxy }
}

/** Timeouts are per request (transport.ts); a kept connection must not outlive a poll interval for long. */
const AGENT_OPTIONS = { connect: { timeout: 10_000 }, keepAliveTimeout: 4_000, allowH2: false } as const

/** One direct agent, and one through the proxy where one is set; loopback is never proxied. */
export class Dispatchers {
  readonly #direct = new Agent(AGENT_OPTIONS)
  readonly #proxied: EnvHttpProxyAgent | undefined
  readonly #settings: ProxySettings

  constructor(settings: ProxySettings) {
    this.#settings = settings
    const { httpProxy, httpsProxy, noProxy } = settings
    if (httpProxy !== undefined || httpsProxy !== undefined) {
      this.#proxied = new EnvHttpProxyAgent({
        ...AGENT_OPTIONS,
        // The empty string, not undefined: with undefined undici would read the environment by itself.
        httpProxy: httpProxy ?? '',
        httpsProxy: httpsProxy ?? '',
        noProxy,
      })
    }
  }

  for(url: URL): Dispatcher {
    // undici would send https through HTTP_PROXY where only that is set; curl and the toolkit do not.
    const proxy = url.protocol === 'https:' ? this.#settings.httpsProxy : this.#settings.httpProxy
    return this.#proxied === undefined || proxy === undefined || isLoopback(url)
      ? this.#direct
      : this.#proxied
  }

  /** Ends open connections at once, so that the process can end. */
  async destroy(): Promise<void> {
    await Promise.all([this.#direct.destroy(), this.#proxied?.destroy()])
  }
}

function presence(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim()
}

function decoded(text: string): string[] {
  try {
    const plain = decodeURIComponent(text)
    return plain === text ? [] : [plain]
  } catch {
    return []
  }
}
