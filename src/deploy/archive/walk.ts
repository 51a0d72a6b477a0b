import type { Dirent } from 'node:fs'
import { lstat, readdir, readFile, readlink, realpath, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { AgentDeployError } from '../../base/errors.ts'
import { DockerIgnore } from './docker-ignore.ts'
import { codeOf, isMissing } from './fs-error.ts'
import { GitIgnore, isAtOrBelow } from './git-ignore.ts'
import { judgeName, judgePath, type Unsafe } from './safety.ts'

/** A file that goes into the archive. */
export interface Entry {
  /** Below the archive's root, with `/`. */
  readonly path: string
  /** What is read: the file itself, or what a link points to. Absolute. */
  readonly file: string
}

export interface Listing {
  /** In the order of their paths, each folder's names by code unit: the same tree gives the same archive. */
  readonly entries: readonly Entry[]
  /** What the safety list alone kept out; folders end in `/`. */
  readonly leftOut: readonly { readonly path: string; readonly kind: Unsafe }[]
  /** What is neither a file nor a folder, and links that point nowhere. */
  readonly skipped: readonly string[]
}

/** Links make trees of any size out of a few folders; no source tree has so many files. */
const MAX_ENTRIES = 200_000
const MAX_NAMED = 10

/**
 * Lists the files of a folder that go into its archive, by the rules of design section 4 (Source
 * `internal_source`): `.gitignore`, `.dockerignore`, the safety list, links followed inside the folder.
 * @param options.root the folder, absolute and without links
 * @param options.workspace where `.gitignore` files begin to count when there is no `.git`; without links
 * @throws AgentDeployError for links out of the folder, names that are not UTF-8, unreadable folders
 */
export async function listFiles(options: {
  root: string
  workspace: string
  signal: AbortSignal
}): Promise<Listing> {
  const { root, workspace, signal } = options
  try {
    const walk = new Walk(root, await readDockerIgnore(root), signal)
    await walk.folder({ path: '', file: root, git: await GitIgnore.above(root, workspace), chain: [root] })
    return walk.finish()
  } catch (error) {
    if (error instanceof AgentDeployError || codeOf(error) === '') throw error
    const path = (error as NodeJS.ErrnoException).path
    throw new AgentDeployError(
      `${path === undefined ? 'A file' : `"${relative(root, path)}"`} in source-path cannot be read (${codeOf(error)})`,
      {
        cause: error,
        hint: 'Look at its permissions: steps that run in a container leave files of another user behind. Or leave it out by .dockerignore.',
      },
    )
  }
}

interface Folder {
  /** Below the archive's root; empty at the root. */
  readonly path: string
  /** Where it is on disk, without links. */
  readonly file: string
  readonly git: GitIgnore
  /** The folders on the way here, without links: one that comes again is a cycle. */
  readonly chain: readonly string[]
}

class Walk {
  readonly #root: string
  readonly #docker: DockerIgnore
  readonly #signal: AbortSignal
  readonly #entries: Entry[] = []
  readonly #leftOut: { path: string; kind: Unsafe }[] = []
  readonly #skipped: string[] = []
  readonly #outside: string[] = []

  constructor(root: string, docker: DockerIgnore, signal: AbortSignal) {
    this.#root = root
    this.#docker = docker
    this.#signal = signal
  }

  finish(): Listing {
    const [first] = this.#outside
    if (first !== undefined) {
      const more = this.#outside.length - MAX_NAMED
      const names = this.#outside.slice(0, MAX_NAMED).map((path) => `"${path}"`)
      throw new AgentDeployError(
        `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''} in source-path ${this.#outside.length === 1 ? 'is a link' : 'are links'} out of that folder, to files that would be missing in the archive`,
        {
          hint: 'Put a copy there in place of the link, leave it out by .dockerignore, or choose a source-path that holds both ends.',
        },
      )
    }
    return { entries: this.#entries, leftOut: this.#leftOut, skipped: this.#skipped }
  }

  async folder(folder: Folder): Promise<void> {
    this.#signal.throwIfAborted()
    const items = await readdir(folder.file, { withFileTypes: true })
    items.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    for (const item of items) await this.#item(folder, item)
  }

  async #item(folder: Folder, item: Dirent): Promise<void> {
    const { name } = item
    const path = folder.path === '' ? name : `${folder.path}/${name}`
    const file = join(folder.file, name)
    const target = item.isSymbolicLink() ? await this.#target(file) : undefined
    const isFolder = item.isDirectory() || target?.kind === 'folder'

    const git = folder.git.ignores(name, isFolder)
    const docker = this.#docker.judge(path)
    const included = docker === 'brought back' || (docker === 'unsaid' && !git)
    const enter = isFolder && (included || this.#docker.mayBringBack(path))
    if (!included && !enter) return

    const parent = folder.path.slice(folder.path.lastIndexOf('/') + 1)
    const unsafe =
      judgeName(name, parent, isFolder || (target !== undefined && target.kind !== 'file')) ??
      (target?.inside === undefined || target.inside === ''
        ? undefined
        : judgePath(target.inside, target.kind !== 'file'))
    if (unsafe !== undefined) {
      if (included) this.#leftOut.push({ path: isFolder ? `${path}/` : path, kind: unsafe })
      return
    }
    if (enter) {
      // A folder that is only entered for what a `!` may bring back can lie anywhere.
      if (target?.inside === undefined && target !== undefined) {
        if (included) this.#outside.push(path)
        return
      }
      const real = target?.file ?? file
      if (folder.chain.includes(real)) return
      const rules = await folder.git.enter(name, real)
      return this.folder({ path, file: real, git: rules, chain: [...folder.chain, real] })
    }
    if (target !== undefined && target.inside === undefined) this.#outside.push(path)
    else if (item.isFile() || target?.kind === 'file') await this.#add(path, target?.file ?? file, name)
    else this.#skipped.push(path)
  }

  async #add(path: string, file: string, name: string): Promise<void> {
    // Node shows bytes that are no UTF-8 as U+FFFD; the name then leads nowhere.
    if (name.includes('\uFFFD') && !(await isThere(file))) {
      throw new AgentDeployError(`The name of "${path}" in source-path is not UTF-8`, {
        hint: 'Rename the file, or leave it out by a pattern in .dockerignore (? stands for one character).',
      })
    }
    if (this.#entries.length >= MAX_ENTRIES) {
      throw new AgentDeployError(
        `source-path holds more than ${MAX_ENTRIES.toLocaleString('en-US')} files (links to folders count as often as they are followed)`,
        { hint: 'Choose a smaller source-path, or leave folders out by .dockerignore.' },
      )
    }
    this.#entries.push({ path, file })
  }

  /** What a link points to, in the end. `inside` is its path below the root, absent when it is not there. */
  async #target(link: string): Promise<Target> {
    try {
      const file = await realpath(link)
      const found = await stat(file)
      const kind = found.isDirectory() ? 'folder' : found.isFile() ? 'file' : 'other'
      return { file, kind, inside: this.#inside(file) }
    } catch (error) {
      if (!isMissing(error) && codeOf(error) !== 'ELOOP') throw error
      // A link that leads nowhere: where it would be tells whether it leads out.
      const file = resolve(await realpath(dirname(link)), await readlink(link))
      return { file, kind: 'nothing', inside: this.#inside(file) }
    }
  }

  #inside(file: string): string | undefined {
    return isAtOrBelow(file, this.#root) ? relative(this.#root, file).split(sep).join('/') : undefined
  }
}

interface Target {
  readonly file: string
  readonly kind: 'file' | 'folder' | 'other' | 'nothing'
  readonly inside: string | undefined
}

async function isThere(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    () => false,
  )
}

async function readDockerIgnore(root: string): Promise<DockerIgnore> {
  try {
    return new DockerIgnore(await readFile(join(root, '.dockerignore'), 'utf8'))
  } catch (error) {
    if (isMissing(error) || codeOf(error) === 'EISDIR') return new DockerIgnore('')
    throw error
  }
}
