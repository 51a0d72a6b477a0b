import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { gunzipSync, inflateRawSync } from 'node:zlib'
import { describe, expect, it } from '@jest/globals'
import { gzip } from '../../../src/deploy/archive/gzip.ts'

async function compress(content: Buffer, step: number, parallel?: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  // One buffer for all chunks, as the tar writer has it: what is not copied in time is overwritten.
  const shared = Buffer.alloc(step)
  async function* source() {
    for (let at = 0; at < content.length; at += step) {
      const part = content.subarray(at, at + step)
      part.copy(shared)
      yield shared.subarray(0, part.length)
      shared.fill(0)
    }
  }
  for await (const chunk of gzip(source(), 6, parallel)) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

const MEGABYTE = 1024 * 1024
const text = Buffer.alloc(3 * MEGABYTE, 'the quick brown fox jumps over the lazy dog 0123456789\n')

describe('gzip', () => {
  const contents: [title: string, content: Buffer][] = [
    ['nothing', Buffer.alloc(0)],
    ['one byte', Buffer.from('x')],
    ['just under a block', text.subarray(0, MEGABYTE / 2 - 1)],
    ['a block', text.subarray(0, MEGABYTE / 2)],
    ['just over a block', text.subarray(0, MEGABYTE / 2 + 1)],
    ['text', text],
    ['random bytes', randomBytes(3 * MEGABYTE + 7)],
    ['both', Buffer.concat([text, randomBytes(MEGABYTE), text])],
  ]
  it.each(contents)('gives back %s', async (_title, content) => {
    for (const [step, parallel] of [
      [100_000, 1],
      [3 * MEGABYTE, 4],
      [4097, 2],
    ] as const) {
      // biome-ignore format: pairs
      const packed = await compress(content, step, parallel)
      expect(gunzipSync(packed).equals(content)).toBe(true)
    }
  })

  it('does not depend on chunks or on the number of threads', async () => {
    const content = Buffer.concat([text, randomBytes(MEGABYTE), text])
    const one = await compress(content, 100_000, 1)
    expect((await compress(content, 7_777, 4)).equals(one)).toBe(true)
    expect((await compress(content, 5 * MEGABYTE, 3)).equals(one)).toBe(true)
  })

  it('is one member without name and time, which plain inflate and gzip itself read', async () => {
    const packed = await compress(text, 100_000)
    expect([...packed.subarray(0, 10)]).toEqual([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])
    expect(inflateRawSync(packed.subarray(10, -8)).equals(text)).toBe(true)
    expect(packed.readUInt32LE(packed.length - 4)).toBe(text.length)
    if (process.platform !== 'win32') {
      expect(execFileSync('gzip', ['-dc'], { input: packed, maxBuffer: 10 * MEGABYTE }).equals(text)).toBe(
        true,
      )
    }
  })

  it('looks back over the edges of its blocks', async () => {
    // The second block repeats the end of the first, which itself cannot be made smaller.
    const noise = randomBytes(MEGABYTE / 2)
    const content = Buffer.concat([noise, noise.subarray(-30_000)])
    expect((await compress(content, 100_000)).length).toBeLessThan(noise.length + 3000)
  })

  it('passes on what the source throws', async () => {
    async function* broken() {
      yield text
      throw new Error('the source broke')
    }
    await expect(async () => {
      for await (const _ of gzip(broken(), 6));
    }).rejects.toThrow('the source broke')
  })
})
