/** Makes revisions: what they are built from, how they will walk, what they will say in their logs. */
import { newId, stableSha } from '../ids.ts'
import type { EmulatorState } from '../state.ts'
import { type ArchiveReport, inspectArchive } from '../storage/archive.ts'
import type { RevisionConfigBody } from './bodies.ts'
import type { Deployment, LogLine, Revision, RevisionConfig, Served, Source } from './model.ts'
import { sourceError } from './rules.ts'
import { defaultSteps, failingBuildSteps, type Step, startWalk } from './walk.ts'

const EMPTY: RevisionConfig = {
  repo_ref: null,
  langgraph_config_path: null,
  image_uri: null,
  source_tarball_path: null,
}

/** What was given, over what the revision before had; null gives nothing. */
export function mergeConfig(before: RevisionConfig | undefined, given: RevisionConfigBody): RevisionConfig {
  const fields = Object.entries(given).filter(([, value]) => value !== null && value !== undefined)
  return { ...EMPTY, ...before, ...Object.fromEntries(fields) }
}

interface Plan {
  source: Source
  config: RevisionConfig
  commit: string | null
  served: Served
  /** What keeps it from being built. */
  fault?: string | undefined
  /** False: the image is there. */
  builds: boolean
}

function isCommit(ref: string): boolean {
  return /^[0-9a-f]{40}$/.test(ref)
}

/**
 * Reads the archive that a revision names.
 * @throws Problem 400 when the path was not given out for this deployment, or nothing was put there.
 */
export async function openArchive(
  state: EmulatorState,
  deployment: Deployment,
  config: RevisionConfig,
): Promise<ArchiveReport> {
  const path = config.source_tarball_path ?? ''
  const upload = state.uploads.find(deployment.id, path)
  if (!upload) {
    throw sourceError(
      `'source_revision_config.source_tarball_path' must be an object path obtained from the upload-url endpoint`,
    )
  }
  if (!upload.content) throw sourceError(`no source archive was uploaded to '${path}'`)
  return inspectArchive(upload.content, config.langgraph_config_path ?? 'langgraph.json')
}

/** Plans a revision from a source and its config. @throws Problem 400. */
export async function planRevision(
  state: EmulatorState,
  deployment: Deployment,
  source: Source,
  config: RevisionConfig,
): Promise<Plan> {
  if (source === 'internal_source') {
    const report = await openArchive(state, deployment, config)
    const served: Served = { graphs: report.graphs, disableA2a: report.disableA2a }
    return { source, config, commit: null, served, fault: report.fault, builds: true }
  }
  if (source === 'github') {
    const ref = config.repo_ref ?? 'main'
    const commit = isCommit(ref) ? ref : stableSha(`${deployment.sourceConfig.repo_url}#${ref}`)
    return { source, config, commit, served: { disableA2a: false }, builds: true }
  }
  return { source, config, commit: null, served: { disableA2a: false }, builds: false }
}

function buildLog(plan: Plan): LogLine[] {
  const from = plan.commit ?? plan.config.source_tarball_path ?? plan.config.image_uri
  const line = (at: number, message: string, level: LogLine['level'] = 'INFO'): LogLine => ({
    at,
    level,
    message,
  })
  if (!plan.builds) return []
  const head = [line(6, `Fetching source ${from}`), line(7, `Reading ${plan.config.langgraph_config_path}`)]
  if (plan.fault !== undefined) return [...head, line(10, `Build failed: ${plan.fault}`, 'ERROR')]
  const steps = ['Installing dependencies', 'Building image', 'Pushing image', 'Build succeeded']
  return [...head, ...steps.map((message, index) => line(12 + index * 8, message))]
}

function deployLog(steps: readonly Step[]): LogLine[] {
  let at = 0
  for (const [status, seconds] of steps) {
    if (status === 'DEPLOYING') {
      return [
        { at, level: 'INFO', message: 'Starting the agent server' },
        { at: at + 5, level: 'INFO', message: 'Running database migrations' },
        { at: at + 15, level: 'INFO', message: 'Application startup complete' },
      ]
    }
    at += seconds ?? 0
  }
  return []
}

/** Makes the revision, takes what was scripted for it, and starts its walk. */
export function makeRevision(state: EmulatorState, deployment: Deployment, plan: Plan): Revision {
  const script = state.scenarios.take(deployment.name)
  const unscripted = plan.fault === undefined ? defaultSteps(plan.builds) : failingBuildSteps()
  const steps = script.statuses ?? unscripted
  const lines = script.logs?.map((message): LogLine => ({ at: 0, level: 'INFO', message }))
  const now = state.clock.now()
  const revision: Revision = {
    id: newId(),
    deploymentId: deployment.id,
    number: deployment.revisions.length + 1,
    source: plan.source,
    config: plan.config,
    commit: plan.source === 'github' ? (script.commit ?? plan.commit) : null,
    served: plan.served,
    createdAt: now,
    walk: { steps: [...steps], index: 0, enteredAt: now, scripted: script.statuses !== undefined },
    buildLog: lines ?? buildLog(plan),
    deployLog: lines ?? deployLog(steps),
    takesOver: script.active ?? true,
  }
  startWalk(deployment, revision)
  deployment.updatedAt = now
  return revision
}

/** The same source and image once more: a new revision that has nothing to build. */
export function redeploy(state: EmulatorState, deployment: Deployment, old: Revision): Revision {
  const { source, config, commit, served } = old
  return makeRevision(state, deployment, { source, config, commit, served, builds: false })
}
