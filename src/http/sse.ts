import { createParser } from 'eventsource-parser'
import { ProtocolError, type RequestFacts } from './errors.ts'
import type { Request, StreamedResponse, Transport } from './transport.ts'
import { displayUrl } from './url.ts'

/** One event of a Server-Sent Events stream. */
export interface SseEvent {
  /** The `event:` line; `message` where there was none, as the standard has it. */
  readonly event: string
  /** The `data:` lines, joined by line feeds. */
  readonly data: string
  readonly id: string | undefined
}

export interface SseOptions {
  /** Longest event, and so the longest line, in characters. */
  readonly maxEventChars?: number
  /** Size of the whole stream in bytes, comments included, counted after decoding. */
  readonly maxStreamBytes?: number
  /** Told of each comment line (a heartbeat). It extends no deadline. */
  readonly onComment?: (text: string) => void
}

const MAX_EVENT_CHARS = 16 * 1024 * 1024
const MAX_STREAM_BYTES = 128 * 1024 * 1024

/** A response whose body is an event stream; iterate once, or close. */
export interface SseStream {
  readonly status: number
  header(name: string): string | undefined
  /** Events as they come; breaking out of the loop closes the connection. */
  readonly events: AsyncIterable<SseEvent>
  /** Stops reading and frees the connection. Idempotent. */
  close(): void
}

/**
 * Opens an event stream. The request's `timeoutMs` covers it from first to last byte, however many heartbeats
 * come; `idleTimeoutMs` is the longest silence between two bytes.
 * @throws what `Transport.stream` throws; ProtocolError when the answer is no event stream
 */
export async function openSse(
  transport: Transport,
  request: Request,
  options: SseOptions = {},
): Promise<SseStream> {
  const facts: RequestFacts = { method: request.method, url: request.name ?? displayUrl(request.url) }
  const stream = await transport.stream({
    ...request,
    headers: { accept: 'text/event-stream', ...request.headers },
  })
  if (!isEventStream(stream.header('content-type'))) {
    stream.close()
    throw new ProtocolError(
      facts,
      `${facts.method} ${facts.url} answered something that is no event stream`,
      {
        hint: 'Look at the URL: a web page or a proxy seems to answer there, not the agent server.',
      },
    )
  }
  return {
    status: stream.status,
    header: stream.header,
    events: readSse(stream, facts, options),
    close: stream.close,
  }
}

/** `text/event-stream`, with or without a charset. */
export function isEventStream(contentType: string | undefined): boolean {
  return /^\s*text\/event-stream\s*(;|$)/i.test(contentType ?? '')
}

/**
 * Reads events out of a body: line ends CRLF, LF or CR; chunks split anywhere, inside a character too; a last
 * event without its blank line counts when the body was closed in order.
 * @throws the stream's own error (a broken connection, a passed deadline); ProtocolError over a limit
 */
export async function* readSse(
  stream: StreamedResponse,
  facts: RequestFacts,
  options: SseOptions = {},
): AsyncGenerator<SseEvent, void, void> {
  const maxEvent = options.maxEventChars ?? MAX_EVENT_CHARS
  const maxBytes = options.maxStreamBytes ?? MAX_STREAM_BYTES
  const ready: SseEvent[] = []
  let tooLong = false
  const parser = createParser({
    maxBufferSize: maxEvent,
    onEvent: ({ event, data, id }) => {
      tooLong ||= data.length > maxEvent
      ready.push({ event: event ?? 'message', data, id })
    },
    onComment: options.onComment,
    onError: (error) => {
      tooLong ||= error.type === 'max-buffer-size-exceeded'
    },
  })
  const decoder = new TextDecoder('utf-8')
  const feed = (text: string): SseEvent[] => {
    parser.feed(text)
    if (tooLong) throw overLimit(facts, `an event is longer than ${maxEvent} characters`)
    return ready.splice(0)
  }
  let bytes = 0
  try {
    for await (const chunk of stream.chunks) {
      bytes += chunk.byteLength
      if (bytes > maxBytes) throw overLimit(facts, `the stream is larger than ${maxBytes} bytes`)
      yield* feed(decoder.decode(chunk, { stream: true }))
    }
    // Ends a last line, whatever its line end was going to be, and then its event.
    yield* feed(`${decoder.decode()}\n\n`)
  } finally {
    stream.close()
  }
}

function overLimit(facts: RequestFacts, what: string): ProtocolError {
  return new ProtocolError(facts, `${facts.method} ${facts.url}: ${what}, which no run of a check needs`, {
    hint: 'Ask for fewer stream modes, or let the agent answer with less: the whole state may be in every event.',
  })
}
