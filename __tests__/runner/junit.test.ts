import { describe, expect, it } from '@jest/globals'
import { renderJunit } from '../../src/runner/junit.ts'

const HOSTILE = [
  ']]>',
  '</failure><failure>',
  '"><x y="',
  "' & &amp; &#0; &bogus;",
  '\u0000\u0008\u001b[31m\u000b\ufffe\uffff',
  '\ud800 lone \udc00',
  '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY y "z">]>',
  '<!-- -- -->',
  'é 👩‍👩‍👧 \u2028',
  'line\r\nbreak\ttab',
]

/** A reader of the XML that we write: elements, attributes, text; throws where it is not well-formed. */
function parse(xml: string): { name: string; attributes: Record<string, string>; text: string }[] {
  const found: { name: string; attributes: Record<string, string>; text: string }[] = []
  const open: { name: string; attributes: Record<string, string>; text: string }[] = []
  const decode = (text: string): string => {
    if (/&(?!(amp|lt|gt|quot|#39|#10|#9);)/.test(text)) throw new Error(`bad reference in ${text}`)
    const named: Record<string, string> = {
      amp: '&',
      lt: '<',
      gt: '>',
      quot: '"',
      '#39': "'",
      '#10': '\n',
      '#9': '\t',
    }
    return text.replace(/&([^;]+);/g, (_, name: string) => named[name] ?? '')
  }
  if (/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(xml))
    throw new Error('a character that XML has not')
  let at = xml.indexOf('?>') + 2
  while (at < xml.length) {
    const next = xml.indexOf('<', at)
    const text = xml.slice(at, next < 0 ? xml.length : next)
    if (text.includes('>')) throw new Error(`stray > in ${text}`)
    const top = open.at(-1)
    if (top !== undefined) top.text += decode(text)
    else if (text.trim() !== '') throw new Error(`text outside: ${text}`)
    if (next < 0) break
    const end = xml.indexOf('>', next)
    const tag = xml.slice(next + 1, end)
    at = end + 1
    if (tag.startsWith('/')) {
      if (open.pop()?.name !== tag.slice(1)) throw new Error(`unexpected end ${tag}`)
      continue
    }
    const match = /^([a-z-]+)((?: [a-z]+="[^"<]*")*)$/.exec(tag)
    if (match === null) throw new Error(`bad tag ${tag}`)
    const attributes = Object.fromEntries(
      [...(match[2] ?? '').matchAll(/ ([a-z]+)="([^"]*)"/g)].map(([, name, value]) => [
        name,
        decode(value ?? ''),
      ]),
    )
    const element = { name: match[1] ?? '', attributes, text: '' }
    found.push(element)
    open.push(element)
  }
  if (open.length > 0) throw new Error('not closed')
  return found
}

describe('renderJunit', () => {
  it('tells counts, times, reasons and what was said', () => {
    const elements = parse(
      renderJunit('agent', [
        { name: 'a', verdict: 'passed', reason: '', seconds: 1.5, said: 'Hello & bye' },
        {
          name: 'b',
          verdict: 'failed',
          reason: 'no answer',
          hint: 'Look.',
          seconds: 0.25,
          warnings: ['slow'],
        },
      ]),
    )
    expect(elements.map((element) => element.name)).toEqual([
      'testsuites',
      'testsuite',
      'testcase',
      'system-out',
      'testcase',
      'failure',
      'system-err',
    ])
    expect(elements[1]?.attributes).toEqual({
      name: 'agent',
      tests: '2',
      failures: '1',
      errors: '0',
      skipped: '0',
      time: '1.750',
    })
    expect(elements[3]?.text).toBe('Hello & bye')
    expect(elements[5]).toMatchObject({
      attributes: { type: 'failed', message: 'no answer' },
      text: 'no answer\nLook.',
    })
  })

  it.each(HOSTILE.map((text) => [JSON.stringify(text), text]))(
    'is well-formed with %s everywhere',
    (_, text) => {
      const xml = renderJunit(text, [
        {
          name: text,
          verdict: text,
          reason: text,
          hint: text,
          seconds: Number.NaN,
          said: text,
          warnings: [text, text],
        },
      ])
      expect(() => parse(xml)).not.toThrow()
      expect(parse(xml)).toHaveLength(6)
    },
  )

  it('gives ordinary characters back as they were', () => {
    const name = 'says "hi" & <bye> \'x\' é👍\nnext\ttab'
    expect(
      parse(renderJunit('s', [{ name, verdict: 'passed', reason: '', seconds: 0 }]))[2]?.attributes['name'],
    ).toBe(name)
  })

  it('takes secrets out before it escapes', () => {
    const redact = (text: string): string => text.replaceAll('<secret&>', '***')
    const xml = renderJunit(
      's',
      [{ name: '<secret&>', verdict: 'failed', reason: '<secret&>', seconds: 0, said: '<secret&>' }],
      redact,
    )
    expect(xml).not.toContain('secret')
    expect(xml.match(/\*\*\*/g)).toHaveLength(4)
  })

  it('is a whole document without cases', () => {
    expect(parse(renderJunit('s', []))).toHaveLength(2)
  })
})
