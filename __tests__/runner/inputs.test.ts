import { describe, expect, it } from '@jest/globals'
import { InputError } from '../../src/base/errors.ts'
import { InputReader } from '../../src/runner/inputs.ts'

/** A reader of one input named `x`, and what it faults. */
function read<T>(value: string, get: (reader: InputReader) => T): { got: T; faults: string[] } {
  const reader = new InputReader({ INPUT_X: value })
  const got = get(reader)
  return { got, faults: reader.faults.map((fault) => `${fault.input}: ${fault.message}`) }
}

describe('InputReader', () => {
  it('reads a name as the runner writes it: upper case, spaces as _, dashes kept', () => {
    const reader = new InputReader({ 'INPUT_API-KEY': ' key \n', INPUT_TWO_WORDS: 'b' })
    expect(reader.text('api-key')).toBe('key')
    expect(reader.text('two words')).toBe('b')
  })

  it.each(['', ' ', '\n\t '])('takes %j as not given', (value) => {
    expect(read(value, (reader) => reader.text('x')).got).toBeUndefined()
    expect(read(value, (reader) => reader.number('x', 5)).got).toBe(5)
    expect(read(value, (reader) => reader.boolean('x', true)).got).toBe(true)
    expect(read(value, (reader) => reader.mapping('x')).got).toBeUndefined()
    expect(read(value, (reader) => reader.headers('x')).got).toEqual({})
    expect(read(value, (reader) => reader.required('x'))).toEqual({ got: '', faults: ['x: is required'] })
  })

  it.each([
    ['true', true],
    ['True', true],
    ['TRUE', true],
    ['false', false],
    ['False', false],
    ['FALSE', false],
  ])('reads the boolean %s', (value, expected) => {
    expect(read(value, (reader) => reader.boolean('x', !expected))).toEqual({ got: expected, faults: [] })
    expect(read(value, (reader) => reader.optionalBoolean('x')).got).toBe(expected)
  })

  it.each(['yes', '1', 'on', 'tRUE', '"true"'])('faults the boolean %s', (value) => {
    const { got, faults } = read(value, (reader) => reader.boolean('x', false))
    expect(got).toBe(false)
    expect(faults).toEqual([`x: is ${JSON.stringify(value)}, expected true or false`])
  })

  it.each([
    ['30', 30],
    ['0.5', 0.5],
    ['.5', 0.5],
    ['-1', -1],
    ['+2.', 2],
  ])('reads the number %s', (value, expected) => {
    expect(read(value, (reader) => reader.number('x', 9))).toEqual({ got: expected, faults: [] })
  })

  it.each(['1e3', '0x10', 'NaN', 'Infinity', '1,5', '5 s', '--1', '.', '1 000', '9'.repeat(400)])(
    'faults the number %s',
    (value) => {
      const { got, faults } = read(value, (reader) => reader.number('x', 9))
      expect(got).toBe(9)
      expect(faults).toHaveLength(1)
      expect(faults[0]).toContain('expected a decimal number')
    },
  )

  it('names the range of a number', () => {
    const faults = (value: string, range: object) =>
      read(value, (reader) => reader.number('x', 1, range)).faults
    expect(faults('0', { positive: true })).toEqual(['x: is "0", expected a decimal number greater than 0'])
    expect(faults('9', { min: 1, max: 8 })).toEqual([
      'x: is "9", expected a decimal number at least 1 and at most 8',
    ])
    expect(faults('8', { min: 1, max: 8 })).toEqual([])
  })

  it('reads durations into milliseconds, and refuses what no timer can wait', () => {
    expect(read('0.5', (reader) => reader.minutes('x', 30)).got).toBe(30_000)
    expect(read('', (reader) => reader.minutes('x', 30)).got).toBe(1_800_000)
    expect(read('0.1', (reader) => reader.seconds('x', 2, 0.1)).got).toBe(100)
    expect(read('0.05', (reader) => reader.seconds('x', 2, 0.1)).faults).toHaveLength(1)
    expect(read('0', (reader) => reader.minutes('x', 30)).faults).toHaveLength(1)
    expect(read('100000', (reader) => reader.minutes('x', 30)).faults[0]).toContain('at most 34560')
  })

  it('reads one of a few words', () => {
    expect(read('b', (reader) => reader.oneOf('x', ['a', 'b'])).got).toBe('b')
    expect(read('B', (reader) => reader.oneOf('x', ['a', 'b'])).faults).toEqual([
      'x: is "B", expected one of a, b',
    ])
  })

  it('reads URLs by the rules of http/', () => {
    const url = (value: string, http = false) => read(value, (reader) => reader.url('x', undefined, http))
    expect(url('https://host/path').got?.href).toBe('https://host/path')
    expect(url('http://127.0.0.1:8080').got?.port).toBe('8080')
    expect(url('http://intern', true).got?.host).toBe('intern')
    expect(url('http://intern').faults[0]).toContain('is http://intern, expected https://')
    expect(read('', (reader) => reader.url('x', 'https://default', false)).got?.host).toBe('default')
  })

  it('quotes what is no URL, where it cannot be a secret', () => {
    expect(read('notaurl', (reader) => reader.url('x', undefined, false)).faults).toEqual([
      'x: is "notaurl", expected a URL such as https://host/path',
    ])
  })

  it('never shows user name, password or path of a wrong URL', () => {
    for (const value of [
      'https://me:hunter2@host/',
      'ftp://host/hunter2',
      'hunter2 word',
      'javascript:hunter2',
      'http://host/hunter2',
    ]) {
      const { got, faults } = read(value, (reader) => reader.url('x', undefined, false))
      expect(got).toBeUndefined()
      expect(faults.join()).not.toContain('hunter2')
      expect(faults).toHaveLength(1)
    }
  })

  it('reads mappings and lists of YAML and JSON', () => {
    expect(read('a: 1\nb: {c: [x]}', (reader) => reader.mapping('x')).got).toEqual({ a: 1, b: { c: ['x'] } })
    expect(read('{"a": null}', (reader) => reader.mapping('x')).got).toEqual({ a: null })
    expect(read('- a\n- b: 1', (reader) => reader.list('x')).got).toEqual(['a', { b: 1 }])
    expect(read('[]', (reader) => reader.list('x')).got).toEqual([])
    expect(read('# nothing', (reader) => reader.mapping('x')).got).toBeUndefined()
  })

  it('does not pollute prototypes', () => {
    const { got } = read('{"__proto__": {"polluted": 1}}', (reader) => reader.mapping('x'))
    expect(Object.keys(got ?? {})).toEqual(['__proto__'])
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it.each([
    ['a: b: hunter2', 'line 1'],
    ['a: 1\nhunter2: "', 'line 2'],
    ['a: hunter2\na: hunter2', 'line 2'],
    ['hunter2', 'a text'],
    ['- hunter2', 'a list'],
    ['*hunter2', 'aliases'],
    ['5', 'a number'],
  ])('faults the mapping %j by its place, not by its text', (value, part) => {
    const { got, faults } = read(value, (reader) => reader.mapping('x'))
    expect(got).toBeUndefined()
    expect(faults).toHaveLength(1)
    expect(faults[0]).toContain(part)
    expect(faults[0]).not.toContain('hunter2')
  })

  it('refuses aliases that grow without end', () => {
    const bomb = [
      'a0: &a0 [x, x, x, x, x, x, x, x, x]',
      ...Array.from({ length: 9 }, (_, n) => `a${n + 1}: &a${n + 1} [${Array(9).fill(`*a${n}`).join(', ')}]`),
    ].join('\n')
    expect(read(bomb, (reader) => reader.mapping('x')).faults).toHaveLength(1)
  })

  it('reads headers by lower-case name', () => {
    const { got, faults } = read('X-Api-Key: a:b \n\nAuthorization:Bearer x', (reader) => reader.headers('x'))
    expect(got).toEqual({ 'x-api-key': 'a:b', authorization: 'Bearer x' })
    expect(faults).toEqual([])
  })

  it.each([
    'hunter2',
    'bad name: hunter2',
    'a: hunter2\nA: hunter2',
    'a: hunter2\u{1f600}',
    'Host: hunter2',
    'a:',
  ])('faults the headers %j by line, without their value', (value) => {
    const { faults } = read(value, (reader) => reader.headers('x'))
    expect(faults).toHaveLength(1)
    expect(faults[0]).toMatch(/^x: line [12] /)
    expect(faults[0]).not.toContain('hunter2')
  })

  it('tells all faults in one error, one per line', () => {
    const reader = new InputReader({ INPUT_A: 'maybe' })
    reader.required('key')
    reader.boolean('a', true)
    reader.fault('b', 'is wrong')
    let thrown: unknown
    try {
      reader.check('Do this.')
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(InputError)
    expect((thrown as InputError).message.split('\n')).toEqual([
      'Input "key": is required',
      'Input "a": is "maybe", expected true or false',
      'Input "b": is wrong',
    ])
    expect((thrown as InputError).hint).toBe('Do this.')
  })

  it('throws nothing when nothing is wrong', () => {
    expect(() => new InputReader({}).check()).not.toThrow()
  })

  it('shows the start of a long wrong value only, without control characters', () => {
    const { faults } = read(`\u001b[31m${'x'.repeat(500)}`, (reader) => reader.boolean('x', true))
    expect(faults[0]?.length).toBeLessThan(200)
    expect(faults[0]).not.toContain('\u001b')
  })
})
