import * as core from '@actions/core'
import { systemClock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { type Environment, type ProxySettings, readProxySettings } from '../http/proxy.ts'
import { Transport } from '../http/transport.ts'
import { readContext } from './context.ts'
import { InputReader } from './inputs.ts'
import { createLog } from './log.ts'
import { StepOutputs } from './outputs.ts'
import type { Runner } from './runner.ts'
import { Secrets } from './secrets.ts'
import { SummaryFile } from './summary-file.ts'
import { OWN_WORDS } from './words.ts'

const USER_AGENT = 'agent-deploy/1 (GitHub Action)'

/** The runner, and what only `runAction` may do with it. */
export interface OwnedRunner {
  readonly runner: Runner
  readonly secrets: Secrets
  readonly summary: SummaryFile
  /** Warns about an environment that weakens TLS or that is misread, and masks the proxies' passwords. */
  checkEnvironment(): void
  /** Ends the transport's connections, where it was used. */
  close(): Promise<void>
}

/** @param env the process's environment @param signal aborted when the job is cancelled */
export function createRunner(env: Environment, signal: AbortSignal): OwnedRunner {
  const short: string[] = []
  const secrets: Secrets = new Secrets({
    register: (line) => core.setSecret(line),
    tooShort(from) {
      if (short.includes(from)) return
      // Secrets come several at once: one warning names all of them.
      if (short.push(from) === 1) queueMicrotask(() => log.warning(describeShort(short.splice(0))))
    },
  })
  for (const word of OWN_WORDS) secrets.keep(word)
  const log: Log = createLog(secrets)
  const summary = new SummaryFile(secrets)
  const outputs = new StepOutputs(secrets, (message) => log.warning(message))
  let proxy: ProxySettings | undefined
  let transport: Transport | undefined
  let context: ReturnType<typeof readContext> | undefined

  const runner: Runner = {
    env,
    log,
    inputs: new InputReader(env),
    outputs,
    secrets,
    summary,
    signal,
    clock: systemClock,
    random: Math.random,
    get transport() {
      transport ??= new Transport({
        proxy: proxy ?? readProxySettings(env),
        signal,
        clock: systemClock,
        random: Math.random,
        userAgent: USER_AGENT,
        onExchange: (line) => log.debug(line),
      })
      return transport
    },
    context: () => (context ??= readContext(env)),
    state: {
      save: (name, value) => core.saveState(name, value),
      get: (name) => env[`STATE_${name}`] ?? '',
    },
  }

  return {
    runner,
    secrets,
    summary,
    checkEnvironment() {
      proxy = readProxySettings(env)
      for (const password of proxy.passwords) secrets.mask(password, 'the password in the proxy URL')
      for (const warning of environmentWarnings(env, proxy)) log.warning(warning)
    },
    async close() {
      await transport?.close()
    },
  }
}

function environmentWarnings(env: Environment, proxy: ProxySettings): string[] {
  const warnings: string[] = []
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
    warnings.push(
      'NODE_TLS_REJECT_UNAUTHORIZED is 0: no certificate is checked, so anybody in between can read the API key. Remove it, and give the authority’s certificate with NODE_EXTRA_CA_CERTS in `env:` of the job.',
    )
  }
  if (proxy.ignoredNoProxy.length > 0) {
    warnings.push(
      `NO_PROXY names networks, which are not understood and have no effect: ${proxy.ignoredNoProxy.join(', ')}. Name hosts or domains (.example.com) instead.`,
    )
  }
  return warnings
}

function describeShort(names: readonly string[]): string {
  const several = names.length > 1
  return `${names.join(', ')}: fewer than 6 characters, so ${several ? 'these values are' : 'the value is'} neither masked nor redacted (a mask that short blanks the whole log). ${several ? 'Values that are' : 'If it is'} no secret ${several ? 'belong' : 'it belongs'} into env-vars; a secret should be longer.`
}
