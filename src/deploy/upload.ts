import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import type { Clock } from '../base/clock.ts'
import { AgentDeployError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { HttpError } from '../http/errors.ts'
import { withRetry } from '../http/retry.ts'
import type { Transport } from '../http/transport.ts'
import { readUrl, URL_EXPECTATION } from '../http/url.ts'

/** Where an archive goes, as `POST /v2/deployments/{id}/upload-url` answers it. */
export interface UploadTarget {
  readonly uploadUrl: string
  /** `source_tarball_path` of the revision. */
  readonly objectPath: string
  /** Headers that belong to the URL's signature; older services give none. */
  readonly uploadHeaders?: Readonly<Record<string, string>> | undefined
}

export interface UploadOptions {
  /** A file and its size in bytes. */
  readonly archive: { readonly path: string; readonly bytes: number }
  /** Asked anew for each try: a URL is signed for a short time, and one that was used may be spent. */
  readonly requestUrl: () => Promise<UploadTarget>
  readonly transport: Transport
  /** Whether the URL may be `http:` beyond loopback. */
  readonly allowHttp: boolean
  /** Told of each URL before it is used: whoever knows it may write there. */
  readonly mask: (url: string) => void
  readonly log: Log
  /** Of all tries together, in milliseconds; left out: 15 minutes. */
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 15 * 60_000
/** Storage may think about the last byte for a while before it answers. */
const SILENCE_MS = 2 * 60_000
const PROGRESS_MS = 10_000
const READ_SIZE = 256 * 1024

/** Storage's own limit, which the signature of a URL without headers of its own expects. */
const DEFAULT_HEADERS = { 'x-goog-content-length-range': '0,209715200' }
/** What storage answers where a URL has expired or was used up. */
const SPENT = new Set([400, 401, 403, 408, 410])

/**
 * Streams an archive to the service's storage by PUT, with its length and without a credential.
 * @returns the object's path, `source_tarball_path` of the revision to make
 * @throws the last try's error; AgentDeployError for an upload URL that is no URL to send code to
 */
export async function uploadArchive(options: UploadOptions): Promise<string> {
  const { transport, log } = options
  const { clock, random, signal } = transport
  const deadline = clock.now() + (options.timeoutMs ?? TIMEOUT_MS)
  const attempt = async (): Promise<string> => {
    const target = await options.requestUrl()
    options.mask(target.uploadUrl)
    await put(target, options, deadline)
    return target.objectPath
  }
  let renewed = false
  const started = clock.now()
  const objectPath = await withRetry(
    async () => {
      try {
        return await attempt()
      } catch (error) {
        if (renewed || !(error instanceof HttpError) || !SPENT.has(error.status)) throw error
        renewed = true
        log.info(`The upload was refused (${error.status}); trying once more with a new URL`)
        return await attempt()
      }
    },
    'PUT',
    {
      deadline,
      onRetry: (error, waitMs) =>
        log.info(
          `The upload failed, next try in ${(waitMs / 1000).toFixed(1)} s with a new URL: ${error.message}`,
        ),
    },
    { clock, random, signal },
  )
  log.info(`Uploaded ${megabytes(options.archive.bytes)} MB in ${seconds(clock, started)} s`)
  return objectPath
}

async function put(target: UploadTarget, options: UploadOptions, deadline: number): Promise<void> {
  const { archive, transport, log } = options
  const url = readUrl(target.uploadUrl, options.allowHttp)
  if (typeof url === 'string') {
    throw new AgentDeployError(
      `The service gave an upload URL that is not taken: expected ${URL_EXPECTATION[url]}`,
      { hint: 'Ask who runs the control plane. Where its storage has no TLS, set allow-http: true.' },
    )
  }
  await transport.send({
    method: 'PUT',
    url,
    name: 'the upload URL',
    headers: headersOf(target.uploadHeaders ?? DEFAULT_HEADERS),
    upload: {
      length: archive.bytes,
      open: () => Readable.from(chunks(archive, transport.clock, log), { objectMode: false }),
    },
    timeoutMs: Math.max(1, deadline - transport.clock.now()),
    headersTimeoutMs: SILENCE_MS,
    idleTimeoutMs: SILENCE_MS,
  })
}

/** The file in pieces, with a line of progress every ten seconds: a silent step looks stuck. */
async function* chunks(
  archive: { readonly path: string; readonly bytes: number },
  clock: Clock,
  log: Log,
): AsyncGenerator<Uint8Array> {
  const started = clock.now()
  let told = started
  let sent = 0
  for await (const chunk of createReadStream(archive.path, { highWaterMark: READ_SIZE })) {
    yield chunk as Uint8Array
    sent += (chunk as Uint8Array).length
    if (clock.now() - told < PROGRESS_MS || sent >= archive.bytes) continue
    told = clock.now()
    const percent = Math.floor((sent / archive.bytes) * 100)
    log.info(
      `Uploading: ${megabytes(sent)} of ${megabytes(archive.bytes)} MB (${percent} %) after ${seconds(clock, started)} s`,
    )
  }
}

/** Lower-case names, so that none goes out twice in two spellings. The length is the file's, whatever came. */
function headersOf(given: Readonly<Record<string, string>>): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/gzip' }
  for (const [name, value] of Object.entries(given)) {
    if (!/^(content-length|transfer-encoding|host|connection)$/i.test(name))
      headers[name.toLowerCase()] = value
  }
  return headers
}

function megabytes(bytes: number): string {
  return (bytes / (1024 * 1024)).toFixed(1)
}

function seconds(clock: Clock, since: number): number {
  return Math.round((clock.now() - since) / 1000)
}
