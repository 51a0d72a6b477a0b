/**
 * What may be submitted to a feedback token: the five fields of the interface document ("Feedback submission
 * payload"), each optional and nullable, with the wider types that the service's own client sends
 * (agent-server.md section 6). Everything else is refused with the items of an `HTTPValidationError`.
 */

/** One item of `detail` in an `HTTPValidationError`, with the `input` that the framework behind it repeats. */
export interface ValidationItem {
  type: string
  loc: (string | number)[]
  msg: string
  input?: unknown
}

/** The submitted fields; one that was left out is left out here too. */
export interface Submission {
  score?: number | boolean | null
  value?: unknown
  comment?: string | null
  correction?: string | Record<string, unknown> | null
  metadata?: Record<string, unknown> | null
}

export type Read = { submission: Submission } | { errors: ValidationItem[] }

interface FieldRule {
  accepts: (value: unknown) => boolean
  type: string
  msg: string
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown) => typeof value === 'string'
const isNumber = (value: unknown) => typeof value === 'number' || typeof value === 'boolean'

const NUMBER: FieldRule = { accepts: isNumber, type: 'float_type', msg: 'Input should be a valid number' }
const SCALAR_OR_OBJECT: FieldRule = {
  accepts: (value) => isNumber(value) || isText(value) || isObject(value),
  type: 'dict_type',
  msg: 'Input should be a number, a boolean, a string or a valid dictionary',
}
const TEXT: FieldRule = { accepts: isText, type: 'string_type', msg: 'Input should be a valid string' }
const OBJECT_OR_TEXT: FieldRule = {
  accepts: (value) => isObject(value) || isText(value),
  type: 'dict_type',
  msg: 'Input should be a valid dictionary or a valid string',
}
const OBJECT: FieldRule = { accepts: isObject, type: 'dict_type', msg: 'Input should be a valid dictionary' }

const FIELDS = new Map<string, FieldRule>([
  ['score', NUMBER],
  ['value', SCALAR_OR_OBJECT],
  ['comment', TEXT],
  ['correction', OBJECT_OR_TEXT],
  ['metadata', OBJECT],
])

/**
 * @param text the body of a POST as it came
 * @param contentType the header, or undefined when there was none
 * @returns the submission, or the items of a 422
 */
export function readBody(text: string, contentType: string | undefined): Read {
  if (text === '') return { errors: [{ type: 'missing', loc: ['body'], msg: 'Field required', input: null }] }
  if (!/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(contentType ?? '')) {
    return { errors: [notAnObject(['body'], text)] }
  }
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return { errors: [{ type: 'json_invalid', loc: ['body', 0], msg: 'JSON decode error', input: {} }] }
  }
  if (!isObject(body)) return { errors: [notAnObject(['body'], body)] }
  return check(body as Record<string, unknown>, 'body')
}

/**
 * The same fields as query parameters of a GET; the last of several with one name counts, and `metadata`, like
 * any other name, is neither refused nor kept (interface document, endpoint 12).
 * `score` is a number, `correction` is JSON, `value` is JSON where it parses as such and else the text itself.
 */
export function readQuery(query: URLSearchParams): Read {
  const fields: Record<string, unknown> = {}
  const errors: ValidationItem[] = []
  const last = (name: string) => query.getAll(name).at(-1)

  const score = last('score')
  if (score !== undefined) {
    const number = readNumber(score)
    if (number === undefined) {
      const msg = 'Input should be a valid number, unable to parse string as a number'
      errors.push({ type: 'float_parsing', loc: ['query', 'score'], msg, input: score })
    } else {
      fields.score = number
    }
  }
  const value = last('value')
  if (value !== undefined) {
    const json = readJson(value)
    fields.value = json === undefined || typeof json === 'string' || Array.isArray(json) ? value : json
  }
  const comment = last('comment')
  if (comment !== undefined) fields.comment = comment
  const correction = last('correction')
  if (correction !== undefined) {
    const json = readJson(correction)
    if (json === undefined) {
      errors.push({
        type: 'json_invalid',
        loc: ['query', 'correction'],
        msg: 'Invalid JSON',
        input: correction,
      })
    } else {
      fields.correction = json
    }
  }
  const checked = check(fields, 'query')
  if ('errors' in checked) errors.push(...checked.errors)
  return errors.length > 0 ? { errors } : checked
}

function check(fields: Record<string, unknown>, where: 'body' | 'query'): Read {
  const errors: ValidationItem[] = []
  for (const [name, value] of Object.entries(fields)) {
    const rule = FIELDS.get(name)
    if (!rule) {
      errors.push({
        type: 'extra_forbidden',
        loc: [where, name],
        msg: 'Extra inputs are not permitted',
        input: value,
      })
    } else if (value !== null && !rule.accepts(value)) {
      errors.push({ type: rule.type, loc: [where, name], msg: rule.msg, input: value })
    }
  }
  return errors.length > 0 ? { errors } : { submission: fields as Submission }
}

function notAnObject(loc: string[], input: unknown): ValidationItem {
  const msg = 'Input should be a valid dictionary or object to extract fields from'
  return { type: 'model_attributes_type', loc, msg, input }
}

/** A decimal number as Python's `float()` and JSON both read it; undefined for anything else, infinities too. */
function readNumber(text: string): number | undefined {
  if (!/^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(text)) return undefined
  const number = Number(text)
  return Number.isFinite(number) ? number : undefined
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
