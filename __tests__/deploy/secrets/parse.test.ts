import { describe, expect, it } from '@jest/globals'
import { clashFaults, type EntryInput, parseSecrets } from '../../../src/deploy/secrets/index.ts'

const ENV = { FROM_ENV: 'of the step', EMPTY_ENV: '', lower_case: 'low' }

function read(text: string, input: EntryInput = 'secrets') {
  const { entries, faults } = parseSecrets(text, { input, env: ENV })
  for (const fault of faults) expect(fault.input).toBe(input)
  return { entries: entries.map(({ name, value }) => [name, value]), faults: faults.map((f) => f.message) }
}

describe('lines', () => {
  const table: [title: string, text: string, entries: [string, string][]][] = [
    ['one', 'A=1', [['A', '1']]],
    ['nothing but blanks and comments', '\n  \n# A=1\n  # B=2\n', []],
    [
      'CRLF',
      'A=1\r\nB=2\r\n',
      [
        ['A', '1'],
        ['B', '2'],
      ],
    ],
    ['a byte order mark', '\uFEFFA=1', [['A', '1']]],
    ['the rest of the line as it is, # included', 'A=p#ss # word ', [['A', 'p#ss # word ']]],
    ['further equals signs', 'A=b=c==', [['A', 'b=c==']]],
    ['JSON as it is', 'A={"a": "b"}', [['A', '{"a": "b"}']]],
    ['a quote inside a value', 'A=it"s', [['A', 'it"s']]],
    ['backticks are no quotes', 'A=`x`', [['A', '`x`']]],
    ['backslashes of an unquoted value', 'A=a\\nb', [['A', 'a\\nb']]],
    ['indented lines', '  A=1\n\tB=2', [['A', '1'], ['B', '2']]], // biome-ignore format: a row
    ['a name alone', 'FROM_ENV\nlower_case  ', [['FROM_ENV', 'of the step'], ['lower_case', 'low']]], // biome-ignore format: a row
    ['double quotes', 'A="x y"', [['A', 'x y']]],
    ['single quotes', "A='x y'", [['A', 'x y']]],
    ['a # in quotes', 'A="x # y"', [['A', 'x # y']]],
    ['blanks before the quote', 'A= "x"', [['A', 'x']]],
    ['blanks in quotes', 'A="  x "', [['A', '  x ']]],
    ['a comment after the quote', 'A="x" # why\nB=\'y\'# why', [['A', 'x'], ['B', 'y']]], // biome-ignore format: a row
    ['\\n and \\r in double quotes', 'A="a\\nb\\rc"', [['A', 'a\nb\rc']]],
    ['\\n in single quotes stays', "A='a\\nb'", [['A', 'a\\nb']]],
    ['the other quote', 'A="it\'s"\nB=\'say "x"\'', [['A', "it's"], ['B', 'say "x"']]], // biome-ignore format: a row
    ['a quote behind a backslash, as dotenv keeps it', 'A="a\\"b"', [['A', 'a\\"b']]],
    ['a backslash before the last quote', 'A="C:\\dir\\"\nB=2', [['A', 'C:\\dir\\'], ['B', '2']]], // biome-ignore format: a row
    ['several lines', 'A="-----BEGIN\n  abc#=\n\nDEF=\n-----END"\nB=2', [['A', '-----BEGIN\n  abc#=\n\nDEF=\n-----END'], ['B', '2']]], // biome-ignore format: a row
    ['several lines with CRLF', 'A="1\r\n2"\r\nB=2', [['A', '1\n2'], ['B', '2']]], // biome-ignore format: a row
    ['a name that every object has', '__proto__=1', [['__proto__', '1']]],
    ['not a mapping: NAME: comes after a line', 'A=1\nB=x: y', [['A', '1'], ['B', 'x: y']]], // biome-ignore format: a row
  ]
  it.each(table)('%s', (_title, text, entries) => {
    expect(read(text)).toEqual({ entries, faults: [] })
  })

  it('reads a value of 100,000 characters with many quotes in it', () => {
    const value = '\\"x\n'.repeat(25_000)
    expect(read(`A="${value}"\nB=1`).entries).toEqual([
      ['A', value],
      ['B', '1'],
    ])
  })
})

