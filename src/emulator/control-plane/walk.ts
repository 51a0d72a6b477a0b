/**
 * How revisions walk through their states. Nothing ticks: whoever asks gets the state that the clock says,
 * and the steps in between are taken then, in the order in which they happened.
 */
import type { EmulatorClock } from '../clock.ts'
import { type Deployment, ENDS, type Revision } from './model.ts'

/** A status and how many emulator seconds it lasts; null: it stays. */
export type Step = readonly [status: string, seconds: number | null]

export interface Walk {
  steps: Step[]
  index: number
  /** Real milliseconds; when the present step was entered. */
  enteredAt: number
  /** A scripted walk goes its own way and does not wait in the queue. */
  scripted: boolean
}

const BUILD: readonly Step[] = [
  ['AWAITING_BUILD', 3],
  ['BUILDING', 30],
]

/** Built from source: about a minute. From an image, or again from one that was built: half of it. */
export function defaultSteps(built: boolean): Step[] {
  return [
    ['CREATING', 1],
    ['QUEUED', 2],
    ...(built ? BUILD : []),
    ['AWAITING_DEPLOY', 3],
    ['DEPLOYING', 20],
    ['DEPLOYED', null],
  ]
}

export function failingBuildSteps(): Step[] {
  return [
    ['CREATING', 1],
    ['QUEUED', 2],
    ['AWAITING_BUILD', 3],
    ['BUILDING', 5],
    ['BUILD_FAILED', null],
  ]
}

export function statusOf(revision: Revision): string {
  return revision.walk.steps[revision.walk.index]?.[0] ?? 'UNKNOWN'
}

/** Ended, as far as its walk goes: an `INTERRUPTED` that a script lets go on has not. */
function isOver(revision: Revision): boolean {
  return revision.walk.index >= revision.walk.steps.length - 1 && ENDS.includes(statusOf(revision))
}

const WAITING: readonly string[] = ['CREATING', 'QUEUED']

function isRunning(revision: Revision): boolean {
  const status = statusOf(revision)
  return !WAITING.includes(status) && !ENDS.includes(status)
}

/**
 * Whether a revision has to stay `QUEUED`: another one of its deployment is being built or deployed, or a
 * newer one waits too (the newest goes first, and what it overtakes ends `SKIPPED`).
 */
function isBlocked(deployment: Deployment, revision: Revision): boolean {
  if (revision.walk.scripted || statusOf(revision) !== 'QUEUED') return false
  return deployment.revisions.some(
    (other) =>
      other !== revision &&
      (isRunning(other) ||
        (other.number > revision.number && !other.walk.scripted && WAITING.includes(statusOf(other)))),
  )
}

function dueAt(deployment: Deployment, revision: Revision, clock: EmulatorClock): number | undefined {
  const { walk } = revision
  const seconds = walk.steps[walk.index]?.[1]
  if (seconds === null || seconds === undefined || walk.index >= walk.steps.length - 1) return undefined
  if (isBlocked(deployment, revision)) return undefined
  const due = walk.enteredAt + clock.realMs(seconds)
  const waited = !walk.scripted && statusOf(revision) === 'QUEUED'
  return waited ? Math.max(due, deployment.freedAt) : due
}

/** Ends a revision now, whatever it was doing: `SKIPPED` when overtaken, `INTERRUPTED` when asked. */
export function endWith(deployment: Deployment, revision: Revision, status: string, at: number): void {
  revision.walk = {
    ...revision.walk,
    steps: [...revision.walk.steps.slice(0, revision.walk.index + 1), [status, null]],
    index: revision.walk.index + 1,
    enteredAt: at,
  }
  deployment.freedAt = at
}

function onDeployed(deployment: Deployment, revision: Revision, at: number): void {
  if (revision.takesOver) deployment.activeRevisionId = revision.id
  deployment.updatedAt = at
  for (const older of deployment.revisions) {
    if (older.number < revision.number && !isOver(older) && statusOf(older) !== 'DEPLOYED') {
      endWith(deployment, older, 'SKIPPED', at)
    }
  }
}

/** What entering a status does besides. A scripted walk enters its first step when it is made. */
function entered(deployment: Deployment, revision: Revision, at: number): void {
  const status = statusOf(revision)
  if (status === 'DEPLOYED') onDeployed(deployment, revision, at)
  if (ENDS.includes(status)) deployment.freedAt = at
}

/** Puts a new revision at the start of its walk. */
export function startWalk(deployment: Deployment, revision: Revision): void {
  deployment.revisions.push(revision)
  entered(deployment, revision, revision.walk.enteredAt)
}

/** Takes every step that was due by now. */
export function advance(deployment: Deployment, clock: EmulatorClock): void {
  const now = clock.now()
  for (;;) {
    let next: { revision: Revision; at: number } | undefined
    for (const revision of deployment.revisions) {
      const at = dueAt(deployment, revision, clock)
      if (at !== undefined && at <= now && (!next || at < next.at)) next = { revision, at }
    }
    if (!next) return
    next.revision.walk.index += 1
    next.revision.walk.enteredAt = next.at
    entered(deployment, next.revision, next.at)
  }
}
