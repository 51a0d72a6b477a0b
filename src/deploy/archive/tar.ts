import { type FileHandle, open } from 'node:fs/promises'
import { Header } from 'tar/header'
import { Pax } from 'tar/pax'
import { AgentDeployError } from '../../base/errors.ts'
import { codeOf } from './fs-error.ts'
import type { Entry } from './walk.ts'

const BLOCK = 512
const READ_SIZE = 256 * 1024
/** Files that are opened, and read where they are small, while one before them is written. */
const READ_AHEAD = 8

/**
 * The same for all files, so that the same tree gives the same bytes; not 1970, because Python's wheels are
 * zip files, and these refuse times before 1980.
 */
const MTIME = new Date('2000-01-01T00:00:00Z')

/**
 * The bytes of a tar archive (ustar, with pax headers for long and non-ASCII names): regular files only, mode
 * 644 or 755, no owner. A hard link is a file like any other.
 * @returns chunks that are valid until the next one is asked for
 * @throws AgentDeployError for a file that is gone, cannot be read or changes while it is read
 */
export async function* tar(entries: readonly Entry[], signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const ahead: Promise<Opened>[] = []
  // One buffer for each file in work, used again and again: garbage outside the heap is collected late.
  const buffers = Array.from({ length: READ_AHEAD }, () => Buffer.allocUnsafe(READ_SIZE))
  let next = 0
  const fill = (): void => {
    while (ahead.length < READ_AHEAD && next < entries.length) {
      const buffer = buffers[next % READ_AHEAD] as Buffer
      const opened = openEntry(entries[next++] as Entry, buffer)
      // Awaited in its turn; until then a failure must not count as unhandled.
      opened.catch(() => {})
      ahead.push(opened)
    }
  }
  try {
    for (fill(); ahead[0] !== undefined; fill()) {
      signal.throwIfAborted()
      const opened = await ahead[0]
      yield headerOf(opened)
      if (opened.handle === undefined) yield opened.buffer.subarray(0, opened.size)
      else yield* readAll(opened, opened.handle)
      const rest = opened.size % BLOCK
      if (rest > 0) yield Buffer.alloc(BLOCK - rest)
      await opened.handle?.close()
      ahead.shift()
    }
    yield Buffer.alloc(2 * BLOCK)
  } finally {
    for (const result of await Promise.allSettled(ahead)) {
      if (result.status === 'fulfilled') await result.value.handle?.close().catch(() => {})
    }
  }
}

interface Opened {
  readonly path: string
  readonly size: number
  readonly executable: boolean
  /** Holds all of a small file; a large one is read through it. */
  readonly buffer: Buffer
  /** Of a large file, which is read in its turn. */
  readonly handle: FileHandle | undefined
}

async function openEntry(entry: Entry, buffer: Buffer): Promise<Opened> {
  let handle: FileHandle | undefined
  try {
    handle = await open(entry.file, 'r')
    const stats = await handle.stat()
    const opened = { path: entry.path, size: stats.size, executable: (stats.mode & 0o100) !== 0, buffer }
    if (stats.size > buffer.length) return { ...opened, handle }
    await readExactly(handle, buffer.subarray(0, stats.size), entry.path)
    await handle.close()
    return { ...opened, handle: undefined }
  } catch (error) {
    await handle?.close().catch(() => {})
    throw toError(entry.path, error)
  }
}

async function* readAll(opened: Opened, handle: FileHandle): AsyncGenerator<Uint8Array> {
  for (let left = opened.size; left > 0; ) {
    const part = opened.buffer.subarray(0, Math.min(left, opened.buffer.length))
    try {
      await readExactly(handle, part, opened.path)
    } catch (error) {
      throw toError(opened.path, error)
    }
    yield part
    left -= part.length
  }
}

async function readExactly(handle: FileHandle, buffer: Buffer, path: string): Promise<void> {
  for (let at = 0; at < buffer.length; ) {
    const { bytesRead } = await handle.read(buffer, at, buffer.length - at)
    if (bytesRead === 0) {
      throw new AgentDeployError(`"${path}" in source-path became shorter while it was read`, {
        hint: 'Something still writes into source-path: let it end before this step, or leave the file out by .dockerignore.',
      })
    }
    at += bytesRead
  }
}

function toError(path: string, error: unknown): unknown {
  if (error instanceof AgentDeployError || codeOf(error) === '') return error
  return new AgentDeployError(`"${path}" in source-path cannot be read (${codeOf(error)})`, {
    cause: error,
    hint: 'Look at its permissions, and whether something still writes into source-path; or leave it out by .dockerignore.',
  })
}

function headerOf(file: { path: string; size: number; executable: boolean }): Buffer {
  const header = new Header({
    path: file.path,
    mode: file.executable ? 0o755 : 0o644,
    size: file.size,
    mtime: MTIME,
    type: 'File',
  })
  const needsPax = header.encode()
  const block = header.block as Buffer
  if (!needsPax) return block
  return Buffer.concat([new Pax({ path: file.path, size: file.size, mtime: MTIME }).encode(), block])
}
