type Json = Record<string, unknown>

/** Sorts by a key; without one the order stays (newest first). */
export function sorted(items: Json[], key: string | undefined, order: string | undefined): Json[] {
  if (key === undefined) return order === 'asc' ? [...items].reverse() : items
  const sign = order === 'asc' ? 1 : -1
  return [...items].sort((a, b) => {
    const left = String(a[key])
    const right = String(b[key])
    return left === right ? 0 : left < right ? -sign : sign
  })
}

export function pick(item: Json, keys: readonly string[]): Json {
  return Object.fromEntries(Object.entries(item).filter(([key]) => keys.includes(key)))
}

/**
 * One page, and the headers that tell about it. Python counts only as far as one item past the page; the
 * JavaScript server adds the offset once too often (both recorded).
 */
export function page<T>(
  items: readonly T[],
  query: { limit?: number; offset?: number },
  js: boolean,
): { items: T[]; headers: Record<string, string> } {
  const offset = query.offset ?? 0
  const chosen = items.slice(offset, offset + (query.limit ?? 10))
  const next = offset + chosen.length
  if (js) return { items: chosen, headers: { 'x-pagination-total': String(items.length + offset) } }
  const more = next < items.length
  const headers: Record<string, string> = { 'x-pagination-total': String(more ? next + 1 : next) }
  if (more) headers['x-pagination-next'] = String(next)
  return { items: chosen, headers }
}
