import { describe, expect, it } from '@jest/globals'
import {
  cell,
  code,
  details,
  escape as escapeMarkdown,
  fence,
  link,
  table,
} from '../../src/runner/markdown.ts'

describe('escape', () => {
  it.each([
    ['BUILD_FAILED of my_agent', 'BUILD_FAILED of my_agent'],
    ['a_ _b', 'a\\_ \\_b'],
    ['**bold** [x](y) ![i](u)', '\\*\\*bold\\*\\* \\[x\\](y) !\\[i\\](u)'],
    ['<img src=x onerror=y> & <!-- -->', '&lt;img src=x onerror=y&gt; &amp; &lt;!-- --&gt;'],
    ['a | b', 'a \\| b'],
    ['`code`', '&#x60;code&#x60;'],
    ['one\r\ntwo\rthree', 'one<br>two<br>three'],
    ['see https://evil.example/a?b=c, then', 'see `https://evil.example/a?b=c`, then'],
    ['www.evil.example.', '`www.evil.example`.'],
    ['https://a/`x`', '`https://a/`&#x60;x&#x60;'],
    ['@octocat fixed #12', '@\u200boctocat fixed #\u200b12'],
    ['# head', '\\# head'],
    ['1. one', '1\u200b. one'],
    ['- item', '\\- item'],
    ['$x$', '<span>$</span>x<span>$</span>'],
    ['\u001b[31mred\u0000', 'red'],
    ['~~gone~~', '\\~\\~gone\\~\\~'],
    ['\\', '\\\\'],
    ['', ''],
  ])('makes %j %j', (text, expected) => {
    expect(escapeMarkdown(text)).toBe(expected)
  })
})

describe('blocks', () => {
  it('makes a fence that its text cannot end', () => {
    expect(fence('a\n```\n````\nb\n', 'text')).toBe('`````text\na\n```\n````\nb\n`````')
    expect(fence('x')).toBe('```\nx\n```')
  })

  it('makes code of one line, in a table too', () => {
    expect(code('a|b\nc')).toBe('`a\\|b c`')
    expect(code('a`b')).toBe('`` a`b ``')
    expect(code('')).toBe('–')
  })

  it('links to http only, and cannot be ended by its URL', () => {
    expect(link('home', 'https://host/a b(c)|d')).toBe('[home](https://host/a%20b%28c%29%7Cd)')
    expect(link('https://host/x', 'https://host/x')).toBe('[https://host/x](https://host/x)')
    expect(link('run', 'javascript:alert(1)')).toBe('run')
    expect(link('a](b', 'no url')).toBe('a\\](b')
  })

  it('makes a table and a folded part', () => {
    expect(table(['A', 'B'], [[cell('x'), cell('')]])).toBe('| A | B |\n| --- | --- |\n| x | – |')
    expect(details('</summary>', 'x')).toBe('<details><summary>&lt;/summary&gt;</summary>\n\nx\n\n</details>')
  })
})
