import type { Clock, Random } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Environment } from '../http/proxy.ts'
import type { Transport } from '../http/transport.ts'
import type { GithubContext } from './context.ts'
import type { InputReader } from './inputs.ts'
import type { Outputs } from './outputs.ts'
import type { Secrets } from './secrets.ts'

/** Everything that an action has from the job that runs it. */
export interface Runner {
  /** The process's environment as given. */
  readonly env: Environment
  /** The job log. Every text is redacted and neutralised here, so callers pass it as it came. */
  readonly log: Log
  readonly inputs: InputReader
  readonly outputs: Outputs
  readonly secrets: Secrets
  readonly summary: SummaryText
  /** Aborted with a CancelledError by SIGINT, SIGTERM and (Windows) SIGBREAK. */
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly random: Random
  /** Made when first used, over the proxies of the environment; closed by `runAction`. */
  readonly transport: Transport
  /** What triggered the job. Loads @actions/github when first asked. */
  context(): Promise<GithubContext>
  readonly state: State
}

/** The job summary: collected, redacted, cut at 512 KiB and written in the end, also on failure and cancel. */
export interface SummaryText {
  append(markdown: string): void
}

/** What `main` leaves for `post` of the same step. Never a secret: it is printed by debug logging. */
export interface State {
  /** Writes to GITHUB_STATE at once. */
  save(name: string, value: string): void
  /** What an earlier phase of this step saved; '' when nothing. */
  get(name: string): string
}