describe('mappings', () => {
  const table: [title: string, text: string, entries: [string, string][]][] = [
    ['YAML', 'A: x\nB: "y z"', [['A', 'x'], ['B', 'y z']]], // biome-ignore format: a row
    ['after a comment', '# mine\n\nA: x', [['A', 'x']]],
    ['scalars as written', 'A: 0123\nB: 1.0\nC: true\nD: 2020-01-01\nE: 0x1F\nF: 1e3\nG: yes', [['A', '0123'], ['B', '1.0'], ['C', 'true'], ['D', '2020-01-01'], ['E', '0x1F'], ['F', '1e3'], ['G', 'yes']]], // biome-ignore format: a row
    ['JSON', '{"A": "x", "B": 0123, "C": 1.50, "D": false}', [['A', 'x'], ['B', '0123'], ['C', '1.50'], ['D', 'false']]], // biome-ignore format: a row
    ['JSON over lines, with tabs', '{\n\t"A": "x",\n\t"B": "a\\nb\\/\\u00e9\\ud83d\\ude00"\n}', [['A', 'x'], ['B', 'a\nb/é😀']]], // biome-ignore format: a row
    ['a block', 'A: |\n  one\n  two\nB: x', [['A', 'one\ntwo\n'], ['B', 'x']]], // biome-ignore format: a row
    ['a quoted null is a word', 'A: "null"', [['A', 'null']]],
    ['an alias', 'A: &a x\nB: *a', [['A', 'x'], ['B', 'x']]], // biome-ignore format: a row
    ['no escape in single quotes', "A: 'a\\nb'", [['A', 'a\\nb']]],
    ['a tag', 'A: !!str 5', [['A', '5']]],
    ['an empty one', '{}', []],
  ]
  it.each(table)('%s', (_title, text, entries) => {
    expect(read(text)).toEqual({ entries, faults: [] })
  })

  const faults: [title: string, text: string, fault: RegExp][] = [
    ['broken JSON', '{"A": "hunter2"\n "B": 1', /^line [12] is not valid YAML or JSON$/],
    ['broken YAML', 'A: x\n  hunter2: [', /^line [12] is not valid YAML or JSON$/],
    ['no blank after the colon', 'hunter2:hunter2', /is not a mapping/],
    ['two documents', 'A: x\n---\nB: hunter2', /^line 2 is not valid YAML or JSON$/],
    ['a mapping inside', 'A:\n  hunter2: 1', /^line 1 \(A\): the value is a mapping/],
    ['a list inside', 'B: x\nA: [hunter2]', /^line 2 \(A\): the value is a list/],
    ['a key that is no name', 'A: x\nhunter2-x: 1', /^line 2 has a key that is no name/],
    ['a key that is a list', 'A: x\n? [hunter2]\n: 1', /^line 2 has a key that is no name/],
    ['a double name', 'A: x\nB: y\nA: hunter2', /^line 3 \(A\) gives the same name as line 1/],
    ['null', 'A: null', /^line 1 \(A\) has an empty value/],
    ['a tilde', 'A: ~', /^line 1 \(A\) has an empty value/],
    ['nothing', 'A:', /^line 1 \(A\) has an empty value/],
    ['an empty text', 'A: ""', /^line 1 \(A\) has an empty value/],
    ['an unknown alias', 'A: *hunter2', /^line 1 \(A\): the value begins with \*/],
  ]
  it.each(faults)('refuses %s without a word of it', (_title, text, fault) => {
    const { faults: found } = read(text)
    expect(found).toHaveLength(1)
    expect(found[0]).toMatch(fault)
    expect(found[0]).not.toContain('hunter2')
  })

  it('sends an empty value in env-vars only when it is written as one', () => {
    expect(read('A: ""\nB: \'\'', 'env-vars')).toEqual({ entries: [['A', ''], ['B', '']], faults: [] }) // biome-ignore format: a row
    expect(read('A:\nB: null\nC: ~', 'env-vars').faults).toHaveLength(3)
  })
})

