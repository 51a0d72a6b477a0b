import { type FileHandle, mkdir, mkdtemp, open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentDeployError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { codeOf } from './fs-error.ts'
import { gzip } from './gzip.ts'
import { readLanggraphJson } from './langgraph-json.ts'
import { resolveSource } from './source.ts'
import { tar } from './tar.ts'
import { type Entry, type Listing, listFiles } from './walk.ts'

/** What the service's storage takes (`X-Goog-Content-Length-Range: 0,209715200`). */
export const MAX_ARCHIVE_BYTES = 200 * 1024 * 1024
/** The official CLIs warn from here on. */
export const LARGE_ARCHIVE_BYTES = 50 * 1024 * 1024

const LEVEL = 6
const MAX_LISTED = 50

export interface ArchiveOptions {
  /** The input: relative to `workspace`, or absolute. */
  readonly sourcePath: string
  /** The input: relative to `sourcePath`. */
  readonly configPath: string
  /** `GITHUB_WORKSPACE`. */
  readonly workspace: string
  /** `RUNNER_TEMP`: the archive is written there. */
  readonly tempDir: string
  readonly signal: AbortSignal
  readonly log: Log
  /** Another limit than `MAX_ARCHIVE_BYTES`, in compressed bytes. */
  readonly maxBytes?: number
}

export interface Archive {
  /** A gzipped tar file that only this user can read. */
  readonly path: string
  /** Compressed size. */
  readonly bytes: number
  readonly entries: number
  /** What the safety list kept out though no ignore file does; folders end in `/`. */
  readonly leftOut: readonly string[]
  /** Names of the graphs in the config. */
  readonly graphs: readonly string[]
  /** `http.disable_a2a` of the config. */
  readonly disableA2a: boolean
  /** The config's path in the archive: `langgraph_config_path` of the request. */
  readonly configPath: string
  /** Removes the file. Never throws; may be called more than once. */
  remove(): Promise<void>
}

/** The archive is larger than the service takes. */
export class ArchiveTooLargeError extends AgentDeployError {}

/**
 * Makes the archive of source `internal_source` (design, section 4): checks the config against it, and streams
 * it through tar and gzip into a file of mode 600. The caller removes it; a failure here leaves nothing.
 * @throws InputError for a folder or config that does not fit together, ArchiveTooLargeError over the limit,
 *   AgentDeployError for links out of the folder and unreadable files, the signal's reason when cancelled
 */
export async function createArchive(options: ArchiveOptions): Promise<Archive> {
  const { signal, log } = options
  const source = await resolveSource(options)
  const listing = await listFiles({ root: source.root, workspace: source.workspace, signal })
  const paths = new Set(listing.entries.map((entry) => entry.path))
  const config = await readLanggraphJson(source, paths, log)
  report(listing, log)

  const folder = await makeFolder(options.tempDir)
  const remove = (): Promise<void> =>
    rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
  try {
    const path = join(folder, 'source.tar.gz')
    const maxBytes = options.maxBytes ?? MAX_ARCHIVE_BYTES
    const bytes = await write(path, listing.entries, maxBytes, signal)
    const size = `${listing.entries.length} ${listing.entries.length === 1 ? 'file' : 'files'}, ${megabytes(bytes)} compressed`
    if (bytes >= LARGE_ARCHIVE_BYTES) {
      log.warning(
        `The archive of source-path has ${size}; from ${megabytes(maxBytes)} on it is refused. Largest: ${await largest(listing.entries)}. Leave out by .dockerignore what the agent does not need.`,
      )
    } else {
      log.info(`The archive of source-path has ${size}`)
    }
    return {
      ...config,
      path,
      bytes,
      entries: listing.entries.length,
      leftOut: listing.leftOut.map((each) => each.path),
      remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

async function write(
  path: string,
  entries: readonly Entry[],
  maxBytes: number,
  signal: AbortSignal,
): Promise<number> {
  let handle: FileHandle | undefined
  let bytes = 0
  try {
    handle = await open(path, 'wx', 0o600)
    for await (const chunk of gzip(tar(entries, signal), LEVEL)) {
      bytes += chunk.length
      if (bytes > maxBytes) throw await tooLarge(entries, maxBytes)
      await handle.writeFile(chunk)
      signal.throwIfAborted()
    }
    return bytes
  } catch (error) {
    if (error instanceof AgentDeployError || codeOf(error) === '') throw error
    throw new AgentDeployError(`The archive cannot be written to RUNNER_TEMP (${codeOf(error)})`, {
      cause: error,
      hint: 'Look at the free space of the runner’s disk, and at the permissions of RUNNER_TEMP.',
    })
  } finally {
    await handle?.close()
  }
}

async function tooLarge(entries: readonly Entry[], maxBytes: number): Promise<ArchiveTooLargeError> {
  return new ArchiveTooLargeError(
    `The archive of source-path is larger than ${megabytes(maxBytes)} compressed, which the service does not take. Largest: ${await largest(entries)}`,
    {
      hint: 'Leave out by .dockerignore what the agent does not need, load models and data when it starts, or deploy an image (push-image).',
    },
  )
}

/** The five largest files, uncompressed, for a message. */
async function largest(entries: readonly Entry[]): Promise<string> {
  const top: { path: string; size: number }[] = []
  for (const { path, file } of entries) {
    const size = await stat(file).then(
      (found) => found.size,
      () => 0,
    )
    if (top.length === 5 && size <= (top[4]?.size ?? 0)) continue
    top.push({ path, size })
    top.sort((a, b) => b.size - a.size)
    top.length = Math.min(5, top.length)
  }
  return top.map(({ path, size }) => `${path} (${megabytes(size)})`).join(', ')
}

function report(listing: Listing, log: Log): void {
  const secrets = listing.leftOut.filter((each) => each.kind === 'secret').map((each) => each.path)
  const tools = [
    ...new Set(
      listing.leftOut
        .filter((each) => each.kind === 'tool')
        .map((each) => each.path.replace(/^.*\/(?=.)/, '')),
    ),
  ]
  if (secrets.length > 0 || tools.length > 0) {
    log.info(
      `Left out of the archive for safety: ${[...secrets.slice(0, MAX_LISTED), ...more(secrets), ...tools].join(', ')}`,
    )
  }
  if (listing.skipped.length > 0) {
    log.warning(
      `Left out of the archive, because they are neither files nor folders, or links that point nowhere: ${[...listing.skipped.slice(0, MAX_LISTED), ...more(listing.skipped)].join(', ')}`,
    )
  }
}

function more(list: readonly string[]): string[] {
  return list.length > MAX_LISTED ? [`and ${list.length - MAX_LISTED} more`] : []
}

async function makeFolder(tempDir: string): Promise<string> {
  try {
    await mkdir(tempDir, { recursive: true })
    return await mkdtemp(join(tempDir, 'agent-deploy-'))
  } catch (error) {
    throw new AgentDeployError(`No folder can be made in "${tempDir}" (${codeOf(error)})`, {
      cause: error,
      hint: 'RUNNER_TEMP must be a folder that this step can write to.',
    })
  }
}

function megabytes(bytes: number): string {
  const value = bytes / (1024 * 1024)
  return value < 0.1 ? `${Math.ceil(bytes / 1024)} KB` : `${Number(value.toFixed(1))} MB`
}
