import { HttpError, SchemaError } from './errors.ts'

type TypeName = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean' | 'null'

/** The part of JSON Schema that the server's request bodies need. */
export interface Schema {
  type?: TypeName
  required?: readonly string[]
  properties?: Readonly<Record<string, Schema>>
  items?: Schema
  enum?: readonly unknown[]
  minimum?: number
  maximum?: number
  anyOf?: readonly Schema[]
}

type Path = readonly (string | number)[]

interface Fault {
  reason: string
  keyword: string
  /** What the keyword wants: the type, the options, the bound, the missing name. */
  expected: unknown
  schemaPath: Path
  instancePath: Path
  instance: unknown
}

/**
 * Reads a request body as JSON, whatever its content type says. Throws 422 for an empty body, invalid UTF-8, a byte
 * order mark, `NaN` and anything else that JSON does not have (recorded: 2-create-bom, -nan, -badutf8).
 */
export async function readJson(request: Request): Promise<unknown> {
  const bytes = await request.arrayBuffer()
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch {
    throw new HttpError(422, 'Invalid JSON in request body')
  }
}

/**
 * Checks a value against a schema and throws SchemaError with the sentence of the recorded server for its first
 * fault. `base` is the place of the schema in the document that the server names, as in
 * `schema["components"]["schemas"]["RunCreateStateful"]`.
 */
export function validate(value: unknown, schema: Schema, base: Path = []): void {
  const fault = check(value, schema, base, [])
  if (fault === undefined) return
  const at = render(fault.schemaPath)
  const instance = `On instance${render(fault.instancePath)}:\n    ${canonical(fault.instance)}`
  const detail = `${fault.reason}\n\nFailed validating "${fault.keyword}" in schema${at}\n\n${instance}`
  throw new SchemaError(detail, zodIssue(fault))
}

/** A fault as zod 3 tells it, the library of the JavaScript server (recorded from 1.5.1). */
function zodIssue({ keyword, expected, instance, instancePath: path }: Fault): Record<string, unknown> {
  const received = instance === null ? 'null' : Array.isArray(instance) ? 'array' : typeof instance
  if (keyword === 'required') {
    const missing = [...path, expected]
    return {
      code: 'invalid_type',
      expected: 'string',
      received: 'undefined',
      path: missing,
      message: 'Required',
    }
  }
  if (keyword === 'type') {
    const message = `Expected ${expected}, received ${received}`
    return { code: 'invalid_type', expected, received, path, message }
  }
  if (keyword === 'enum') {
    const options = expected as unknown[]
    const listed = options.map((option) => `'${option}'`).join(' | ')
    const message = `Invalid enum value. Expected ${listed}, received '${instance}'`
    return { received: instance, code: 'invalid_enum_value', options, path, message }
  }
  if (keyword === 'anyOf') return { code: 'invalid_union', unionErrors: [], path, message: 'Invalid input' }
  const small = keyword === 'minimum'
  const message = `Number must be ${small ? 'greater' : 'less'} than or equal to ${expected}`
  const bound = small ? { code: 'too_small', minimum: expected } : { code: 'too_big', maximum: expected }
  return { ...bound, type: 'number', inclusive: true, exact: false, message, path }
}

function check(value: unknown, schema: Schema, schemaPath: Path, instancePath: Path): Fault | undefined {
  const fault = (keyword: string, reason: string, expected: unknown): Fault => ({
    reason,
    keyword,
    expected,
    schemaPath,
    instancePath,
    instance: value,
  })
  if (schema.type !== undefined && !isType(value, schema.type)) {
    return fault('type', `${canonical(value)} is not of type "${schema.type}"`, schema.type)
  }
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    return fault('enum', `${canonical(value)} is not one of ${choices(schema.enum)}`, schema.enum)
  }
  if (typeof value === 'number' && schema.minimum !== undefined && value < schema.minimum) {
    return fault('minimum', `${value} is less than the minimum of ${schema.minimum}`, schema.minimum)
  }
  if (typeof value === 'number' && schema.maximum !== undefined && value > schema.maximum) {
    return fault('maximum', `${value} is greater than the maximum of ${schema.maximum}`, schema.maximum)
  }
  const fits = (option: Schema): boolean => check(value, option, [], []) === undefined
  if (schema.anyOf !== undefined && !schema.anyOf.some(fits)) {
    return fault(
      'anyOf',
      `${canonical(value)} is not valid under any of the schemas listed in the 'anyOf' keyword`,
      schema.anyOf,
    )
  }
  if (Array.isArray(value) && schema.items !== undefined) {
    for (const [index, item] of value.entries()) {
      const inner = check(item, schema.items, [...schemaPath, 'items'], [...instancePath, index])
      if (inner !== undefined) return inner
    }
  }
  if (!isType(value, 'object')) return undefined
  const fields = value as Record<string, unknown>
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (!Object.hasOwn(fields, name)) continue
    const inner = check(fields[name], property, [...schemaPath, 'properties', name], [...instancePath, name])
    if (inner !== undefined) return inner
  }
  const missing = schema.required?.find((name) => !Object.hasOwn(fields, name))
  return missing === undefined ? undefined : fault('required', `"${missing}" is a required property`, missing)
}

function isType(value: unknown, type: TypeName): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  if (type === 'integer') return Number.isInteger(value)
  return typeof value === type
}

/** `"a" or "b"`, `"a", "b" or "c"`, `"a", "b" or 3 other candidates`: as the recorded server lists them. */
function choices(options: readonly unknown[]): string {
  const texts = options.map((option) => JSON.stringify(option))
  if (texts.length > 3) return `${texts[0]}, ${texts[1]} or ${texts.length - 2} other candidates`
  if (texts.length === 1) return texts[0] ?? ''
  return `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`
}

/** Compact JSON with sorted keys, as the recorded texts quote a value. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`
}

function render(path: Path): string {
  return path.map((part) => `[${JSON.stringify(part)}]`).join('')
}
