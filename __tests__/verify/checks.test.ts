import { describe, expect, it } from '@jest/globals'
import { InputError } from '../../src/base/errors.ts'
import { parseChecks } from '../../src/verify/checks.ts'
import { isChecksText } from '../../src/verify/parse.ts'

function faults(text: string): string[] {
  try {
    parseChecks(text, 'checks')
  } catch (error) {
    if (error instanceof InputError) return error.faults.map(({ message }) => message)
    throw error
  }
  return []
}

describe('parseChecks', () => {
  it('keeps the keys of feedback in the order in which they were given', () => {
    const feedback = '{ q: { value: 1, metadata: { z: 1, a: 2 }, score: 0.5, comment: fine } }'
    const [check] = parseChecks(`checks: [{ input: {}, feedback: ${feedback} }]`, 'checks').checks
    if (check?.kind !== 'run') throw new Error('expected a run')
    expect(JSON.stringify(check.step.feedback?.[0]?.submit)).toBe(
      '{"value":1,"metadata":{"z":1,"a":2},"score":0.5,"comment":"fine"}',
    )
  })

  it('reads every kind of check, with its defaults', () => {
    const plan = parseChecks(
      `
timeout-seconds: 2.5
concurrency: 3
checks:
  - name: says hello
    assistant: agent
    input: { messages: [{ role: user, content: Hello }] }
    stream-mode: updates
    run: { context: { tone: kind } }
    expect: { text: Hello, node: agent, within-seconds: 30 }
    feedback: { user_score: 1, quality: { score: 0.5, comment: fine } }
  - thread:
      - { assistant: fe096781-5601-53d2-b2f6-0d3403f7e9ca, input: {} }
      - { assistant: { graph: writer, name: w }, expect: { interrupt: true }, feedback: [a, b, a] }
  - { name: speaks A2A, a2a: { assistant: agent, method: stream, messages: [Hello, And again], expect: { text: again } } }
  - { a2a: { messages: [Hello] } }
  - { name: sandbox is up, sandbox: { name: box-1, expect: { status: ready } } }
  - { sandbox: { name: box-2 } }
`,
      'checks',
    )
    const defaults = {
      assistant: { kind: 'default' },
      streamModes: ['updates'],
      expect: { interrupt: false },
    }
    expect(plan).toMatchObject({
      timeoutMs: 2500,
      concurrency: 3,
      checks: [
        {
          kind: 'run',
          name: 'says hello',
          step: {
            assistant: { kind: 'graph', graph: 'agent' },
            input: { messages: [{ role: 'user', content: 'Hello' }] },
            streamModes: ['updates'],
            run: { context: { tone: 'kind' } },
            expect: { text: { source: 'Hello' }, node: 'agent', interrupt: false, withinMs: 30_000 },
            feedback: [
              { key: 'user_score', submit: { score: 1 } },
              { key: 'quality', submit: { score: 0.5, comment: 'fine' } },
            ],
          },
        },
        {
          kind: 'thread',
          name: 'check 2',
          steps: [
            { ...defaults, assistant: { kind: 'id', id: 'fe096781-5601-53d2-b2f6-0d3403f7e9ca' }, input: {} },
            {
              ...defaults,
              assistant: { kind: 'new', graph: 'writer', fields: { graph_id: 'writer', name: 'w' } },
              expect: { interrupt: true },
              feedback: [{ key: 'a' }, { key: 'b' }],
            },
          ],
        },
        {
          kind: 'a2a',
          name: 'speaks A2A',
          assistant: { kind: 'graph', graph: 'agent' },
          method: 'stream',
          messages: ['Hello', 'And again'],
          expect: { text: { source: 'again' }, interrupt: false },
        },
        { kind: 'a2a', name: 'check 4', assistant: { kind: 'default' }, method: 'send' },
        { kind: 'sandbox', name: 'sandbox is up', sandbox: 'box-1', expect: { status: 'ready' } },
        { kind: 'sandbox', sandbox: 'box-2', expect: { status: 'ready' } },
      ],
    })
  })

  it('reads one line of JSON too', () => {
    expect(parseChecks('{"checks":[{"input":{"messages":[]}}]}', 'checks').checks).toHaveLength(1)
  })

  it.each([
    ['Hello', 'say Hello!', true],
    ['hello', 'say Hello!', false],
    ['', '', true],
    ['', 'anything', true],
    ['/^h.llo$/i', 'HELLO', true],
    ['/^h.llo$/', 'HELLO', false],
    ['/a.b/s', 'a\nb', true],
    ['/x/gy', 'axx', true],
    ['/', 'a/b', true],
    ['//', 'a//b', true],
    ['/API/V1', 'x/API/V1', true],
    ['a/b/', 'xa/b/', true],
  ])('takes %j for a text or a regular expression: %j is %j', (text, said, matches) => {
    const [check] = parseChecks(JSON.stringify({ checks: [{ expect: { text } }] }), 'checks').checks
    if (check?.kind !== 'run') throw new Error('not a run')
    const matcher = check.step.expect.text
    // Twice: a match must not depend on the one before.
    expect([matcher?.matches(said), matcher?.matches(said)]).toEqual([matches, matches])
  })

  it.each([
    ['checks: [{ asistant: a }]', ['checks[0].asistant: unknown key']],
    ['chekcs: []', ['checks: is missing: expected a list of checks', 'chekcs: unknown key']],
    ['checks: []', ['checks: expected at least one check']],
    ['checks: { a: 1 }', ['checks: expected a list of checks']],
    ['- a', ['the text: expected a mapping']],
    [
      'checks: [{}, { expect: { text: /(/ } }]',
      [/^checks\[1\]\.expect\.text: "\/\(\/": not a regular expression: /],
    ],
    [
      'checks: [{ expect: { text: /a/q } }]',
      [/^checks\[0\]\.expect\.text: .*not a regular expression: .*flags/],
    ],
    [
      'checks: [{ expect: { text: 5 } }]',
      ['checks[0].expect.text: 5: expected a text, or /a regular expression/'],
    ],
    ['checks: [{ input: Hello }]', ['checks[0].input: "Hello": expected a mapping']],
    ['checks: [{ name: 5 }]', [/^checks\[0\]\.name: 5: expected a text/]],
    ['checks: [{ stream-mode: [] }]', ['checks[0].stream-mode: expected at least one stream mode']],
    [
      'checks: [{ stream-mode: { a: 1 } }]',
      ['checks[0].stream-mode: expected a stream mode, or a list of them'],
    ],
    [
      'checks: [{ assistant: { config: {} } }]',
      [/^checks\[0\]\.assistant\.graph: is missing: expected a text/],
    ],
    ['checks: [{ assistant: [a] }]', [/^checks\[0\]\.assistant: expected a graph name, an assistant id/]],
    [
      'checks: [{ expect: { within-seconds: 0 } }]',
      [/within-seconds: 0: expected a number of seconds above 0/],
    ],
    [
      'checks: [{ expect: { interrupt: "yes" } }]',
      ['checks[0].expect.interrupt: "yes": expected true or false'],
    ],
    ['checks: [{ feedback: {} }]', ['checks[0].feedback: expected at least one feedback key']],
    ['checks: [{ feedback: { a: x } }]', [/^checks\[0\]\.feedback\.a: "x": expected a score/]],
    [
      'checks: [{ feedback: { a: { scor: 1 } } }]',
      [/feedback\.a\.scor: unknown key/, /at least one of score/],
    ],
    [
      'checks: [{ feedback: { a: { metadata: 1 } } }]',
      ['checks[0].feedback.a.metadata: 1: expected a mapping'],
    ],
    ['checks: [{ thread: [] }]', ['checks[0].thread: expected at least one run']],
    ['checks: [{ thread: [{ a2a: {} }] }]', ['checks[0].thread[0].a2a: unknown key']],
    ['checks: [{ a2a: {} }]', ['checks[0].a2a.messages: is missing: expected a list of texts']],
    ['checks: [{ a2a: { messages: [hi, ""] } }]', [/^checks\[0\]\.a2a\.messages\[1\]: "": expected a text/]],
    [
      'checks: [{ a2a: { messages: [hi], method: call } }]',
      ['checks[0].a2a.method: "call": expected send or stream'],
    ],
    [
      'checks: [{ sandbox: { status: ready } }]',
      [/sandbox\.name: is missing/, /sandbox\.status: unknown key/],
    ],
    [
      'checks: [{ sandbox: { name: b }, a2a: {} }]',
      ['checks[0]: expected one of a2a, sandbox, not several: make it several checks'],
    ],
    ['checks: [7]', [/^checks\[0\]: 7: expected a mapping/]],
    ['{ checks: [{}], timeout-seconds: soon }', ['timeout-seconds: "soon": expected a number of seconds']],
    ['{ checks: [{}], concurrency: 0 }', ['concurrency: 0: expected a whole number from 1 to 64']],
    ['checks: [', [/^not YAML: line 1, column \d+: /]],
    ['checks:\n  - {}\nchecks: []', [/^not YAML: line 3, column 1: Map keys must be unique/]],
    ['checks: *nobody', [/^not YAML/]],
  ])('names the place of each fault: %s', (text, expected) => {
    const found = faults(text)
    expect(found).toHaveLength(expected.length)
    for (const want of expected) {
      const matches = found.some((fault) => (typeof want === 'string' ? fault === want : want.test(fault)))
      expect([want, matches, found]).toEqual([want, true, found])
    }
  })

  it('lists every fault at once, and names input and file', () => {
    const text = 'checks: [{ nmae: x, input: 1 }, { expect: { text: /(/, node: 5 } }]\nconcurrency: many'
    expect(faults(text)).toHaveLength(5)
    try {
      parseChecks(text, 'verify', 'ci/checks.yml')
    } catch (error) {
      expect((error as Error).message).toMatch(/^Input "verify": file "ci\/checks\.yml": checks\[0\]/)
    }
  })

  it('is not undone by a text of another kind', () => {
    expect(faults('__proto__: { a: 1 }\nchecks: [{}]')).toEqual(['__proto__: unknown key'])
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghij'.replace(/./g, (name, at: number) => {
      const before = 'abcdefghij'[at]
      return `${name}: &${name} [${Array(9).fill(`*${before}`).join(',')}]\n`
    })}checks: *j`
    expect(faults(bomb)[0]).toMatch(/unfold to too much/)
  })
})

describe('isChecksText', () => {
  it.each([
    ['checks: []', true],
    ['{"checks":[]}', true],
    ['# a comment\nchecks:\n  - name: x', true],
    ['checks:\n  - name: [', true],
    ['checks.yml', false],
    ['ci/checks.yml', false],
    ['C:\\ci\\checks.yml', false],
    ['ready', false],
    ['- a', false],
    ['', false],
  ])('%j: %j', (text, isText) => {
    expect(isChecksText(text)).toBe(isText)
  })
})
