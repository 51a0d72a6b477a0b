import { createHash, randomBytes } from 'node:crypto'

/** Name space in which a system assistant's id is made of its graph's name (recorded: `agent` gives fe096781-…). */
const ASSISTANT_NAMESPACE = '6ba7b821-9dad-11d1-80b4-00c04fd430c8'
/** 100 ns units between 1582-10-15 and 1970-01-01, the zero points of UUID v6 and of Unix time. */
const GREGORIAN_OFFSET = 0x01b21dd213814000n

function format(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

function stamp(bytes: Uint8Array, version: number): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | (version << 4)
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return format(bytes)
}

/** The id of the system assistant of a graph: UUID v5 of the graph's name. */
export function systemAssistantId(graphId: string): string {
  const namespace = Buffer.from(ASSISTANT_NAMESPACE.replaceAll('-', ''), 'hex')
  const hash = createHash('sha1').update(namespace).update(graphId, 'utf8').digest()
  return stamp(hash.subarray(0, 16), 5)
}

/**
 * Reads a UUID in one of the spellings that the server takes in paths: upper case, without dashes.
 * Gives the canonical lower-case spelling, or undefined when it is none.
 */
export function canonicalUuid(text: string): string | undefined {
  const hex = text.replaceAll('-', '').toLowerCase()
  if (!/^[0-9a-f]{32}$/.test(hex)) return undefined
  return format(Buffer.from(hex, 'hex'))
}

/** Makes the ids that the server hands out, each of the version that was recorded for its kind. */
export class IdSource {
  readonly #now: () => number
  readonly #random: (size: number) => Uint8Array

  /** `now` gives milliseconds since 1970, `random` that many random bytes. */
  constructor(now: () => number, random: (size: number) => Uint8Array = randomBytes) {
    this.#now = now
    this.#random = random
  }

  /** Messages, user-made assistants, A2A contexts. */
  v4(): string {
    return stamp(Uint8Array.from(this.#random(16)), 4)
  }

  /** Checkpoints: sorts by time when read from left to right; the clock's sequence tells the step. */
  v6(sequence: number): string {
    const bytes = Uint8Array.from(this.#random(16))
    const ticks = BigInt(Math.trunc(this.#now())) * 10_000n + BigInt((bytes[0] ?? 0) * 39) + GREGORIAN_OFFSET
    const high = ticks >> 12n
    for (let index = 0; index < 6; index += 1) bytes[index] = Number((high >> BigInt(40 - 8 * index)) & 0xffn)
    bytes[6] = Number((ticks >> 8n) & 0x0fn)
    bytes[7] = Number(ticks & 0xffn)
    bytes[8] = (sequence >> 8) & 0x3f
    bytes[9] = sequence & 0xff
    return stamp(bytes, 6)
  }

  /** Threads and runs. */
  v7(): string {
    const bytes = Uint8Array.from(this.#random(16))
    const ms = Math.trunc(this.#now())
    for (let index = 0; index < 6; index += 1) bytes[index] = Math.trunc(ms / 2 ** (40 - 8 * index)) % 256
    return stamp(bytes, 7)
  }

  /** Tasks of a step: 128 bits in a UUID's spelling, of no version. */
  task(): string {
    return format(this.#random(16))
  }

  /** Interrupts: 32 hexadecimal digits. */
  hex(): string {
    return Buffer.from(this.#random(16)).toString('hex')
  }
}
