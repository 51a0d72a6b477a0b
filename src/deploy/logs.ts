import { messageOf } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { ControlPlane } from '../clients/control-plane/api.ts'
import { readLog } from '../clients/control-plane/revisions.ts'
import type { Revision } from '../clients/control-plane/wire.ts'
import { kindOf } from './statuses.ts'

/** Lines of a log that tell why, without flooding the job log. */
const TAIL_LINES = 80

/** Reading a log must not hold up the end of a failed deploy. */
const LOG_MS = 20_000

export interface LogTail {
  readonly title: string
  /** Remote text: redacted and neutralised where it is written. */
  readonly text: string
}

/** Which log tells why a revision ended like this; undefined: none does. */
export function logKindFor(status: string | undefined): 'build' | 'deploy' | undefined {
  switch (status) {
    case 'BUILD_FAILED':
    case 'AWAITING_BUILD':
    case 'BUILDING':
      return 'build'
    case 'DEPLOY_FAILED':
    case 'AWAITING_DEPLOY':
    case 'DEPLOYING':
    case 'DEPLOYED':
      return 'deploy'
    default:
      return undefined
  }
}

/**
 * The end of the log that tells why; best effort.
 * @returns undefined when there is none, or it cannot be read (said in one line)
 */
export async function readLogTail(
  api: ControlPlane,
  deploymentId: string,
  revisionId: string,
  status: string | undefined,
  log: Log,
): Promise<LogTail | undefined> {
  const kind = logKindFor(status)
  if (kind === undefined) return undefined
  try {
    const options = { deadline: api.transport.clock.now() + LOG_MS, retries: 2 }
    const lines = await readLog(api, deploymentId, revisionId, kind, TAIL_LINES, options)
    if (lines.length === 0) {
      log.info(`The ${kind} log of revision ${revisionId} is empty.`)
      return undefined
    }
    return {
      title: `End of the ${kind} log (${lines.length} ${lines.length === 1 ? 'line' : 'lines'})`,
      text: lines.map((line) => line.message).join('\n'),
    }
  } catch (error) {
    if (api.transport.signal.aborted) throw error
    log.info(`The ${kind} log could not be read: ${messageOf(error)}`)
    return undefined
  }
}

/** Shows new lines of the build log while the build runs; each line once; silent when the log cannot be read. */
export class BuildLogStream {
  readonly #api: ControlPlane
  readonly #deploymentId: string
  readonly #log: Log
  readonly #seen = new Set<string>()
  #building = false
  #broken = false

  constructor(api: ControlPlane, deploymentId: string, log: Log) {
    this.#api = api
    this.#deploymentId = deploymentId
    this.#log = log
  }

  /** Reads on after a poll that saw the revision being built, and once more when it goes on. */
  async follow(revision: Revision): Promise<void> {
    const wasBuilding = this.#building
    this.#building = revision.status === 'BUILDING'
    // The end of a failed build is told by `readLogTail`.
    const reads = this.#building || (wasBuilding && kindOf(revision.status) !== 'failed')
    if (this.#broken || !reads) return
    try {
      const options = { once: true, timeoutMs: 10_000 }
      const lines = await readLog(this.#api, this.#deploymentId, revision.id, 'build', TAIL_LINES, options)
      const times = new Map<string, number>()
      const fresh = lines.filter(({ id, message }) => {
        // Without an id: the how-many-eth line of these words.
        const nth = (times.get(message) ?? 0) + 1
        times.set(message, nth)
        return this.#isNew(id ?? `${nth}:${message}`)
      })
      if (fresh.length > 0) this.#log.remote('Build log', fresh.map((line) => line.message).join('\n'))
    } catch (error) {
      if (this.#api.transport.signal.aborted) throw error
      this.#broken = true
    }
  }

  #isNew(key: string): boolean {
    if (this.#seen.has(key)) return false
    this.#seen.add(key)
    return true
  }
}
