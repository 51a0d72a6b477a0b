/**
 * Reads `Retry-After` (RFC 9110, section 10.2.3): seconds, or an HTTP date.
 * @param value the header's value
 * @param now milliseconds since 1970
 * @returns milliseconds to wait, at least 0; undefined when there is no such header or it says nothing
 */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim()
  if (text === undefined || text === '') return undefined
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Number(text), 86_400) * 1000
  // Only dates that begin with a weekday, as all three HTTP forms do: Date.parse reads much more ("-5").
  const date = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, Math.min(date - now, 86_400_000))
}
