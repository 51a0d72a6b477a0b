/** Looks into an uploaded archive as the builder would: gzip, tar, the config file, and what it serves. */
import { posix } from 'node:path'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { Parser } from 'tar'
import { isObject } from '../wire/schema.ts'

export interface ArchiveEntry {
  path: string
  size: number
  /** As `tar` names it: `File`, `Directory`, `SymbolicLink`, … */
  type: string
  mode: number | null
}

export interface ArchiveReport {
  entries: ArchiveEntry[]
  /** What keeps it from being built; undefined: it builds. */
  fault: string | undefined
  graphs: string[]
  disableA2a: boolean
}

interface Contents {
  entries: ArchiveEntry[]
  config: string | undefined
}

/** What an archive may unfold to: above it the builder gives up, as on a bomb. */
const UNPACKED_LIMIT = 2 * 1024 ** 3
const TAR_BLOCK = 512

/** It is a gzip file, and what is in it is no tar. */
class ArchiveFault extends Error {}

function normal(path: string): string {
  return posix.normalize(path).replace(/^\.\//, '')
}

/** The chunks again, the first of them long enough to hold a header. */
async function* withHeader(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let head: Buffer | undefined = Buffer.alloc(0)
  for await (const chunk of chunks) {
    if (!head) {
      yield chunk
      continue
    }
    head = Buffer.concat([head, chunk])
    if (head.length < TAR_BLOCK) continue
    yield head
    head = undefined
  }
  if (head) yield head
}

/**
 * Reads a tar as it is unpacked, keeping only the config file.
 * @throws ArchiveFault when it is not a whole tar; the unpacker's own error when it is no gzip.
 */
async function readTar(chunks: AsyncIterable<Buffer>, configPath: string): Promise<Contents> {
  const entries: ArchiveEntry[] = []
  const parts: Buffer[] = []
  let found = false
  let damage: Error | undefined
  const parser = new Parser({
    strict: true,
    onReadEntry: (entry) => {
      const { path, type, mode } = entry
      entries.push({ path, type, mode: mode ?? null, size: entry.size ?? 0 })
      if (normal(path) === configPath && (type === 'File' || type === 'OldFile')) {
        found = true
        parts.length = 0
        entry.on('data', (chunk: Buffer) => parts.push(Buffer.from(chunk)))
      } else {
        entry.resume()
      }
    },
  })
  parser.on('error', (error: Error) => {
    damage ??= error
  })
  let size = 0
  for await (const chunk of withHeader(chunks)) {
    if (size === 0 && chunk.subarray(257, 262).toString('latin1') !== 'ustar') throw new ArchiveFault()
    size += chunk.length
    if (size > UNPACKED_LIMIT) throw new ArchiveFault()
    parser.write(chunk)
    if (damage) throw new ArchiveFault()
  }
  parser.end()
  if (damage || size === 0 || size % TAR_BLOCK !== 0) throw new ArchiveFault()
  return { entries, config: found ? Buffer.concat(parts).toString('utf8') : undefined }
}

/** `./src/agent.py:graph` → `src/agent.py`; a graph may also be a mapping with `path`. */
function graphFile(value: unknown): string | undefined {
  const spec = isObject(value) ? value.path : value
  if (typeof spec !== 'string') return undefined
  const colon = spec.lastIndexOf(':')
  return colon > 0 ? spec.slice(0, colon) : undefined
}

function readConfig(
  source: string,
  configPath: string,
  files: ReadonlySet<string>,
): Omit<ArchiveReport, 'entries'> {
  const nothing = { graphs: [], disableA2a: false }
  let config: unknown
  try {
    config = JSON.parse(source)
  } catch {
    return { ...nothing, fault: `${configPath} is not valid JSON` }
  }
  if (!isObject(config) || !isObject(config.graphs) || Object.keys(config.graphs).length === 0) {
    return { ...nothing, fault: `${configPath} must have a 'graphs' object with at least one graph` }
  }
  const folder = posix.dirname(configPath)
  for (const [name, value] of Object.entries(config.graphs)) {
    const file = graphFile(value)
    if (file === undefined) {
      return { ...nothing, fault: `graph '${name}' in ${configPath} must be '<path>:<attribute>'` }
    }
    // A path without a slash and an ending names an installed module, which no archive has to hold.
    const isModule = !file.includes('/') && posix.extname(file) === ''
    if (!isModule && !files.has(normal(posix.join(folder, file)))) {
      return {
        ...nothing,
        fault: `graph '${name}' in ${configPath} points to '${file}', which is not in the archive`,
      }
    }
  }
  const http = isObject(config.http) ? config.http : {}
  return { fault: undefined, graphs: Object.keys(config.graphs), disableA2a: http.disable_a2a === true }
}

/** @param configPath of the config file, relative to the archive's root. */
export async function inspectArchive(gzip: Buffer, configPath: string): Promise<ArchiveReport> {
  const wanted = normal(configPath)
  const broken = (fault: string): ArchiveReport => ({ entries: [], fault, graphs: [], disableA2a: false })
  let contents: Contents
  try {
    contents = await readTar(Readable.from([gzip]).pipe(createGunzip()), wanted)
  } catch (error) {
    const kind = error instanceof ArchiveFault ? 'tar' : 'gzip'
    return broken(`the source archive is not a valid ${kind} file`)
  }
  const { entries, config } = contents
  const outside = entries.find(({ path }) => path.startsWith('/') || path.split('/').includes('..'))
  if (outside) return { ...broken(`the source archive has an unsafe path: ${outside.path}`), entries }
  if (config === undefined) return { ...broken(`${wanted} was not found in the source archive`), entries }
  const files = new Set(entries.filter(({ type }) => /File/.test(type)).map(({ path }) => normal(path)))
  return { entries, ...readConfig(config, wanted, files) }
}
