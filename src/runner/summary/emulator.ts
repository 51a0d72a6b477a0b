import { cell, code, table } from '../markdown.ts'

/** One request that the emulator got, as its state shows it. */
export interface AskedRequest {
  readonly method: string
  readonly path: string
  /** Of the answer; null when the connection was cut. */
  readonly status: number | null
}

/** What the emulator was asked during the job. Texts are as they came; the renderer escapes them. */
export interface EmulatorSummary {
  readonly requests: readonly AskedRequest[]
  readonly deployments: readonly { readonly id: string; readonly name: string; readonly status: string }[]
  /** Newest last. */
  readonly revisions: readonly {
    readonly id: string
    readonly deploymentId: string
    readonly status: string
  }[]
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi
const MAX_ROWS = 200

/** The table of what was asked: ids are taken together, calls stand in the order of their first time. */
export function renderEmulatorSummary(summary: EmulatorSummary): string {
  const calls = countCalls(summary.requests)
  const rows = calls.slice(0, MAX_ROWS).map((call) => [
    code(call.method),
    code(call.path),
    String(call.count),
    [...call.statuses]
      .sort()
      .map(([status, count]) => (count === call.count ? status : `${status} (${count})`))
      .join(', '),
  ])
  const blocks = [
    '### Emulator: what it was asked',
    summary.requests.length === 0
      ? 'Nothing: no step talked to it.'
      : table(['Method', 'Path', 'Times', 'Answers'], rows),
    calls.length > MAX_ROWS ? `… and ${calls.length - MAX_ROWS} other calls.` : '',
    deployments(summary),
  ]
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`
}

interface Call {
  readonly method: string
  readonly path: string
  count: number
  readonly statuses: Map<string, number>
}

function countCalls(requests: readonly AskedRequest[]): Call[] {
  const calls = new Map<string, Call>()
  for (const { method, path, status } of requests) {
    const shown = path.replace(UUID, '{id}')
    const key = `${method} ${shown}`
    const call = calls.get(key) ?? { method, path: shown, count: 0, statuses: new Map() }
    call.count += 1
    const word = status === null ? 'cut' : String(status)
    call.statuses.set(word, (call.statuses.get(word) ?? 0) + 1)
    calls.set(key, call)
  }
  return [...calls.values()]
}

function deployments(summary: EmulatorSummary): string {
  if (summary.deployments.length === 0) return ''
  const rows = summary.deployments.map(({ id, name, status }) => {
    const revisions = summary.revisions.filter((one) => one.deploymentId === id).map((one) => one.status)
    return [cell(name), code(status), cell(revisions.join(', '))]
  })
  return table(['Deployment', 'Status', 'Its revisions, oldest first'], rows)
}
