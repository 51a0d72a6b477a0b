/** Scripts for revisions that are yet to be made, and for sandboxes (design, section 5). */

import type { Step } from '../control-plane/walk.ts'
import { newId } from '../ids.ts'
import {
  bool,
  type Check,
  type Issue,
  isObject,
  type Loc,
  list,
  nullable,
  number,
  object,
  optional,
  required,
  text,
} from '../wire/schema.ts'

export interface RevisionScript {
  deployment?: string | undefined
  statuses?: Step[] | undefined
  logs?: string[] | undefined
  commit?: string | undefined
  active?: boolean | undefined
}

export interface SandboxScript {
  name: string
  template_name?: string | undefined
  statuses?: Step[] | undefined
  status_message?: string | null | undefined
}

function step(value: unknown, loc: Loc, issues: Issue[]): Step {
  const pair = list((member) => member)(value, loc, issues)
  if (pair === undefined) return undefined as unknown as Step
  if (pair.length !== 2) {
    issues.push({ type: 'value_error', loc, msg: 'Input should be a pair: a status, and seconds or null' })
    return undefined as unknown as Step
  }
  text({ min: 1 })(pair[0], [...loc, 0], issues)
  nullable(number({ min: 0 }))(pair[1], [...loc, 1], issues)
  return pair as unknown as Step
}

const pairs = list(step, { min: 1 })

/** Nothing comes after a status that stays. */
const steps: Check<Step[]> = (value, loc, issues) => {
  const found = pairs(value, loc, issues)
  const stays = found?.findIndex((pair) => pair?.[1] === null) ?? -1
  if (stays >= 0 && stays < found.length - 1) {
    const msg = 'Input should be seconds, as another status follows: null stays for good'
    issues.push({ type: 'value_error', loc: [...loc, stays, 1], msg })
  }
  return found
}

const scriptFields = object({
  deployment: optional(text({ min: 1 })),
  statuses: optional(steps),
  logs: optional(list(text())),
  commit: optional(text({ pattern: /^[0-9a-f]{40}$/ })),
  active: optional(bool),
})

const SAYS = ['statuses', 'logs', 'commit', 'active']

export const revisionScript: Check<RevisionScript> = (value, loc, issues) => {
  const script = scriptFields(value, loc, issues)
  if (isObject(value) && !SAYS.some((name) => Object.hasOwn(value, name))) {
    const msg = `Input should say at least one of ${SAYS.join(', ')}, or sandbox`
    issues.push({ type: 'value_error', loc, msg })
  }
  return script
}

export const sandboxScenario = object({
  sandbox: required(
    object({
      name: required(text({ min: 1 })),
      template_name: optional(text({ min: 1 })),
      statuses: optional(steps),
      status_message: optional(nullable(text())),
    }),
  ),
})

interface Waiting {
  id: string
  script: RevisionScript
}

/** A script that only says which commit a branch has: may stand beside one that says how the revision walks. */
function isCommitOnly(script: RevisionScript): boolean {
  return script.statuses === undefined && script.logs === undefined && script.active === undefined
}

export class Scenarios {
  #waiting: Waiting[] = []

  add(script: RevisionScript): string {
    const id = newId()
    this.#waiting.push({ id, script })
    return id
  }

  clear(): void {
    this.#waiting = []
  }

  entries(): object[] {
    return this.#waiting.map(({ id, script }) => ({ id, ...script }))
  }

  /**
   * What was scripted for the next revision of this deployment: the first that fits, joined with the first
   * that fits and only names a commit. Each serves one revision.
   */
  take(name: string): RevisionScript {
    const walk = this.#remove(name, (script) => !isCommitOnly(script))
    const commit = walk.commit === undefined ? this.#remove(name, isCommitOnly) : {}
    return { ...walk, ...commit }
  }

  #remove(name: string, wanted: (script: RevisionScript) => boolean): RevisionScript {
    const index = this.#waiting.findIndex(
      ({ script }) => (script.deployment === undefined || script.deployment === name) && wanted(script),
    )
    return index < 0 ? {} : (this.#waiting.splice(index, 1)[0]?.script ?? {})
  }
}
