/** Node's code of a file system error (`ENOENT`, `EACCES`, …); empty for anything else. */
export function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' ? code : ''
}

/** Nothing is there: no such file, or a part of the way to it is no folder. */
export function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR'
}
