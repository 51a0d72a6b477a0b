import { describe, expect, it } from '@jest/globals'
import { CUT_MARK, shorten } from '../../src/base/text.ts'
import { escapeMarkdown } from '../../src/runner/markdown.ts'
import { Secrets } from '../../src/runner/secrets.ts'

function make() {
  const registered: string[] = []
  const short: string[] = []
  const secrets = new Secrets({
    register: (line) => registered.push(line),
    tooShort: (from) => short.push(from),
  })
  return { secrets, registered, short }
}

const AWKWARD = `pä"ss w/o+r&d<'x'>=(é!)*`

describe('masks', () => {
  it('registers a value of several lines line by line, trimmed, never whole', () => {
    const { secrets, registered, short } = make()
    secrets.mask('-----BEGIN KEY-----\r\n  MIIEvQIBADAN\n}\n\nlast-line-here', 'KEY')
    expect(registered).toEqual(['-----BEGIN KEY-----', 'MIIEvQIBADAN', 'last-line-here'])
    expect(short).toEqual([])
  })

  it.each(['1', '{', 'abcde', '  abc  '])(
    'neither registers nor redacts the short value %j, and names it',
    (value) => {
      const { secrets, registered, short } = make()
      secrets.mask(value, 'TOKEN')
      expect(registered).toEqual([])
      expect(short).toEqual(['TOKEN'])
      expect(secrets.redact(`it is ${value} there`)).toBe(`it is ${value} there`)
    },
  )

  it('says nothing of an empty value', () => {
    const { secrets, short } = make()
    secrets.mask('')
    secrets.mask('\n')
    expect(short).toEqual([])
  })

  it('counts characters, not UTF-16 units', () => {
    const { secrets, registered } = make()
    secrets.mask('😀😀😀')
    expect(registered).toEqual([])
    expect(secrets.redact('😀😀😀😀')).toBe('😀😀😀😀')
    secrets.mask('😀😀😀😀😀😀')
    expect(secrets.redact('a😀😀😀😀😀😀b')).toBe('a***b')
  })

  it('tells by its name which secret is part of a text, in any encoding and any line', () => {
    const { secrets } = make()
    secrets.mask('first-value', 'secrets (A)')
    secrets.mask('one-line-of-it\nsecond/line of it', 'secrets (B)')
    secrets.mask('without-a-name')
    expect(secrets.nameIn('x first-value y')).toBe('secrets (A)')
    expect(secrets.nameIn(`x ${encodeURIComponent('second/line of it')} y`)).toBe('secrets (B)')
    expect(secrets.nameIn('x without-a-name y')).toBeUndefined()
    expect(secrets.contains('x without-a-name y')).toBe(true)
  })

  it('registers a value once', () => {
    const { secrets, registered } = make()
    secrets.mask('same-value')
    secrets.mask('same-value')
    expect(registered).toEqual(['same-value'])
  })

  it('does not register what it only hides, but redacts it', () => {
    const { secrets, registered } = make()
    secrets.hide('read-from-service')
    expect(registered).toEqual([])
    expect(secrets.redact('x read-from-service y')).toBe('x *** y')
    expect(secrets.contains('x read-from-service y')).toBe(false)
  })
})

