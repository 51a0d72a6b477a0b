import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { AgentDeployError, CancelledError } from '../../../src/base/errors.ts'
import { type UploadTarget, uploadArchive } from '../../../src/deploy/upload.ts'
import { HttpError, RedirectError } from '../../../src/http/errors.ts'
import { Transport } from '../../../src/http/transport.ts'
import { memoryLog, temporary } from '../archive/tree.ts'

interface Put {
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: Buffer
}

const NO_PROXY = {
  httpProxy: undefined,
  httpsProxy: undefined,
  noProxy: '',
  passwords: [],
  ignoredNoProxy: [],
}

let server: Server
let base: string
let puts: Put[]
/** What the storage answers, one after the other; the last one again and again. */
let answers: ((response: ServerResponse) => void)[]
let controller: AbortController
let transport: Transport
let now: number

const status =
  (code: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void =>
    void response.writeHead(code, headers).end('<Error><Message>hunter2</Message></Error>')

beforeEach(async () => {
  puts = []
  answers = [status(200)]
  now = 1_000_000
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      puts.push({
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks),
      })
      const answer = answers.length > 1 ? answers.shift() : answers[0]
      answer?.(response)
    })
    request.on('error', () => {})
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  controller = new AbortController()
  transport = new Transport({
    proxy: NO_PROXY,
    signal: controller.signal,
    clock: {
      now: () => now,
      sleep: async (ms) => {
        now += ms
      },
    },
    random: () => 0,
    userAgent: 'test',
  })
})

afterEach(async () => {
  await transport.close()
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
})

function archiveOf(content: Buffer) {
  const path = join(temporary(), 'source.tar.gz')
  writeFileSync(path, content)
  return { path, bytes: content.length }
}

function prepare(content: Buffer, target: Partial<UploadTarget> = {}) {
  const log = memoryLog()
  const masked: string[] = []
  let asked = 0
  return {
    log,
    masked,
    asked: () => asked,
    options: {
      archive: archiveOf(content),
      requestUrl: async () => {
        asked++
        return { uploadUrl: `${base}/object/${asked}?sig=s3cret`, objectPath: `path/${asked}`, ...target }
      },
      transport,
      allowHttp: false,
      mask: (url: string) => void masked.push(url),
      log,
    },
  }
}

