import { describe, expect, it } from '@jest/globals'
import { errorDetail } from '../../src/http/detail.ts'
import { parseRetryAfter } from '../../src/http/retry-after.ts'
import { displayUrl, isLoopback, join, readUrl } from '../../src/http/url.ts'

describe('errorDetail', () => {
  it.each<[string, unknown, string]>([
    ['a string', { detail: 'Not here' }, 'Not here'],
    [
      'error and message',
      { detail: { error: 'conflict', message: 'it exists', input: 'canary' } },
      'conflict: it exists',
    ],
    ['an error alone', { detail: { error: 'conflict' } }, 'conflict'],
    [
      'a list',
      {
        detail: [
          { loc: ['body', 'a', 0], msg: 'bad', type: 't', input: 'canary', ctx: { x: 'canary' } },
          { msg: 'worse' },
        ],
      },
      'body.a.0: bad\nworse',
    ],
    ['a list of strings', { detail: ['one', 'two'] }, 'one\ntwo'],
    ['a list with oddities', { detail: [null, 5, {}, { loc: [{ a: 'canary' }], msg: 'x' }] }, 'x'],
    [
      'a JSON-RPC error',
      { jsonrpc: '2.0', error: { code: -32001, message: 'no task', data: 'canary' } },
      '-32001: no task',
    ],
    ['other members', { message: 'canary', error: 'canary' }, ''],
    ['a number', { detail: 5 }, ''],
    ['null', { detail: null }, ''],
    ['no object', ['canary'], ''],
    ['a detail beside an error', { detail: 'said', error: { message: 'canary' } }, 'said'],
  ])('of %s', (_, body, expected) => {
    expect(errorDetail(JSON.stringify(body))).toBe(expected)
  })

  it.each(['<html>canary</html>', 'canary', '', '{"detail": "canary'])('of %j is nothing', (body) => {
    expect(errorDetail(body)).toBe('')
  })

  it('is cut, and says so', () => {
    const detail = errorDetail(JSON.stringify({ detail: 'x'.repeat(100_000) }))
    expect(detail.length).toBeLessThan(2_100)
    expect(detail).toContain('(cut, 100000 characters)')
  })
})

describe('parseRetryAfter', () => {
  const now = Date.UTC(2026, 10, 21, 8, 0, 0)
  it.each<[string | undefined, number | undefined]>([
    ['0', 0],
    ['120', 120_000],
    ['1.5', 1_500],
    [' 3 ', 3_000],
    ['999999999', 86_400_000],
    ['Sat, 21 Nov 2026 08:00:30 GMT', 30_000],
    ['Saturday, 21-Nov-26 08:00:30 GMT', 30_000],
    ['Sat Nov 21 08:00:30 2026', 30_000],
    ['Sat, 21 Nov 2020 08:00:30 GMT', 0],
    ['-5', undefined],
    ['soon', undefined],
    ['2026', 2_026_000],
    ['', undefined],
    [undefined, undefined],
  ])('reads %j as %j ms', (value, expected) => {
    expect(parseRetryAfter(value, now)).toBe(expected)
  })
})

describe('URLs', () => {
  it.each([
    ['https://host', 'ok'],
    ['https://host:8443/p/?q', 'ok'],
    ['http://127.0.0.1:1', 'ok'],
    ['http://[::1]:1', 'ok'],
    ['http://a.localhost', 'ok'],
    ['http://host', 'http'],
    ['http://127.0.0.1.evil.example', 'http'],
    ['http://localhost.evil.example', 'http'],
    ['http://127.1', 'ok'],
    ['https://me@host', 'user name'],
    ['https://:pass@host', 'user name'],
    ['ftp://host', 'scheme'],
    ['javascript:alert(1)', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['host', 'not a URL'],
    ['//host', 'not a URL'],
  ])('%s is %s', (text, expected) => {
    const url = readUrl(text, false)
    expect(url instanceof URL ? 'ok' : url).toBe(expected)
  })

  it('takes http anywhere when it may', () => {
    expect(readUrl('http://host', true)).toBeInstanceOf(URL)
    expect(readUrl('http://me@host', true)).toBe('user name')
  })

  it('shows neither query nor user name', () => {
    expect(displayUrl(new URL('https://me:pass@host:1/p?token=x#y'))).toBe('https://host:1/p')
  })

  it('keeps a path prefix and encodes the query', () => {
    expect(join(new URL('https://host/prefix/'), '/v2/x', { a: 'b c', n: 1, u: undefined }).href).toBe(
      'https://host/prefix/v2/x?a=b+c&n=1',
    )
    expect(join(new URL('https://host?old=1#x'), '/y').href).toBe('https://host/y')
  })

  it('knows loopback by address and by name only', () => {
    expect(isLoopback(new URL('http://127.255.0.1'))).toBe(true)
    expect(isLoopback(new URL('http://128.0.0.1'))).toBe(false)
    expect(isLoopback(new URL('http://notlocalhost'))).toBe(false)
  })
})
