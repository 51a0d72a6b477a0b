import { availableParallelism } from 'node:os'
import { types } from 'node:util'
import { constants, crc32, createDeflateRaw } from 'node:zlib'

const BLOCK_SIZE = 512 * 1024
/** Room for what a block becomes, so that one call of the thread pool does it: random bytes grow a little. */
const CHUNK_SIZE = BLOCK_SIZE + 16 * 1024
/** How far deflate looks back. */
const WINDOW = 32 * 1024
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])

/**
 * Compresses a stream to one gzip member, blocks side by side on Node's thread pool: each block is deflated
 * with the end of the one before as its dictionary and flushed to a byte boundary, so that they join to one
 * deflate stream, which every reader of RFC 1952 takes (as `pigz` does it). The bytes depend on the content
 * alone: not on the chunks it comes in, not on the machine, and there is neither name nor time in the header.
 * @param source chunks, each copied before the next one is asked for
 * @param level 1 to 9
 * @returns chunks that are valid until the next one is asked for
 */
export async function* gzip(
  source: AsyncIterable<Uint8Array>,
  level: number,
  parallel: number = Math.min(4, availableParallelism()),
): AsyncGenerator<Buffer> {
  const free: Buffer[] = []
  const pending: Promise<Buffer[]>[] = []
  let block: Buffer = Buffer.allocUnsafe(BLOCK_SIZE)
  let filled = 0
  let window: Buffer = Buffer.alloc(0)
  let checksum = 0
  let total = 0

  const start = (last: boolean): void => {
    const used = block
    const content = used.subarray(0, filled)
    const result = deflate(content, window, level, last).finally(() => free.push(used))
    // Awaited in its turn; until then a failure must not count as unhandled.
    result.catch(() => {})
    pending.push(result)
    checksum = crc32(content, checksum)
    total += filled
    window = Buffer.from(content.subarray(Math.max(0, content.length - WINDOW)))
    block = free.pop() ?? Buffer.allocUnsafe(BLOCK_SIZE)
    filled = 0
  }

  yield HEADER
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length; ) {
      const part = chunk.subarray(at, at + BLOCK_SIZE - filled)
      block.set(part, filled)
      filled += part.length
      at += part.length
      if (filled < BLOCK_SIZE) continue
      start(false)
      if (pending.length > parallel) yield* handOut(await (pending.shift() as Promise<Buffer[]>))
    }
  }
  start(true)
  for (const result of pending) yield* handOut(await result)
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(checksum, 0)
  trailer.writeUInt32LE(total % 2 ** 32, 4)
  yield trailer
}

/**
 * Gives a block's output out, and its memory back at once. The collector sees how little the heap holds and
 * not how much lies outside of it, and would let some seventy megabytes pile up.
 */
function* handOut(chunks: readonly Buffer[]): Generator<Buffer> {
  yield* chunks
  for (const { buffer } of chunks) {
    // Small ones are parts of Node's shared pool, which is not ours to give back.
    if (buffer.byteLength === CHUNK_SIZE && types.isArrayBuffer(buffer)) buffer.transfer(0)
  }
}

/** One block. Not by `zlib.deflateRaw`, which copies what comes in two pieces. */
function deflate(content: Buffer, window: Buffer, level: number, last: boolean): Promise<Buffer[]> {
  return new Promise((done, fail) => {
    const chunks: Buffer[] = []
    createDeflateRaw({
      level,
      finishFlush: last ? constants.Z_FINISH : constants.Z_SYNC_FLUSH,
      chunkSize: CHUNK_SIZE,
      ...(window.length === 0 ? {} : { dictionary: window }),
    })
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => done(chunks))
      .on('error', fail)
      .end(content)
  })
}
