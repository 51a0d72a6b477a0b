/**
 * What is done to every line of remote text: redaction, neutralising, escaping. Each over a text and over ten
 * times the text in the same run: a ratio near 10 is linear, near 100 quadratic.
 */
import { escapeMarkdown } from '../src/runner/markdown.ts'
import { neutralise } from '../src/runner/neutralise.ts'
import { Secrets } from '../src/runner/secrets.ts'

const secrets = new Secrets({ register: () => {}, tooShort: () => {} })
for (let index = 0; index < 100; index++)
  secrets.mask(`lsv2_pt_${index.toString(36)}_${'k'.repeat(index % 40)}${index}`)

const PROSE = `${'the quick brown fox lsv2_pt_ jumps over the lazy dog '.repeat(3)}lsv2_pt_7_kkkkkkk7\n`
const CASES = {
  'redact, 100 secrets': [(text) => secrets.redact(text), PROSE],
  'neutralise, half commands': [(text) => neutralise(text, { columns: 1e9, lines: 1e9 }), '#\u0300\u001b]'],
  'escape Markdown, URLs': [escapeMarkdown, 'a:// www. @x #1 _y_ `z` '],
  'escape Markdown, one character': [escapeMarkdown, '_'],
}

function best(work, text) {
  const times = []
  for (let round = 0; round < 3; round++) {
    const started = performance.now()
    work(text)
    times.push(performance.now() - started)
  }
  return Math.min(...times)
}

for (const [name, [work, unit]] of Object.entries(CASES)) {
  const small = unit.repeat(Math.ceil(200_000 / unit.length))
  const one = best(work, small)
  const ten = best(work, small.repeat(10))
  console.log(
    `${name.padEnd(32)} 0.2 MB ${one.toFixed(1).padStart(7)} ms, 2 MB ${ten.toFixed(1).padStart(8)} ms, ratio ${(ten / one).toFixed(1)}`,
  )
}
