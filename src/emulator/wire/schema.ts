/**
 * Checks of request bodies that answer as the service's framework does: every fault at once, each as
 * `{loc, msg, type}` (interface document, "Validation error").
 */
import { isUuid } from '../ids.ts'

export type Loc = readonly (string | number)[]

export interface Issue {
  type: string
  loc: Loc
  msg: string
}

/** Looks at a value, adds what is wrong to `issues`, and gives the value back. */
export type Check<T> = (value: unknown, loc: Loc, issues: Issue[]) => T

type Field<T> = { check: Check<T>; required: boolean }
type Fields = Record<string, Field<unknown>>
type ValueOf<F> = F extends Field<infer T> ? T : never
export type Parsed<F extends Fields> = { [K in keyof F]: ValueOf<F[K]> }

function wrong<T>(issues: Issue[], loc: Loc, type: string, msg: string): T {
  issues.push({ type, loc, msg })
  return undefined as T
}

export function required<T>(check: Check<T>): Field<T> {
  return { check, required: true }
}

export function optional<T>(check: Check<T>): Field<T | undefined> {
  return { check, required: false }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An object with these fields and no others. */
export function object<F extends Fields>(fields: F): Check<Parsed<F>> {
  return (value, loc, issues) => {
    if (!isObject(value)) {
      const msg = 'Input should be a valid dictionary or object to extract fields from'
      return wrong(issues, loc, 'model_attributes_type', msg)
    }
    const parsed: Record<string, unknown> = {}
    for (const [name, field] of Object.entries(fields)) {
      if (Object.hasOwn(value, name)) parsed[name] = field.check(value[name], [...loc, name], issues)
      else if (field.required) wrong(issues, [...loc, name], 'missing', 'Field required')
    }
    for (const name of Object.keys(value)) {
      if (!Object.hasOwn(fields, name)) {
        wrong(issues, [...loc, name], 'extra_forbidden', 'Extra inputs are not permitted')
      }
    }
    return parsed as Parsed<F>
  }
}

export function nullable<T>(check: Check<T>): Check<T | null> {
  return (value, loc, issues) => (value === null ? null : check(value, loc, issues))
}

export function text(rule: { min?: number; max?: number; pattern?: RegExp } = {}): Check<string> {
  return (value, loc, issues) => {
    if (typeof value !== 'string') return wrong(issues, loc, 'string_type', 'Input should be a valid string')
    const { min = 0, max = Number.POSITIVE_INFINITY, pattern } = rule
    if (value.length < min) {
      const letters = min === 1 ? 'character' : 'characters'
      return wrong(issues, loc, 'string_too_short', `String should have at least ${min} ${letters}`)
    }
    if (value.length > max) {
      return wrong(issues, loc, 'string_too_long', `String should have at most ${max} characters`)
    }
    if (pattern && !pattern.test(value)) {
      return wrong(issues, loc, 'string_pattern_mismatch', `String should match pattern '${pattern.source}'`)
    }
    return value
  }
}

export const bool: Check<boolean> = (value, loc, issues) =>
  typeof value === 'boolean' ? value : wrong(issues, loc, 'bool_type', 'Input should be a valid boolean')

export function number(
  rule: { min?: number; max?: number; above?: number; whole?: boolean } = {},
): Check<number> {
  return (value, loc, issues) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) {
      return rule.whole
        ? wrong(issues, loc, 'int_type', 'Input should be a valid integer')
        : wrong(issues, loc, 'float_type', 'Input should be a valid number')
    }
    if (rule.whole && !Number.isInteger(value)) {
      const msg = 'Input should be a valid integer, got a number with a fractional part'
      return wrong(issues, loc, 'int_from_float', msg)
    }
    if (rule.min !== undefined && value < rule.min) {
      const msg = `Input should be greater than or equal to ${rule.min}`
      return wrong(issues, loc, 'greater_than_equal', msg)
    }
    if (rule.above !== undefined && value <= rule.above) {
      return wrong(issues, loc, 'greater_than', `Input should be greater than ${rule.above}`)
    }
    if (rule.max !== undefined && value > rule.max) {
      return wrong(issues, loc, 'less_than_equal', `Input should be less than or equal to ${rule.max}`)
    }
    return value
  }
}

export function literal<T extends string>(...words: readonly T[]): Check<T> {
  const quoted = words.map((word) => `'${word}'`)
  const last = quoted.at(-1)
  const expected = quoted.length > 1 ? `${quoted.slice(0, -1).join(', ')} or ${last}` : last
  return (value, loc, issues) =>
    (words as readonly unknown[]).includes(value)
      ? (value as T)
      : wrong(issues, loc, 'literal_error', `Input should be ${expected}`)
}

export const uuid: Check<string> = (value, loc, issues) => {
  if (typeof value !== 'string') {
    return wrong(issues, loc, 'uuid_type', 'UUID input should be a string, bytes or UUID object')
  }
  return isUuid(value) ? value : wrong(issues, loc, 'uuid_parsing', 'Input should be a valid UUID')
}

export function list<T>(item: Check<T>, rule: { max?: number; min?: number } = {}): Check<T[]> {
  return (value, loc, issues) => {
    if (!Array.isArray(value)) return wrong(issues, loc, 'list_type', 'Input should be a valid list')
    const size = `after validation, not ${value.length}`
    if (rule.max !== undefined && value.length > rule.max) {
      return wrong(issues, loc, 'too_long', `List should have at most ${rule.max} items ${size}`)
    }
    if (rule.min !== undefined && value.length < rule.min) {
      return wrong(issues, loc, 'too_short', `List should have at least ${rule.min} item ${size}`)
    }
    return value.map((member, index) => item(member, [...loc, index], issues))
  }
}

/** A mapping with any names whose values all pass. */
export function mapping<T>(item: Check<T>): Check<Record<string, T>> {
  return (value, loc, issues) => {
    if (!isObject(value)) return wrong(issues, loc, 'dict_type', 'Input should be a valid dictionary')
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, item(member, [...loc, name], issues)]),
    )
  }
}

export const anything: Check<unknown> = (value) => value

/** The first of these that finds nothing wrong; else what the last one found. */
export function either<A, B>(first: Check<A>, second: Check<B>): Check<A | B> {
  return (value, loc, issues) => {
    const found: Issue[] = []
    const parsed = first(value, loc, found)
    return found.length === 0 ? parsed : second(value, loc, issues)
  }
}
