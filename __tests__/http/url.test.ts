import { describe, expect, it } from '@jest/globals'
import { readUrl } from '../../src/http/url.ts'

describe('a URL that is called', () => {
  it.each([
    ['https://host.example/path', 'https://host.example/path'],
    ['https://host.example:8443/a%20b', 'https://host.example:8443/a%20b'],
    ['http://127.0.0.1:8123', 'http://127.0.0.1:8123/'],
    ['http://[::1]:8123', 'http://[::1]:8123/'],
  ])('%s is taken', (text, href) => {
    const url = readUrl(text, false)
    expect(url instanceof URL && url.href).toBe(href)
  })

  it.each([
    ['', 'not a URL'],
    ['host.example', 'not a URL'],
    // The parser takes these, and makes another URL of them.
    ['https://host.example/\n::add-mask::e', 'not a URL'],
    ['https://host.example/\tx', 'not a URL'],
    ['https://host.example/a b', 'not a URL'],
    [' https://host.example/', 'not a URL'],
    ['https://host.example\\@evil.example/', 'not a URL'],
    ['https://host.example/\u0085', 'not a URL'],
    ['ftp://host.example/', 'scheme'],
    ['javascript:alert(1)', 'scheme'],
    ['http://host.example/', 'http'],
    ['http://127.0.0.1.evil.example/', 'http'],
    ['https://user@host.example/', 'user name'],
    ['https://:word@host.example/', 'user name'],
  ])('%j is not: %s', (text, fault) => {
    expect(readUrl(text, false)).toBe(fault)
  })

  it('may be http: for any host where that is allowed', () => {
    expect(readUrl('http://host.example/', true)).toBeInstanceOf(URL)
    expect(readUrl('http://me@host.example/', true)).toBe('user name')
  })
})
