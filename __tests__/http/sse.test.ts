import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from '@jest/globals'
import { NetworkError, ProtocolError, TimeoutError } from '../../src/http/errors.ts'
import { openSse, readSse, type SseEvent, type SseOptions } from '../../src/http/sse.ts'
import type { Request, Transport } from '../../src/http/transport.ts'
import { testTransport } from '../helpers/replay.ts'

const servers: Server[] = []
const transports: Transport[] = []

afterEach(async () => {
  for (const transport of transports.splice(0)) await transport.close()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

async function serve(
  answer: (response: ServerResponse) => void,
  contentType = 'text/event-stream; charset=utf-8',
): Promise<URL> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': contentType })
    answer(response)
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/stream`)
}

function transport(signal?: AbortSignal): Transport {
  const made = testTransport(signal)
  transports.push(made)
  return made
}

async function collect(url: URL, options: SseOptions = {}, request: Partial<Request> = {}) {
  const stream = await openSse(transport(), { method: 'GET', url, ...request }, options)
  const events: SseEvent[] = []
  for await (const event of stream.events) events.push(event)
  return events
}

/** Reads the bytes as if they came in these pieces. */
async function pieces(parts: readonly Uint8Array[], options: SseOptions = {}): Promise<SseEvent[]> {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield* parts
  }
  const stream = { status: 200, header: () => undefined, chunks: chunks(), close: () => {} }
  const events: SseEvent[] = []
  for await (const event of readSse(stream, { method: 'GET', url: 'x' }, options)) events.push(event)
  return events
}

const SAMPLE = 'event: a\nid: 7\ndata: {"x":"é€😀"}\n\n: heartbeat\n\ndata: one\ndata: two\n\n'

describe('readSse', () => {
  const expected = [
    { event: 'a', data: '{"x":"é€😀"}', id: '7' },
    { event: 'message', data: 'one\ntwo', id: undefined },
  ]

  for (const [name, end] of [
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['lone CR', '\r'],
  ] as const) {
    it(`reads ${name} line ends, split after every byte`, async () => {
      const bytes = Buffer.from(SAMPLE.replaceAll('\n', end))
      expect(await pieces(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(expected)
    })

    it(`reads ${name} line ends, split at every single place`, async () => {
      const bytes = Buffer.from(SAMPLE.replaceAll('\n', end))
      for (let at = 0; at <= bytes.length; at++) {
        expect(await pieces([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(expected)
      }
    })

    it(`counts a last event without its blank line (${name})`, async () => {
      for (const tail of ['', end]) {
        expect(await pieces([Buffer.from(`data: 1${end}${end}event: b${end}data: 2${tail}`)])).toEqual([
          { event: 'message', data: '1', id: undefined },
          { event: 'b', data: '2', id: undefined },
        ])
      }
    })
  }

  it('leaves a BOM out, keeps a colon and a space that belong to the value, and ignores unknown fields', async () => {
    const text = '\uFEFFdata:  a: b\nretry: soon\nfoo: bar\nnonsense\n\n'
    expect(await pieces([Buffer.from(text)])).toEqual([{ event: 'message', data: ' a: b', id: undefined }])
  })

  it('has no event for a block without data', async () => {
    expect(await pieces([Buffer.from('event: a\n\nid: 1\n\n: c\n\n')])).toEqual([])
  })

  it('shows broken UTF-8 as replacement characters and goes on', async () => {
    const bytes = Buffer.concat([
      Buffer.from('data: '),
      Buffer.from([0xff, 0xe2, 0x82]),
      Buffer.from('\n\ndata: ok\n\n'),
    ])
    const events = await pieces([bytes])
    expect(events.map((event) => event.data)).toEqual(['\uFFFD\uFFFD', 'ok'])
  })

  it('tells comments apart from events', async () => {
    const comments: string[] = []
    const events = await pieces([Buffer.from(': heartbeat\r\n\r\n: heartbeat\r\n\r\n')], {
      onComment: (text) => comments.push(text),
    })
    expect(events).toEqual([])
    expect(comments).toEqual(['heartbeat', 'heartbeat'])
  })

  it('refuses an event over the limit, in one line, in many lines, and in one chunk', async () => {
    const options = { maxEventChars: 100 }
    const oneLine = Buffer.from(`data: ${'x'.repeat(200)}`)
    const manyLines = Buffer.from('data: xxxxxxxxx\n'.repeat(20))
    const whole = Buffer.from(`data: ${'x'.repeat(200)}\n\n`)
    for (const bytes of [oneLine, manyLines, whole]) {
      const small = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, i) =>
        bytes.subarray(i * 7, i * 7 + 7),
      )
      await expect(pieces(small, options)).rejects.toThrow(/an event is longer than 100 characters/)
      await expect(pieces([bytes], options)).rejects.toThrow(ProtocolError)
    }
    expect(await pieces([Buffer.from(`data: ${'x'.repeat(90)}\n\n`)], options)).toHaveLength(1)
  })

  it('refuses a stream over the limit, comments included', async () => {
    const beats = Array.from({ length: 50 }, () => Buffer.from(': heartbeat\n\n'))
    await expect(pieces(beats, { maxStreamBytes: 500 })).rejects.toThrow(
      /the stream is larger than 500 bytes/,
    )
  })
})

describe('openSse', () => {
  it('asks for an event stream and reads it over a socket', async () => {
    const url = await serve((response) => response.end('data: 1\n\ndata: 2\n\n'))
    expect((await collect(url)).map((event) => event.data)).toEqual(['1', '2'])
  })

  it('refuses an answer that is no event stream', async () => {
    const url = await serve((response) => response.end('<html>'), 'text/html')
    await expect(collect(url)).rejects.toThrow(/answered something that is no event stream/)
  })

  it('refuses a compressed one too, without reading it', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' })
      response.write(gzipSync('x'.repeat(1_000_000)).subarray(0, 500))
    })
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    await expect(collect(url)).rejects.toThrow(/no event stream/)
    await new Promise((resolve) => setTimeout(resolve, 20))
  })

  it('ends by its deadline, however many heartbeats come', async () => {
    let timer: NodeJS.Timeout | undefined
    const url = await serve((response) => {
      response.write('data: 1\n\n')
      timer = setInterval(() => response.write(': heartbeat\n\n'), 20)
      response.on('close', () => clearInterval(timer))
    })
    await expect(collect(url, {}, { timeoutMs: 300 })).rejects.toThrow(TimeoutError)
  })

  it('ends when it is silent for too long', async () => {
    const url = await serve((response) => response.write('data: 1\n\n'))
    const error = await collect(url, {}, { timeoutMs: 20_000, idleTimeoutMs: 300 }).catch((caught) => caught)
    expect(error).toBeInstanceOf(TimeoutError)
    expect(error.message).toMatch(/no byte came within 0\.3 s/)
  })

  it('tells a broken connection, and gives no half event', async () => {
    const url = await serve((response) => {
      response.write('data: 1\n\ndata: {"ha', () => response.destroy())
    })
    const stream = await openSse(transport(), { method: 'GET', url })
    const seen: string[] = []
    const read = async (): Promise<void> => {
      for await (const event of stream.events) seen.push(event.data)
    }
    await expect(read()).rejects.toThrow(NetworkError)
    expect(seen).toEqual(['1'])
  })

  it('closes the connection when the caller stops', async () => {
    const closed = Promise.withResolvers<void>()
    const url = await serve((response) => {
      response.write('data: 1\n\ndata: 2\n\n')
      response.on('close', () => closed.resolve())
    })
    const stream = await openSse(transport(), { method: 'GET', url })
    for await (const event of stream.events) {
      expect(event.data).toBe('1')
      break
    }
    await closed.promise
  })

  it('throws the reason of a cancel in the middle', async () => {
    const cancel = new AbortController()
    const url = await serve((response) => response.write('data: 1\n\n'))
    const stream = await openSse(transport(cancel.signal), { method: 'GET', url })
    const reason = new Error('cancelled by the test')
    const read = async (): Promise<void> => {
      for await (const _event of stream.events) cancel.abort(reason)
    }
    await expect(read()).rejects.toBe(reason)
  })
})
