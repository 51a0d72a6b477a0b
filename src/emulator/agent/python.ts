/**
 * How Python prints a JSON value with `repr`: the graphs `interrupting` and `ctxecho` answer with it, and
 * some error texts quote it. Floats without a fraction cannot be told from integers after JSON.parse.
 */
export function pythonRepr(value: unknown): string {
  if (value === null || value === undefined) return 'None'
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') return quote(value)
  if (Array.isArray(value)) return `[${value.map(pythonRepr).join(', ')}]`
  const items = Object.entries(value).map(([key, item]) => `${quote(key)}: ${pythonRepr(item)}`)
  return `{${items.join(', ')}}`
}

/** How Python prints a JSON value with `str`: as `repr`, but a text as it is. */
export function pythonStr(value: unknown): string {
  return typeof value === 'string' ? value : pythonRepr(value)
}

function quote(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'"
  let out = ''
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0
    if (char === mark || char === '\\') out += `\\${char}`
    else if (char === '\n') out += '\\n'
    else if (char === '\r') out += '\\r'
    else if (char === '\t') out += '\\t'
    else if (code < 0x20 || (code >= 0x7f && code < 0xa0)) out += `\\x${code.toString(16).padStart(2, '0')}`
    else if (code === 0x2028 || code === 0x2029) out += `\\u${code.toString(16)}`
    else out += char
  }
  return `${mark}${out}${mark}`
}
