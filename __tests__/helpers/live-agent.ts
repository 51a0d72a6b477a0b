/** A live agent server and `verify` against it, for tests in this process. */
import type { Log } from '../../src/base/log.ts'
import type { Transport } from '../../src/http/transport.ts'
import { parseChecks } from '../../src/verify/checks.ts'
import type { Finding, Report, VerifyTarget } from '../../src/verify/types.ts'
import { type VerifyOptions, verify } from '../../src/verify/verify.ts'
import type { TestEmulator } from './emulator.ts'
import { testTransport } from './replay.ts'

export interface LiveAgent {
  readonly url: URL
  readonly deploymentId: string
  readonly revisionId: string
}

let deployed = 0

/** Creates a deployment in the emulator and waits until it is `DEPLOYED`. */
export async function deployAgent(emulator: TestEmulator): Promise<LiveAgent> {
  const { body: made, status } = await emulator.call('POST', '/v2/deployments', {
    name: `agent-${++deployed}`,
    source: 'external_docker',
    source_config: { resource_spec: {} },
    source_revision_config: { image_uri: 'registry.example/agent:1' },
    secrets: [],
  })
  if (status !== 201) throw new Error(`the emulator refused the deployment: ${JSON.stringify(made)}`)
  await emulator.watch(made.id, made.latest_revision_id)
  const { body } = await emulator.call('GET', `/v2/deployments/${made.id}`)
  const url = new URL(body.source_config.custom_url)
  return { url, deploymentId: made.id, revisionId: made.latest_revision_id }
}

export interface Verified extends Report {
  readonly log: readonly string[]
  readonly masks: readonly string[]
  /** @throws when there is no such check */
  find(name: string): Finding
}

export interface VerifySetting {
  readonly target: Partial<VerifyTarget> & Pick<VerifyTarget, 'url'>
  /** YAML of the checks; absent: `ready`. */
  readonly checks?: string
  readonly options?: Partial<VerifyOptions>
  readonly signal?: AbortSignal
}

/** Verifies as the actions do, with a transport of its own. */
export async function verifyAgent(setting: VerifySetting): Promise<Verified> {
  const signal = setting.signal ?? new AbortController().signal
  const transport: Transport = testTransport(signal)
  const log: string[] = []
  const masks: string[] = []
  try {
    const report = await verify(
      { headers: {}, allowHttp: false, ...setting.target },
      setting.checks === undefined ? { checks: [], ready: true } : parseChecks(setting.checks, 'checks'),
      { timeoutMs: 10_000, reachableMs: 10_000, concurrency: 4, ...setting.options },
      {
        transport,
        clock: transport.clock,
        log: linesOf(log),
        signal,
        newId: () => crypto.randomUUID(),
        mask: (secret) => masks.push(secret),
      },
    )
    const find = (name: string): Finding => {
      const found = report.checks.find((check) => check.name === name)
      if (found === undefined) throw new Error(`no check is called ${name}`)
      return found
    }
    return { ...report, log, masks, find }
  } finally {
    await transport.close()
  }
}

function linesOf(lines: string[]): Log {
  return {
    info: (message) => void lines.push(message),
    debug: () => {},
    warning: (message) => void lines.push(`warning: ${message}`),
    notice: (message) => void lines.push(`notice: ${message}`),
    group: (_title, work) => work(),
    remote: (title, text) => void lines.push(`${title}: ${text}`),
  }
}
