/** Hosts that mean this machine; `http:` is accepted for them and no proxy is used. */
export function isLoopback(url: URL): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase()
  return (
    host === 'localhost' || host.endsWith('.localhost') || /^127(\.\d{1,3}){3}$/.test(host) || host === '::1'
  )
}

/** Why a text is not a URL that this project calls. */
export type UrlFault = 'not a URL' | 'scheme' | 'http' | 'user name' | 'query'

/**
 * Reads a base URL: `https:`, or `http:` for loopback or with `allowHttp`; no user name, no password.
 * @returns the URL, or what is wrong with it; never throws
 */
export function readUrl(text: string, allowHttp: boolean): URL | UrlFault {
  // The parser mends these in silence, and what it makes of them is not what was written.
  if (/[\s\\\p{Cc}]/u.test(text) || !URL.canParse(text)) return 'not a URL'
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'scheme'
  if (url.username !== '' || url.password !== '') return 'user name'
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url)) return 'http'
  return url
}

/** A sentence for each fault, to follow "expected". */
export const URL_EXPECTATION: Record<UrlFault, string> = {
  'not a URL': 'a URL such as https://host/path',
  scheme: 'a URL that begins with https://',
  http: 'https:// (http:// is accepted for loopback, or for any host with allow-http: true)',
  'user name': 'a URL without a user name or password in it',
  query: 'a URL without a query or fragment',
}

/** The URL without query, fragment and user name, for messages: those parts can carry secrets. */
export function displayUrl(url: URL): string {
  return `${url.origin}${url.pathname}`
}

/** Joins a base URL, whose path prefix is kept, and a path that begins with a slash. */
export function join(base: URL, path: string, query: Record<string, string | number | undefined> = {}): URL {
  const url = new URL(base)
  url.pathname = `${base.pathname.replace(/\/+$/, '')}${path}`
  url.search = ''
  url.hash = ''
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value))
  }
  return url
}
