/** Scripted faults: which request is hit, and with what (design, section 5; the shapes are public). */
import { newId } from '../ids.ts'
import {
  anything,
  type Check,
  type Issue,
  isObject,
  type Loc,
  literal,
  mapping,
  nullable,
  number,
  object,
  optional,
  required,
  text,
} from '../wire/schema.ts'

export type Effect =
  | { status: number; body?: unknown; headers?: Record<string, string> }
  | { delayMs: number }
  | { reset: 'before' | 'after' }
  | { stream: 'cut' | 'endless' }
  | { trickleMs: number }
  | { redirect: string }
  | { bomb: 'plain' | 'gzip' }

export interface FaultSpec {
  method?: string | undefined
  path: string
  after?: number | undefined
  times?: number | null | undefined
  effect: Effect
}

interface Fault {
  id: string
  method: string | undefined
  path: string
  matches: RegExp
  after: number
  /** null: until cleared. */
  times: number | null
  effect: Effect
  seen: number
  hits: number
}

const milliseconds = number({ min: 0, max: 3_600_000 })

const EFFECTS: Record<string, Check<unknown>> = {
  status: object({
    status: required(number({ whole: true, min: 200, max: 599 })),
    body: optional(anything),
    headers: optional(mapping(text())),
  }),
  delayMs: object({ delayMs: required(milliseconds) }),
  reset: object({ reset: required(literal('before', 'after')) }),
  stream: object({ stream: required(literal('cut', 'endless')) }),
  trickleMs: object({ trickleMs: required(milliseconds) }),
  redirect: object({ redirect: required(text({ min: 1 })) }),
  bomb: object({ bomb: required(literal('plain', 'gzip')) }),
}

function effect(value: unknown, loc: Loc, issues: Issue[]): Effect {
  const kinds = isObject(value) ? Object.keys(EFFECTS).filter((kind) => Object.hasOwn(value, kind)) : []
  const check = kinds.length === 1 ? EFFECTS[kinds[0] ?? ''] : undefined
  if (check) return check(value, loc, issues) as Effect
  issues.push({
    type: 'value_error',
    loc,
    msg: `Input should be an object with exactly one of ${Object.keys(EFFECTS).join(', ')}`,
  })
  return undefined as unknown as Effect
}

export const faultSpec: Check<FaultSpec> = object({
  method: optional(text({ pattern: /^(\*|[A-Za-z]+)$/ })),
  path: required(text({ pattern: /^(\/|\*)/ })),
  after: optional(number({ whole: true, min: 0 })),
  times: optional(nullable(number({ whole: true, min: 1 }))),
  effect: required(effect),
})

/** `*` is anything but a slash, `**` (and a `*` that is the whole glob) anything at all, `?` one character that is no slash. */
export function globPattern(glob: string): RegExp {
  const source = (glob === '*' ? '**' : glob).replace(/\*\*|[*?]|[.+^${}()|[\]\\]/g, (found) => {
    if (found === '**') return '.*'
    if (found === '*') return '[^/]*'
    return found === '?' ? '[^/]' : `\\${found}`
  })
  return new RegExp(`^${source}$`, 's')
}

export class Faults {
  #faults: Fault[] = []

  add(spec: FaultSpec): string {
    const fault: Fault = {
      id: newId(),
      method: spec.method === undefined || spec.method === '*' ? undefined : spec.method.toUpperCase(),
      path: spec.path,
      matches: globPattern(spec.path),
      after: spec.after ?? 0,
      times: spec.times === undefined ? 1 : spec.times,
      effect: spec.effect,
      seen: 0,
      hits: 0,
    }
    this.#faults.push(fault)
    return fault.id
  }

  clear(): void {
    this.#faults = []
  }

  entries(): object[] {
    return this.#faults.map(({ matches: _matches, ...rest }) => rest)
  }

  /** The effect that this request gets, if any; it counts as one of the fault's `times`. */
  take(method: string, path: string): Effect | undefined {
    for (const fault of this.#faults) {
      if (fault.method !== undefined && fault.method !== method) continue
      if (!fault.matches.test(path) || (fault.times !== null && fault.hits >= fault.times)) continue
      fault.seen += 1
      if (fault.seen <= fault.after) continue
      fault.hits += 1
      return fault.effect
    }
    return undefined
  }
}
