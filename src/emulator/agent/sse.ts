/** How a profile writes server-sent events. */
export interface SseDialect {
  lineEnd: '\r\n' | '\n'
  /** Milliseconds between heartbeats, counted from the start of the response; undefined: none. */
  heartbeatMs: number | undefined
  /** Headers of a run's stream. */
  headers: Readonly<Record<string, string>>
}

/** What whoever feeds a stream may do with it. */
export interface SseWriter {
  /** Writes one event in one chunk. */
  send(event: string, data: unknown, id?: string): void
  /** Ends the stream. */
  close(): void
}

/** The responses of one server that are still open, so that closing the server ends them. */
export class OpenStreams {
  readonly #closers = new Set<() => void>()

  add(close: () => void): () => void {
    this.#closers.add(close)
    return () => this.#closers.delete(close)
  }

  closeAll(): void {
    for (const close of [...this.#closers]) close()
    this.#closers.clear()
  }
}

export interface StreamBody {
  /** Called once; gives what stops the feeding when the stream ends, for whatever reason. */
  start(write: (text: string) => void, close: () => void): () => void
  /** The client hung up. */
  onDisconnect?: () => void
  /** Written on the heartbeat's grid. */
  heartbeat: string
  heartbeatMs: number | undefined
}

/**
 * A body that is written piece by piece, with a heartbeat on a fixed grid from the start of the response (events
 * do not move it: recorded).
 */
export function streamBody(open: OpenStreams, body: StreamBody): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let finish = (): void => {}
  return new ReadableStream({
    start(controller) {
      const began = performance.now()
      let ended = false
      let beats = 0
      let timer: NodeJS.Timeout | undefined
      let stopFeeding: (() => void) | undefined
      const write = (text: string): void => {
        if (!ended) controller.enqueue(encoder.encode(text))
      }
      const beat = (): void => {
        if (ended || body.heartbeatMs === undefined) return
        if (beats > 0) write(body.heartbeat)
        beats += 1
        timer = setTimeout(beat, began + beats * body.heartbeatMs - performance.now())
      }
      const stop = (): boolean => {
        if (ended) return false
        ended = true
        clearTimeout(timer)
        forget()
        stopFeeding?.()
        return true
      }
      const close = (): void => {
        if (stop()) controller.close()
      }
      const forget = open.add(close)
      finish = () => {
        if (stop()) body.onDisconnect?.()
      }
      beat()
      stopFeeding = body.start(write, close)
      if (ended) stopFeeding()
    },
    cancel() {
      finish()
    },
  })
}

/** Writes one event: `event`, `data` in one line, then `id` where there is one. */
export function formatEvent(dialect: SseDialect, event: string, data: unknown, id?: string): string {
  const lines = [`event: ${event}`, `data: ${JSON.stringify(data)}`]
  if (id !== undefined) lines.push(`id: ${id}`)
  return `${lines.join(dialect.lineEnd)}${dialect.lineEnd}${dialect.lineEnd}`
}

/**
 * An event stream. `feed` gets the writer and gives what stops it; `onDisconnect` is called when the client hangs
 * up before the end.
 */
export function sseResponse(
  open: OpenStreams,
  dialect: SseDialect,
  options: {
    headers: Record<string, string>
    /** Stands in place of the dialect's own: A2A has none with a charset. */
    contentType?: string
    feed(writer: SseWriter): () => void
    onDisconnect?: () => void
  },
): Response {
  const body = streamBody(open, {
    heartbeat: `: heartbeat${dialect.lineEnd}${dialect.lineEnd}`,
    heartbeatMs: dialect.heartbeatMs,
    start: (write, close) =>
      options.feed({ send: (event, data, id) => write(formatEvent(dialect, event, data, id)), close }),
    ...(options.onDisconnect === undefined ? {} : { onDisconnect: options.onDisconnect }),
  })
  const headers = {
    ...options.headers,
    ...dialect.headers,
    ...(options.contentType === undefined ? {} : { 'content-type': options.contentType }),
  }
  return new Response(body, { status: 200, headers })
}
