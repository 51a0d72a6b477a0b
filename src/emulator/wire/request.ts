/** Reads what a request carries, refusing it as the service's framework does. */

import { isUuid } from '../ids.ts'
import { invalid } from './problem.ts'
import type { Check, Issue, Loc } from './schema.ts'

/**
 * The JSON body, checked. An empty one counts as `{}` where `emptyAllowed`.
 * @throws Problem 422 with everything that is wrong.
 */
export async function readBody<T>(request: Request, check: Check<T>, emptyAllowed = false): Promise<T> {
  return checked(await readJson(request, emptyAllowed), check, ['body'])
}

export function checked<T>(value: unknown, check: Check<T>, loc: Loc): T {
  const issues: Issue[] = []
  const parsed = check(value, loc, issues)
  if (issues.length > 0) throw invalid(issues)
  return parsed
}

async function readJson(request: Request, emptyAllowed: boolean): Promise<unknown> {
  const source = await request.text()
  if (source === '') {
    if (emptyAllowed) return {}
    throw invalid([{ type: 'missing', loc: ['body'], msg: 'Field required' }])
  }
  const type = request.headers.get('content-type') ?? 'application/json'
  // Another content type reaches the framework's model as plain text.
  if (!/^application\/([\w.-]+\+)?json\b/i.test(type)) return source
  try {
    return JSON.parse(source)
  } catch {
    throw invalid([{ type: 'json_invalid', loc: ['body', 0], msg: 'JSON decode error' }])
  }
}

export function pathUuid(value: string | undefined, name: string): string {
  if (value !== undefined && isUuid(value)) return value.toLowerCase()
  throw invalid([{ type: 'uuid_parsing', loc: ['path', name], msg: 'Input should be a valid UUID' }])
}

/** Query parameters, read one by one; `finish` throws what was wrong with any of them. */
export class Query {
  readonly #params: URLSearchParams
  readonly #issues: Issue[] = []

  constructor(url: string) {
    this.#params = new URL(url).searchParams
  }

  text(name: string): string | undefined {
    return this.#params.get(name) ?? undefined
  }

  all(name: string): string[] {
    return this.#params.getAll(name)
  }

  whole(name: string, rule: { min: number; max?: number; fallback: number }): number {
    const raw = this.#params.get(name)
    if (raw === null) return rule.fallback
    const value = Number(raw)
    if (!/^[+-]?\d+$/.test(raw.trim())) {
      this.#add(name, 'int_parsing', 'Input should be a valid integer, unable to parse string as an integer')
    } else if (value < rule.min) {
      this.#add(name, 'greater_than_equal', `Input should be greater than or equal to ${rule.min}`)
    } else if (rule.max !== undefined && value > rule.max) {
      this.#add(name, 'less_than_equal', `Input should be less than or equal to ${rule.max}`)
    }
    return value
  }

  flag(name: string): boolean {
    const raw = this.#params.get(name)
    if (raw === null) return false
    if (/^(true|1|yes|on|t|y)$/i.test(raw)) return true
    if (/^(false|0|no|off|f|n)$/i.test(raw)) return false
    this.#add(name, 'bool_parsing', 'Input should be a valid boolean, unable to interpret input')
    return false
  }

  oneOf<T extends string>(name: string, words: readonly T[], fallback?: T): T {
    const raw = this.#params.get(name)
    if (raw === null && fallback !== undefined) return fallback
    if (raw === null) this.#add(name, 'missing', 'Field required')
    else if (!(words as readonly string[]).includes(raw)) {
      this.#add(name, 'literal_error', `Input should be ${words.map((word) => `'${word}'`).join(' or ')}`)
    }
    return raw as T
  }

  finish(): void {
    if (this.#issues.length > 0) throw invalid(this.#issues)
  }

  #add(name: string, type: string, msg: string): void {
    this.#issues.push({ type, loc: ['query', name], msg })
  }
}