describe('uploadArchive', () => {
  it('puts the file with its length and the service’s headers, without a credential', async () => {
    const content = randomBytes(3_000_000)
    const headers = {
      'X-Goog-Content-Length-Range': '0,5',
      'content-TYPE': 'application/x-tar',
      'Content-Length': '7',
    }
    const { options, masked, log } = prepare(content, { uploadHeaders: headers })
    expect(await uploadArchive(options)).toBe('path/1')
    const [put] = puts
    expect(put).toMatchObject({ method: 'PUT', url: '/object/1?sig=s3cret' })
    expect(put?.body.equals(content)).toBe(true)
    expect(put?.headers).toMatchObject({
      'content-length': '3000000',
      'content-type': 'application/x-tar',
      'x-goog-content-length-range': '0,5',
    })
    expect(put?.headers['transfer-encoding']).toBeUndefined()
    expect(put?.headers['x-api-key']).toBeUndefined()
    expect(put?.headers.authorization).toBeUndefined()
    expect(masked).toEqual([`${base}/object/1?sig=s3cret`])
    expect(log.lines).toEqual([expect.stringMatching(/^info: Uploaded 2\.9 MB in \d+ s$/)])
  })

  it('sends the headers of an older service where it gives none', async () => {
    const { options } = prepare(Buffer.from('x'))
    await uploadArchive(options)
    expect(puts[0]?.headers).toMatchObject({
      'content-length': '1',
      'content-type': 'application/gzip',
      'x-goog-content-length-range': '0,209715200',
    })
  })

  it('asks for a new URL for each try', async () => {
    const content = randomBytes(100_000)
    answers = [
      status(503),
      (response) => response.destroy(),
      status(429, { 'retry-after': '7' }),
      status(200),
    ]
    const { options, masked, log } = prepare(content)
    const before = now
    expect(await uploadArchive(options)).toBe('path/4')
    expect(puts.map((put) => put.url)).toEqual([1, 2, 3, 4].map((at) => `/object/${at}?sig=s3cret`))
    for (const put of puts) expect(put.body.equals(content)).toBe(true)
    expect(masked).toHaveLength(4)
    expect(now - before).toBeGreaterThanOrEqual(7000)
    const text = log.lines.join('\n')
    expect(text).toContain('PUT the upload URL answered 503')
    expect(text).not.toContain('s3cret')
    expect(text).not.toContain('/object/')
    expect(text).not.toContain('hunter2')
  })

  it.each([400, 401, 403])('takes a refusal (%s) once for a spent URL', async (code) => {
    answers = [status(code), status(200)]
    expect(await uploadArchive(prepare(Buffer.from('x')).options)).toBe('path/2')

    answers = [status(code)]
    const { options, asked } = prepare(Buffer.from('x'))
    const error = await uploadArchive(options).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(HttpError)
    expect((error as HttpError).status).toBe(code)
    expect((error as HttpError).message).not.toContain('s3cret')
    expect(asked()).toBe(2)
  })

  it('gives up when storage stays broken', async () => {
    answers = [status(500)]
    const { options, asked } = prepare(Buffer.from('x'))
    await expect(uploadArchive(options)).rejects.toMatchObject({ status: 500 })
    expect(asked()).toBe(6)
  })

  it('begins no try after the deadline', async () => {
    answers = [status(503, { 'retry-after': '60' })]
    const { options, asked } = prepare(Buffer.from('x'))
    await expect(uploadArchive({ ...options, timeoutMs: 90_000 })).rejects.toMatchObject({ status: 503 })
    expect(asked()).toBe(2)
  })

  it('passes on what asking for a URL throws', async () => {
    const { options } = prepare(Buffer.from('x'))
    const broken = { ...options, requestUrl: () => Promise.reject(new AgentDeployError('no URL')) }
    await expect(uploadArchive(broken)).rejects.toThrow('no URL')
    expect(puts).toEqual([])
  })

  it('does not follow a redirect', async () => {
    answers = [status(307, { location: 'http://elsewhere.example/x?sig=s3cret' })]
    const error = await uploadArchive(prepare(Buffer.from('x')).options).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(RedirectError)
    expect((error as Error).message).not.toContain('s3cret')
    expect(puts).toHaveLength(1)
  })

  it.each([
    ['http://storage.example/x?sig=s3cret', 'expected https://'],
    ['ftp://storage.example/s3cret', 'expected a URL that begins with https://'],
    ['https://user:s3cret@storage.example/x', 'without a user name'],
    ['s3cret', 'expected a URL such as'],
  ])('refuses the URL %j without showing it', async (uploadUrl, message) => {
    const { options, masked } = prepare(Buffer.from('x'), { uploadUrl })
    const error = await uploadArchive(options).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(AgentDeployError)
    expect((error as Error).message).toContain(message)
    expect((error as Error).message).not.toContain('s3cret')
    expect(masked).toEqual([uploadUrl])
  })

  it('tells how far it is, every ten seconds', async () => {
    const { options, log } = prepare(randomBytes(2 * 1024 * 1024))
    // The clock of the test goes four seconds on with each look at it.
    const ticking = new Transport({
      proxy: NO_PROXY,
      signal: controller.signal,
      clock: {
        now: () => {
          now += 4000
          return now
        },
        sleep: async () => {},
      },
      random: () => 0,
      userAgent: 'test',
    })
    await uploadArchive({ ...options, transport: ticking, timeoutMs: 3_600_000 })
    await ticking.close()
    const lines = log.lines.filter((line) => line.startsWith('info: Uploading:'))
    expect(lines.length).toBeGreaterThanOrEqual(2)
    expect(lines.length).toBeLessThan(8)
    expect(lines[0]).toMatch(/^info: Uploading: \d\.\d of 2\.0 MB \(\d+ %\) after \d+ s$/)
  })

  it('stops when the job is cancelled in the middle', async () => {
    const content = randomBytes(30_000_000)
    server.removeAllListeners('request')
    const began = new Promise<void>((go) => {
      server.on('request', (request) => {
        // Reads a little and then no more.
        request.once('data', () => {
          request.pause()
          go()
        })
        request.on('error', () => {})
      })
    })
    const uploading = uploadArchive(prepare(content).options)
    uploading.catch(() => {})
    await began
    await delay(50)
    controller.abort(new CancelledError('cancelled'))
    await expect(uploading).rejects.toBeInstanceOf(CancelledError)
  })
})
