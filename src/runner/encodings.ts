import { escape as markdown } from './markdown.ts'
import { escapeXml } from './xml.ts'

/**
 * The forms in which a server may echo a value: as it is, and escaped for JSON (also twice, and as Python
 * and Go write it), base64, base64url, percent-encoded, form-encoded, XML, and our own Markdown.
 * @param value not empty
 * @returns the forms, each once; the value itself is one of them
 */
export function encodings(value: string): Set<string> {
  const forms = new Set<string>([value])
  for (const json of jsonForms(value)) {
    forms.add(json)
    forms.add(jsonEscape(json))
  }
  for (const form of [...base64Forms(value), ...percentForms(value), ...markupForms(value)]) forms.add(form)
  return forms
}

function jsonEscape(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function jsonForms(value: string): string[] {
  const plain = jsonEscape(value)
  const unicode = (pattern: RegExp, text: string): string =>
    text.replace(pattern, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return [
    plain,
    // Python's json.dumps keeps to ASCII, Go's encoding/json escapes HTML, PHP's the slash.
    unicode(/[\u007f-\uffff]/g, plain),
    unicode(/[<>&\u2028\u2029]/g, plain),
    plain.replaceAll('/', '\\/'),
    // Python's repr(): quotes stay.
    value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t'),
  ]
}

/**
 * A value inside a longer text that was encoded as a whole stands at one of three offsets; the characters at
 * its ends that share bits with the neighbours are left out.
 */
function base64Forms(value: string): string[] {
  const bytes = Buffer.from(value, 'utf8')
  const whole = bytes.toString('base64')
  const forms = [whole]
  for (const shift of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64')
    forms.push(encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((bytes.length + shift) * 8) / 6)))
  }
  return [...forms, ...forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))]
}

function percentForms(value: string): string[] {
  const well = value.toWellFormed()
  const component = encodeURIComponent(well)
  // RFC 3986, as .NET's Uri.EscapeDataString and Python's quote(safe='').
  const strict = component.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
  const upper = [
    component,
    strict,
    strict.replaceAll('%2F', '/'),
    encodeURI(well),
    new URLSearchParams({ '': well }).toString().slice(1),
    component.replaceAll('%20', '+'),
    strict.replaceAll('%20', '+'),
  ]
  return [...upper, ...upper.map((form) => form.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase()))]
}

function markupForms(value: string): string[] {
  const angles = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const quoted = angles.replaceAll('"', '&quot;')
  return [
    angles,
    quoted,
    ...['&#39;', '&apos;', '&#x27;'].map((apostrophe) => quoted.replaceAll("'", apostrophe)),
    escapeXml(value),
    ...markdownForms(value),
  ]
}

/** What our Markdown escapes at a value's ends depends on what stands beside it. */
function markdownForms(value: string): string[] {
  const beside = ['', 'x', '.']
  return beside.flatMap((before) =>
    beside.map((after) => {
      const escaped = markdown(`${before}${value}${after}`)
      return escaped.slice(before.length, escaped.length - after.length)
    }),
  )
}
