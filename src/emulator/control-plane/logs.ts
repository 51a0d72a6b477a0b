/** Build and deploy logs, in the family that the CLIs use (`/v1/projects`) and in the newer public one. */
import type { EmulatorState } from '../state.ts'
import { Query, readBody } from '../wire/request.ts'
import { either, literal, nullable, number, object, optional, type Parsed, text } from '../wire/schema.ts'
import { findDeployment } from './deployments.ts'
import type { Deployment, LogLine, Revision } from './model.ts'
import { findRevision } from './revisions.ts'
import type { Call, Route } from './router.ts'

const LEVELS: readonly string[] = ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL']
const MOST_LINES = 1000
const USUAL_LINES = 50

const bodyFields = {
  order: optional(nullable(literal('asc', 'desc'))),
  limit: optional(nullable(number({ whole: true, min: 1, max: MOST_LINES }))),
  offset: optional(nullable(either(number({ whole: true, min: 0 }), text({ pattern: /^\d*$/ })))),
  level: optional(nullable(text())),
  query: optional(nullable(text())),
  start_time: optional(nullable(text())),
  end_time: optional(nullable(text())),
}
const logsBody = object(bodyFields)
type LogsQuery = Parsed<typeof bodyFields>

type Kind = 'build' | 'deploy'

interface Entry {
  id: string
  timestamp: number
  level: string
  message: string
}

/** The lines that were written by now, oldest first. */
function written(state: EmulatorState, revision: Revision, kind: Kind): Entry[] {
  const age = state.clock.elapsed(revision.createdAt)
  const lines: readonly LogLine[] = kind === 'build' ? revision.buildLog : revision.deployLog
  return lines
    .filter(({ at }) => at <= age)
    .map(({ at, level, message }, index) => ({
      id: `${revision.id}-${kind}-${index}`,
      timestamp: Math.round(revision.createdAt + state.clock.realMs(at)) + index,
      level,
      message,
    }))
}

function answer(entries: readonly Entry[], asked: LogsQuery): Response {
  const level = asked.level?.toUpperCase()
  const floor = LEVELS.indexOf(level ?? '')
  const found = entries.filter(
    (entry) =>
      (floor < 0 || LEVELS.indexOf(entry.level) >= floor) &&
      (!asked.query || entry.message.includes(asked.query)) &&
      (!asked.start_time || entry.timestamp >= Date.parse(asked.start_time)) &&
      (!asked.end_time || entry.timestamp <= Date.parse(asked.end_time)),
  )
  const ordered = asked.order === 'desc' ? found.toReversed() : found
  const offset = Number(asked.offset || 0)
  const limit = asked.limit ?? USUAL_LINES
  const logs = ordered.slice(offset, offset + limit)
  // A cursor also at the end, as the official client goes on from it while lines are still being written.
  return Response.json({ logs, next_offset: logs.length > 0 ? String(offset + logs.length) : null })
}

function ofRevision(kind: Kind) {
  return async ({ state, request, params }: Call): Promise<Response> => {
    const deployment: Deployment = findDeployment(state, params.project_id)
    const revision = findRevision(deployment, params.revision_id)
    return answer(written(state, revision, kind), await readBody(request, logsBody, true))
  }
}

async function ofDeployment({ state, request, params }: Call): Promise<Response> {
  const deployment = findDeployment(state, params.project_id)
  const entries = deployment.revisions.flatMap((revision) => written(state, revision, 'deploy'))
  return answer(entries, await readBody(request, logsBody, true))
}

function publicFamily({ state, request, params }: Call): Response {
  const revision = findRevision(findDeployment(state, params.deployment_id), params.revision_id)
  const query = new Query(request.url)
  const kind = query.oneOf('type', ['build', 'deploy'] as const)
  const asked: LogsQuery = {
    order: query.oneOf('order', ['asc', 'desc'] as const, 'asc'),
    limit: query.whole('limit', { min: 1, max: MOST_LINES, fallback: USUAL_LINES }),
    offset: query.whole('offset', { min: 0, fallback: 0 }),
    level: query.text('level'),
    query: query.text('query'),
    start_time: query.text('start_time'),
    end_time: query.text('end_time'),
  }
  query.finish()
  return answer(written(state, revision, kind), asked)
}

export const logRoutes: readonly Route[] = [
  ['POST', '/v1/projects/{project_id}/revisions/{revision_id}/build_logs', ofRevision('build')],
  ['POST', '/v1/projects/{project_id}/revisions/{revision_id}/deploy_logs', ofRevision('deploy')],
  ['POST', '/v1/projects/{project_id}/deploy_logs', ofDeployment],
  ['GET', '/v2/deployments/{deployment_id}/revisions/{revision_id}/logs', publicFamily],
]