describe('redact', () => {
  const json = JSON.stringify(AWKWARD)
  const forms: Record<string, string> = {
    plain: AWKWARD,
    JSON: json,
    'JSON in JSON': JSON.stringify(json),
    'JSON in ASCII': json.replace(
      /[^ -~]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
    'JSON of Go': json.replace(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`),
    base64: Buffer.from(AWKWARD).toString('base64'),
    'base64 after one byte': Buffer.from(`:${AWKWARD}:`).toString('base64'),
    'base64 after two bytes': Buffer.from(`id${AWKWARD}`).toString('base64'),
    base64url: Buffer.from(AWKWARD).toString('base64url'),
    'base64url after five bytes': Buffer.from(`user:${AWKWARD} and more`).toString('base64url'),
    encodeURIComponent: encodeURIComponent(AWKWARD),
    'percent, lower case': encodeURIComponent(AWKWARD).replace(/%../g, (hex) => hex.toLowerCase()),
    'percent of .NET': encodeURIComponent(AWKWARD).replace(
      /[!'()*]/g,
      (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
    ),
    'a path of a URL': encodeURI(AWKWARD),
    form: new URLSearchParams({ a: AWKWARD }).toString(),
    XML: AWKWARD.replace(
      /[&<>"']/g,
      (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c] ?? '&apos;',
    ),
  }
  it.each(Object.entries(forms))('finds a secret as %s', (_, form) => {
    const { secrets } = make()
    secrets.mask(AWKWARD)
    const out = secrets.redact(`before ${form} after`)
    expect(out).toContain('***')
    expect(out.startsWith('before ')).toBe(true)
    expect(out.endsWith(' after')).toBe(true)
    // What is left besides the stars is quotes, a name, and the characters of base64 that share bits.
    expect(out.replace('before ', '').replace(' after', '').replace('***', '').length).toBeLessThanOrEqual(20)
    for (const part of ['ss w', 'o+r', 'w/o', 'x', 'é', 'cyB3']) {
      expect(out.replace('before ', '').replace(' after', '')).not.toContain(part)
    }
  })

  it('finds every line of a value of several lines, and the whole of it encoded', () => {
    const { secrets } = make()
    const value = 'first-line\nsecond-line'
    secrets.mask(value)
    expect(secrets.redact('a second-line b first-line c')).toBe('a *** b *** c')
    expect(secrets.redact(JSON.stringify(value))).toBe('"***"')
    expect(secrets.redact(Buffer.from(value).toString('base64'))).toBe('***')
  })

  it('takes the longest, and leaves no rest of two that overlap', () => {
    const { secrets } = make()
    for (const value of ['secret', 'secret-long-one', 'abcdef', 'defghi']) secrets.mask(value)
    expect(secrets.redact('my secret-long-one!')).toBe('my ***!')
    expect(secrets.redact('xabcdefghix')).toBe('x***x')
  })

  it('finds the first half of a secret in front of a cut', () => {
    const { secrets } = make()
    const value = 'canary-0123456789-canary'
    secrets.mask(value)
    const text = shorten(`${'x'.repeat(90)}${value} and so on`, 100)
    expect(text).toContain('canary-012')
    expect(secrets.redact(text)).toBe(`${'x'.repeat(90)}***${CUT_MARK}${90 + value.length + 10} characters)`)
    expect(secrets.redact('a canary-012')).toBe('a canary-012')
  })

  it('leaves our own ids, URLs and words whole', () => {
    const { secrets } = make()
    secrets.keep('https://my-agent-prod.example.com/d/1')
    secrets.keep('deployed')
    secrets.hide('my-agent-prod')
    secrets.hide('deployed')
    expect(secrets.redact('deployed at https://my-agent-prod.example.com/d/1, says my-agent-prod')).toBe(
      'deployed at https://my-agent-prod.example.com/d/1, says ***',
    )
  })

  it.each(['-abc*def', '_abc*def_', '1. a|b|c', '# a[b]c', '$a$b$c$', 'a<b>&c', 'x@y#1z'])(
    'finds %j in our own Markdown, wherever it stands',
    (value) => {
      const { secrets } = make()
      secrets.mask(value)
      for (const [before, after] of [
        ['', ''],
        ['key=', ''],
        ['key ', ' x'],
        ['k', 'k'],
        ['(', ')'],
        ['a\n', '\nb'],
      ] as const) {
        expect(secrets.redact(escapeMarkdown(`${before}${value}${after}`))).toContain('***')
      }
    },
  )

  it('gives a text without a secret back as it is', () => {
    const { secrets } = make()
    expect(secrets.redact('nothing here')).toBe('nothing here')
    secrets.mask('something')
    expect(secrets.redact('nothing here')).toBe('nothing here')
    expect(secrets.redact('')).toBe('')
  })

  it('passes lone surrogates and values that are no regular expression', () => {
    const { secrets } = make()
    secrets.mask('\ud800(.*)+[a\\')
    expect(secrets.redact('x \ud800(.*)+[a\\ y')).toBe('x *** y')
  })

  it('redacts 5 MB with 100 secrets that share their beginning', () => {
    const { secrets } = make()
    const values = Array.from(
      { length: 100 },
      (_, index) => `lsv2_pt_${index.toString(36)}_${'k'.repeat(index % 40)}${index}`,
    )
    for (const value of values) secrets.mask(value)
    const line = `${'the quick brown fox lsv2_pt_ jumps over the lazy dog '.repeat(3)}${values[7]}\n`
    const count = Math.ceil(5_000_000 / line.length)
    const redacted = secrets.redact(line.repeat(count))
    expect(redacted).not.toContain(values[7])
    expect(redacted.split('***')).toHaveLength(count + 1)
  })
})
