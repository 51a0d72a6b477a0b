import { describe, expect, it } from '@jest/globals'
import { duration, gantt } from '../../src/runner/gantt.ts'

/** Rows by the grammar of Mermaid's gantt: `name :tag, id, start, end`. */
const ROW = /^ {4}[A-Za-z][\w .-]* :(done|crit), s\d+, \d+, \d+$/

describe('gantt', () => {
  it('counts from the first start, one row for each status with its time', () => {
    const start = Date.UTC(2026, 10, 21)
    expect(
      gantt('Revision 1: x', [
        { status: 'QUEUED', startMs: start, endMs: start + 400 },
        { status: 'BUILDING', startMs: start + 400, endMs: start + 185_000 },
        { status: 'DEPLOYED', startMs: start + 185_000, endMs: start + 185_000 },
      ]).split('\n'),
    ).toEqual([
      'gantt',
      '    title Revision 1 x',
      '    dateFormat x',
      '    axisFormat %M:%S',
      '    todayMarker off',
      '    QUEUED 0.4 s :done, s0, 0, 400',
      '    BUILDING 3 min 5 s :done, s1, 400, 185000',
      '    DEPLOYED 0.0 s :done, s2, 185000, 185001',
    ])
  })

  it('shows fractions of seconds where all is over in seconds', () => {
    expect(gantt('r', [{ status: 'A', startMs: 0, endMs: 100 }])).toContain('axisFormat %S.%L')
  })

  it('marks what failed', () => {
    expect(gantt('r', [{ status: 'BUILD_FAILED', startMs: 0, endMs: 100 }])).toContain(':crit, s0')
  })

  it('draws nothing of nothing', () => {
    expect(gantt('r', [])).toBe('')
  })

  it.each([
    'A:B;C#D,E',
    'click x href "https://evil"',
    'section',
    'title x',
    'done',
    '%%{init: {}}%%',
    '```\n<script>',
    '',
    '—',
    'a\nclick b call c()',
    'x'.repeat(500),
    'DateFormat',
  ])('leaves no grammar in the status %j', (status) => {
    const rows = gantt('t\nclick a', [{ status, startMs: 5, endMs: 4 }]).split('\n')
    expect(rows).toHaveLength(6)
    expect(rows[5]).toMatch(ROW)
    expect(rows[5]?.trim()).not.toMatch(/^(click|section|title|done|dateformat)\b/i)
  })

  it('stops after forty rows', () => {
    const many = Array.from({ length: 500 }, (_, index) => ({
      status: 'X',
      startMs: index,
      endMs: index + 1,
    }))
    expect(gantt('r', many).split('\n')).toHaveLength(45)
  })
})

describe('duration', () => {
  it.each([
    [0, '0.0 s'],
    [100, '0.1 s'],
    [9_949, '9.9 s'],
    [9_990, '10 s'],
    [59_400, '59 s'],
    [59_700, '1 min'],
    [125_000, '2 min 5 s'],
    [3_600_000, '1 h'],
    [4_000_000, '1 h 6 min'],
    [-5, '0.0 s'],
  ])('says %d ms as %s', (ms, text) => {
    expect(duration(ms)).toBe(text)
  })
})
