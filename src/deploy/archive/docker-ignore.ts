import { posix } from 'node:path'
import { AgentDeployError } from '../../base/errors.ts'

/** What a `.dockerignore` says about a path: the last pattern that matches it, or a folder above it. */
export type Verdict = 'left out' | 'brought back' | 'unsaid'

interface Pattern {
  readonly negated: boolean
  matches(path: string): boolean
  /** Whether the pattern can match something below a folder that it does not match itself. */
  reachesInto(folder: readonly string[]): boolean
}

/**
 * A `.dockerignore` as Docker's builder reads it (moby/patternmatcher): patterns are anchored at the folder
 * that holds the file, `**` spans folders, `!` takes back, the last match wins. Other than in a `.gitignore`,
 * a file can come back though its folder is left out.
 */
export class DockerIgnore {
  readonly #patterns: readonly Pattern[]

  /**
   * @param text of the `.dockerignore`
   * @throws AgentDeployError for a pattern that Docker refuses too
   */
  constructor(text: string) {
    const patterns: Pattern[] = []
    const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
    for (const [at, line] of lines.entries()) {
      if (line.startsWith('#') || line.trim() === '') continue
      const pattern = readPattern(line.trim())
      if (pattern === undefined) {
        throw new AgentDeployError(`Line ${at + 1} of .dockerignore is not a pattern: "${line.trim()}"`, {
          hint: 'Docker refuses it as well. Look at its brackets, at a lone ! and at a backslash at the end.',
        })
      }
      patterns.push(pattern)
    }
    this.#patterns = patterns
  }

  /** @param path below the folder of the `.dockerignore`, with `/` */
  judge(path: string): Verdict {
    const paths = [path]
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      paths.push(path.slice(0, end))
    }
    const last = this.#patterns.findLast((pattern) => paths.some((each) => pattern.matches(each)))
    if (last === undefined) return 'unsaid'
    return last.negated ? 'brought back' : 'left out'
  }

  /** Whether a folder that is left out must be entered all the same, because a `!` may bring back some of it. */
  mayBringBack(folder: string): boolean {
    const parts = folder.split('/')
    return this.#patterns.some((pattern) => pattern.negated && pattern.reachesInto(parts))
  }
}

function readPattern(line: string): Pattern | undefined {
  const negated = line.startsWith('!')
  const written = negated ? line.slice(1).trim() : line
  if (written === '') return undefined
  const clean = posix.normalize(written).replace(/(?<=.)\/$/, '')
  const path = clean.length > 1 && clean.startsWith('/') ? clean.slice(1) : clean
  const matcher = matcherOf(path)
  if (matcher === undefined) return undefined
  const parts = path.split('/')
  const each = parts.map((part) => (part.includes('**') ? undefined : matcherOf(part)))
  return {
    negated,
    matches: matcher,
    reachesInto: (folder) => {
      for (const [at, name] of folder.entries()) {
        if (parts[at]?.includes('**')) return true
        // The pattern ends above: it matches a folder on the way, and so all that lies in it.
        if (at >= parts.length) return true
        if (each[at]?.(name) === false) return false
      }
      return true
    },
  }
}

/**
 * A pattern without further wildcards before or after `**` is a plain comparison of beginnings or ends in
 * Docker, so `**name` also matches `my-name`.
 * @returns nothing when Docker refuses the pattern
 */
function matcherOf(pattern: string): ((path: string) => boolean) | undefined {
  const tokens = tokenize(pattern)
  if (tokens === undefined) return undefined
  const [first, ...rest] = tokens
  const plain = (list: readonly Token[]): boolean => list.every((token) => token.kind === 'text')
  if (plain(tokens)) return (path) => path === pattern
  if (first?.kind === 'globstar' && plain(rest)) {
    const end = pattern.slice(2)
    return (path) => path.endsWith(end) || (end.startsWith('/') && path === end.slice(1))
  }
  if (tokens.at(-1)?.kind === 'globstar' && plain(tokens.slice(0, -1))) {
    const beginning = pattern.slice(0, pattern.lastIndexOf('**'))
    return (path) => path.startsWith(beginning)
  }
  const source = tokens.map((token, at) =>
    token.kind === 'globstar' ? (at === tokens.length - 1 ? '.*' : '(?:.*/)?') : token.source,
  )
  const expression = new RegExp(`^${source.join('')}$`, 'su')
  return (path) => expression.test(path)
}

interface Token {
  readonly kind: 'text' | 'wildcard' | 'globstar'
  /** As a regular expression. */
  readonly source: string
}

/** Splits a pattern by the grammar of Go's `filepath.Match`, plus `**`, which takes a slash behind it along. */
function tokenize(pattern: string): readonly Token[] | undefined {
  const tokens: Token[] = []
  const chars = [...pattern]
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? ''
    if (char === '*' && chars[at + 1] === '*') {
      at += chars[at + 2] === '/' ? 2 : 1
      tokens.push({ kind: 'globstar', source: '' })
    } else if (char === '*') {
      tokens.push({ kind: 'wildcard', source: '[^/]*' })
    } else if (char === '?') {
      tokens.push({ kind: 'wildcard', source: '[^/]' })
    } else if (char === '\\') {
      const escaped = chars[++at]
      if (escaped === undefined) return undefined
      tokens.push({ kind: 'wildcard', source: literal(escaped) })
    } else if (char === '[') {
      const read = readClass(chars, at)
      if (read === undefined) return undefined
      tokens.push({ kind: 'wildcard', source: read.source })
      at = read.end
    } else {
      tokens.push({ kind: 'text', source: literal(char) })
    }
  }
  return tokens
}

/** `[abc]`, `[^a-z]`; members may stand behind a backslash. `!` does not negate, other than in git. */
function readClass(chars: readonly string[], start: number): { source: string; end: number } | undefined {
  let at = start + 1
  const negated = chars[at] === '^'
  if (negated) at++
  let members = ''
  const member = (): string | undefined => {
    let char = chars[at++]
    if (char === '-' || char === ']') return undefined
    if (char === '\\') char = chars[at++]
    return char
  }
  do {
    const low = member()
    if (low === undefined) return undefined
    let high = low
    if (chars[at] === '-') {
      at++
      const read = member()
      if (read === undefined) return undefined
      high = read
    }
    // A range that runs backwards matches nothing.
    if (low <= high) members += `${literal(low)}-${literal(high)}`
  } while (at < chars.length && chars[at] !== ']')
  if (chars[at] !== ']') return undefined
  return { source: negated ? `[^/${members}]` : `(?!/)[${members}]`, end: at }
}

function literal(char: string): string {
  return /[\\^$.*+?()[\]{}|/-]/.test(char) ? `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}` : char
}
