import { isMap, isScalar, isSeq, parseDocument } from 'yaml'

const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/
const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)$/

/**
 * A decimal as JSON: as it was written where JSON takes it (`0.50`), else the same number (`+1`, `.5`, `007`).
 * @returns undefined when it is no decimal
 */
export function numberText(text: string): string | undefined {
  if (!DECIMAL.test(text)) return undefined
  return JSON_NUMBER.test(text) ? text : String(Number(text))
}

/** A number as `numberText` takes it, or JSON as it is. */
export function jsonText(text: string): string | undefined {
  return isJson(text) ? text : numberText(text)
}

/**
 * A JSON mapping as it is, character by character; a YAML mapping as JSON with its keys in their order and its
 * numbers as they were written. Through a JavaScript object, keys such as `10` would change places.
 * @returns undefined when it is no mapping
 */
export function mappingText(text: string): string | undefined {
  if (isJson(text)) return text.startsWith('{') ? text : undefined
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'silent' })
  if (document.errors.length > 0 || !isMap(document.contents)) return undefined
  try {
    // Aliases and tags are resolved by yaml's own conversion; what it cannot convert throws.
    const whole: unknown = document.toJS({ mapAsMap: true })
    return toJson(document.contents, whole)
  } catch {
    return undefined
  }
}

/** @param node the place in the document, for a number's own spelling; undefined behind an alias */
function toJson(node: unknown, value: unknown): string {
  if (value instanceof Map) {
    const members = [...value].map(([key, item], index) => {
      const pair = isMap(node) ? node.items[index] : undefined
      return `${JSON.stringify(String(key))}:${toJson(pair?.value, item)}`
    })
    return `{${members.join(',')}}`
  }
  if (Array.isArray(value)) {
    return `[${value.map((item, index) => toJson(isSeq(node) ? node.items[index] : undefined, item)).join(',')}]`
  }
  if (typeof value === 'number') {
    const source = isScalar(node) && typeof node.source === 'string' ? node.source : ''
    if (JSON_NUMBER.test(source)) return source
    if (!Number.isFinite(value)) throw new RangeError('no JSON number')
  }
  const json: string | undefined = JSON.stringify(value)
  if (json === undefined) throw new TypeError('no JSON value')
  return json
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
