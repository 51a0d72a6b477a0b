import { lstat, readFile } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import ignore, { type Ignore } from 'ignore'
import { isMissing } from './fs-error.ts'

/**
 * The `.gitignore` rules that hold in one folder: its own and those of the folders above it, up to the folder
 * that holds `.git`. Immutable; a folder below gets its own by `enter`.
 */
export class GitIgnore {
  readonly #rules: Ignore | undefined
  /** Path of the folder below the rules' root, with `/`; empty at the root. */
  readonly #folder: string
  /** The folder itself, or one above it, is ignored: then git reads no further rules, and all below is. */
  readonly #ignored: boolean

  private constructor(rules: Ignore | undefined, folder: string, ignored: boolean) {
    this.#rules = rules
    this.#folder = folder
    this.#ignored = ignored
  }

  /**
   * Reads the rules from the nearest folder at or above `folder` that holds `.git`, else from `workspace` when
   * that is at or above it, else from `folder` itself.
   * @param folder absolute, without links
   * @param workspace absolute, without links
   */
  static async above(folder: string, workspace: string): Promise<GitIgnore> {
    const root = (await gitRoot(folder)) ?? (isAtOrBelow(folder, workspace) ? workspace : folder)
    let rules = await new GitIgnore(undefined, '', false).#withFile(root)
    let at = root
    for (const part of relative(root, folder)
      .split(sep)
      .filter((name) => name !== '')) {
      at = join(at, part)
      rules = await rules.enter(part, at)
    }
    return rules
  }

  /** Whether everything here is ignored, because this folder or one above it is. */
  get all(): boolean {
    return this.#ignored
  }

  /** Whether git ignores a file or folder that lies directly in this folder. */
  ignores(name: string, isFolder: boolean): boolean {
    if (this.#ignored) return true
    const path = this.#below(name)
    return this.#rules?.ignores(isFolder ? `${path}/` : path) ?? false
  }

  /**
   * The rules of a folder that lies directly in this one.
   * @param folder where it is, to read its `.gitignore`
   */
  async enter(name: string, folder: string): Promise<GitIgnore> {
    if (this.ignores(name, true)) return new GitIgnore(this.#rules, this.#below(name), true)
    // A repository inside a repository: git never looks beyond the `.git` that a file belongs to.
    if (await exists(join(folder, '.git'))) return new GitIgnore(undefined, '', false).#withFile(folder)
    return new GitIgnore(this.#rules, this.#below(name), false).#withFile(folder)
  }

  async #withFile(folder: string): Promise<GitIgnore> {
    const text = await readRules(join(folder, '.gitignore'))
    const patterns = text === undefined ? [] : anchor(text, this.#folder)
    if (patterns.length === 0) return this
    const rules = ignore({ ignorecase: process.platform === 'win32' || process.platform === 'darwin' })
    if (this.#rules !== undefined) rules.add(this.#rules)
    return new GitIgnore(rules.add(patterns), this.#folder, false)
  }

  #below(name: string): string {
    return this.#folder === '' ? name : `${this.#folder}/${name}`
  }
}

/** Whether `path` is `folder` or lies below it. Both absolute. */
export function isAtOrBelow(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && resolve(folder, way) === path)
}

async function gitRoot(folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    if (await exists(join(at, '.git'))) return at
    if (dirname(at) === at) return undefined
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

/** A `.gitignore` that is a link is not read: git does not follow it either. */
async function readRules(path: string): Promise<string | undefined> {
  try {
    return (await lstat(path)).isFile() ? await readFile(path, 'utf8') : undefined
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/**
 * Rewrites the patterns of a folder's `.gitignore` so that they mean the same when they stand in the one at
 * the root: then the last match of one list decides, as it does over git's several files.
 */
function anchor(text: string, folder: string): string[] {
  const prefix = folder === '' ? '' : `/${folder.replace(/[\\*?[\]!# ]/g, '\\$&')}`
  const patterns: string[] = []
  for (const line of text.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    if (line.startsWith('#')) continue
    const negated = line.startsWith('!')
    const body = trimBlanks(negated ? line.slice(1) : line)
    if (body === '' || body === '/') continue
    const inner = body.endsWith('/') ? body.slice(0, -1) : body
    const rooted = inner.startsWith('/') ? inner.slice(1) : inner
    const anchored = inner.includes('/') ? `/${rooted}` : prefix === '' ? rooted : `/**/${rooted}`
    patterns.push(`${negated ? '!' : ''}${prefix}${anchored}${body.endsWith('/') ? '/' : ''}`)
  }
  return patterns
}

/** Blanks at the end do not count, but for one behind a backslash. */
function trimBlanks(text: string): string {
  const trimmed = text.replace(/ +$/, '')
  const slashes = /\\*$/.exec(trimmed)?.[0].length ?? 0
  return slashes % 2 === 1 && trimmed.length < text.length ? `${trimmed} ` : trimmed
}