describe('faults of lines', () => {
  const table: [title: string, text: string, faults: (RegExp | string)[]][] = [
    ['a stray line', 'A=1\nhunter2!\nB=2', [/^line 2 is neither NAME=value nor NAME/]],
    ['a blank before the equals sign', 'HUNTER2 =1', [/^line 1 is neither/]],
    ['export', 'export HUNTER2=1', [/^line 1 is neither/]],
    ['a digit first', '2hunter2=1', [/^line 1 is neither/]],
    ['a mapping line among lines', 'A=1\nB: hunter2', [/^line 2 is neither/]],
    ['an unset name', 'NOT_THERE', [/^line 1 is the name NOT_THERE alone/]],
    ['an unset name that may be a secret', 'hunter2', [/^line 1 is neither/]],
    ['an unset name of 65 letters', 'H'.repeat(65), [/^line 1 is neither/]],
    ['a method of every object', 'constructor', [/^line 1 is neither/]],
    ['an empty value', 'A=', [/^line 1 \(A\) has an empty value/]],
    ['a blank value', 'A=  ', [/^line 1 \(A\) has an empty value/]],
    [
      'an empty value in quotes',
      'A=""\nB=\'\'',
      [/^line 1 \(A\) has an empty/, /^line 2 \(B\) has an empty/],
    ],
    ['an empty variable', 'EMPTY_ENV', [/^line 1 \(EMPTY_ENV\) has an empty value/]],
    ['a name twice', 'A=hunter2\nB=1\nA=hunter2', [/^line 3 \(A\) gives the same name as line 1/]],
    ['a name twice that may be a secret', 'hunter2=x\nhunter2=y', [/^line 2 gives the same name as line 1/]],
    [
      'no closing quote',
      'A="hunter2\nB=hunter2\n',
      [/^line 1 \(A\): the value begins with ", and no " ends it/],
    ],
    ['no closing single quote', "A='hunter2", [/^line 1 \(A\): the value begins with ', and no ' ends it/]],
    [
      'text after the quote',
      'A="x"hunter2\nB=1',
      [/^line 1 \(A\): the value begins with ", and the next one has text/],
    ],
    [
      'a quote that ends in another entry',
      'A="hunter2\nB="x"\nC=',
      [/^line 1 \(A\): .* the next one, on line 2, has text/, /^line 3 \(C\) has an empty/],
    ],
    [
      'a key that nobody quoted',
      'A=1\nKEY=-----BEGIN PRIVATE KEY-----\nhunter2+/\nhunter2hunter2\nhunter2==\n-----END PRIVATE KEY-----\nB=2',
      [/^line 3 to line 4: neither NAME=value nor NAME/, /^line 6 is neither/],
    ],
  ]
  it.each(table)('%s', (_title, text, faults) => {
    const { faults: found } = read(text)
    expect(found).toEqual(faults.map((fault) => expect.stringMatching(fault)))
    expect(found.join('\n')).not.toContain('hunter2')
    expect(found.join('\n')).not.toContain('HUNTER2')
    expect(found.join('\n')).not.toContain('H'.repeat(65))
  })

  it('lets env-vars be empty in quotes only', () => {
    expect(read('A=""\nB=\'\'', 'env-vars')).toEqual({ entries: [['A', ''], ['B', '']], faults: [] }) // biome-ignore format: a row
    expect(read('A=\nEMPTY_ENV\nB="x"', 'env-vars')).toEqual({
      entries: [['B', 'x']],
      faults: [expect.stringMatching(/^line 1 \(A\)/), expect.stringMatching(/^line 2 \(EMPTY_ENV\)/)],
    })
  })
})

it('finds a name in both inputs', () => {
  const a = [
    { name: 'A', value: '1' },
    { name: 'B', value: '2' },
  ]
  expect(clashFaults(a, [{ name: 'C', value: '1' }])).toEqual([])
  expect(clashFaults(a, [{ name: 'B', value: 'hunter2' }])).toEqual([
    { input: 'env-vars', message: expect.stringMatching(/^B is in `secrets` too/) },
  ])
})
