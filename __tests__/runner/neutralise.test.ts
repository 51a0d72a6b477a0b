import { describe, expect, it } from '@jest/globals'
import { neutralise, strip } from '../../src/runner/neutralise.ts'
import { HOSTILE, parseCommand, splitLines } from '../helpers/runner-oracle.ts'

const commandsIn = (text: string) => splitLines(text).flatMap((line) => parseCommand(line) ?? [])

describe('neutralise', () => {
  it.each(HOSTILE.map((text) => [JSON.stringify(text), text]))('makes %s inert', (_, text) => {
    expect(commandsIn(neutralise(text))).toEqual([])
    expect(commandsIn(neutralise(text, { prefix: '| ' }))).toEqual([])
    expect(commandsIn(neutralise(`${text}\n${text}`))).toEqual([])
  })

  it('leaves most of these texts dangerous when it is not called, so that the table above can fail', () => {
    const dangerous = HOSTILE.filter((text) => commandsIn(text).length > 0)
    expect(dangerous.length).toBeGreaterThanOrEqual(13)
    // A prefix alone is not enough.
    expect(HOSTILE.filter((text) => commandsIn(`| ${text}`).length > 0).length).toBeGreaterThanOrEqual(5)
  })

  it('makes random mixtures of what commands are made of inert', () => {
    const pieces = [
      '::',
      ':',
      '##[',
      '#',
      '[',
      ']',
      'error',
      'add-mask',
      ' ',
      '\r',
      '\n',
      '\u00a0',
      '\u200b',
      '\u001b[1m',
      '\u0000',
      '\u2028',
      'x',
    ]
    let seed = 7
    const next = (): number => {
      seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff
      return seed
    }
    for (let round = 0; round < 20_000; round++) {
      const text = Array.from({ length: 12 }, () => pieces[next() % pieces.length]).join('')
      const found = commandsIn(neutralise(text))
      if (found.length > 0) throw new Error(`${JSON.stringify(text)} runs ${JSON.stringify(found)}`)
    }
  })

  it('keeps ordinary text as it is', () => {
    const text = 'Step 1/3: pip install\n\tindented ünïcödé 👩‍👩‍👧 a::b # [x] ## [y]\n'
    expect(neutralise(text)).toBe(text)
  })

  it('takes colours, cursor moves, links and titles of a terminal away', () => {
    expect(
      strip('\u001b[31;1mred\u001b[0m \u001b]8;;https://evil\u0007click\u001b]8;;\u0007 \u001b[2Kx'),
    ).toBe('red click x')
  })

  it('takes marks that turn the direction of reading away', () => {
    expect(strip('a\u202eb\u2066c')).toBe('abc')
  })

  it('keeps the first and the last lines of a long text', () => {
    const text = Array.from({ length: 100 }, (_, index) => `line ${index}`).join('\n')
    const lines = neutralise(text, { lines: 20 }).split('\n')
    expect(lines).toHaveLength(21)
    expect(lines.slice(0, 3)).toEqual(['line 0', 'line 1', '… (80 lines left out) …'])
    expect(lines.at(-1)).toBe('line 99')
  })

  it('cuts a long line', () => {
    expect(neutralise('x'.repeat(50), { columns: 10 })).toBe(`${'x'.repeat(10)} … (40 more characters)`)
  })
})
