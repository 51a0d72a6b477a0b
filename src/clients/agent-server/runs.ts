import * as z from 'zod/mini'
import { ProtocolError } from '../../http/errors.ts'
import { mayRetry, waitBefore } from '../../http/retry.ts'
import { openSse, type SseOptions, type SseStream } from '../../http/sse.ts'
import type { Request } from '../../http/transport.ts'
import { displayUrl } from '../../http/url.ts'
import { type AgentServer, type CallOptions, callJson, Id, requestFor, timeLeft } from './api.ts'
import { type RunEvent, toRunEvent } from './events.ts'
import { threadPath } from './threads.ts'

const RunAnswer = z.object({ run_id: z.nullish(z.string()), status: z.string() })

/** Body of a run; the interface document's fields by name, every other field as the server takes it. */
export interface RunBody {
  readonly assistant_id: string
  readonly stream_mode: string | readonly string[]
  readonly input?: unknown
  readonly feedback_keys?: readonly string[]
  readonly [field: string]: unknown
}

/** How a stream ended, as far as the stream tells; the run's status says the rest. */
export interface StreamVerdict {
  /** The body was closed in order. */
  readonly closed: boolean
  /** Events that carry state (`updates`, `values`, messages, …) came. */
  readonly stateEvents: number
  readonly error: { readonly kind: string; readonly message: string } | undefined
  /** Events of all kinds; comments (heartbeats) are counted apart. */
  readonly events: number
  readonly heartbeats: number
}

/** A run while it is streamed: iterate `events` once, then read the verdict. */
export interface RunStream {
  readonly events: AsyncIterable<RunEvent>
  /** Of the `metadata` event (heartbeats may come before it), else of `Content-Location`. */
  runId(): string | undefined
  verdict(): StreamVerdict
  /** Stops reading; the run goes on at the server. Idempotent. */
  close(): void
}

/**
 * `POST /threads/{thread_id}/runs/stream`: makes a run and streams it. Sent again only when the server
 * provably did not take it: a second run on the same thread is not the same thing.
 * @throws HttpError before the stream (404 unknown assistant or thread, 409 busy thread, 422 wrong fields);
 *   the iteration throws NetworkError when the stream breaks, TimeoutError at the deadline and ProtocolError
 *   for an event that is not JSON or too large
 */
export async function streamRun(
  server: AgentServer,
  threadId: string,
  body: RunBody,
  options: CallOptions,
): Promise<RunStream> {
  const request = requestFor(server, {
    method: 'POST',
    path: `${threadPath(threadId)}/runs/stream`,
    json: body,
  })
  const facts = { method: request.method, url: displayUrl(request.url) }
  let heartbeats = 0
  const stream = await open(server, request, options.deadline, { onComment: () => heartbeats++ })
  let runId = runIdOf(stream.header('content-location'))
  const seen = { closed: false, stateEvents: 0, events: 0, error: undefined as StreamVerdict['error'] }

  async function* events(): AsyncGenerator<RunEvent, void, void> {
    for await (const raw of stream.events) {
      let data: unknown
      try {
        data = JSON.parse(raw.data)
      } catch {
        throw new ProtocolError(facts, `${facts.method} ${facts.url} streamed an event that is not JSON`, {
          hint: 'The stream was cut inside an event, or a proxy in between changes it.',
        })
      }
      const event = toRunEvent(raw.event, data)
      seen.events++
      if (event.type === 'metadata') runId = event.runId ?? runId
      if (event.type === 'error') seen.error ??= { kind: event.kind, message: event.message }
      if (event.carriesState) seen.stateEvents++
      yield event
    }
    seen.closed = true
  }

  return {
    events: events(),
    runId: () => runId,
    verdict: () => ({ ...seen, heartbeats }),
    close: stream.close,
  }
}

/** Tries after the first. */
const RETRIES = 2

async function open(
  server: AgentServer,
  request: Request,
  deadline: number,
  options: SseOptions,
): Promise<SseStream> {
  const { transport } = server
  for (let attempt = 1; ; attempt++) {
    const left = timeLeft(server, deadline)
    try {
      // Silence is no fault: the JavaScript server sends no heartbeats while a model thinks.
      const times = { timeoutMs: left, headersTimeoutMs: left, idleTimeoutMs: left }
      return await openSse(transport, { ...request, ...times }, options)
    } catch (error) {
      const waitMs = waitBefore(attempt, error, () => 1)
      const late = transport.clock.now() + waitMs >= deadline
      if (attempt > RETRIES || late || !mayRetry('POST', error)) throw error
      await transport.clock.sleep(waitMs, transport.signal)
    }
  }
}

/**
 * `GET /threads/{thread_id}/runs/{run_id}`.
 * @returns `pending`, `running`, `error`, `success`, `timeout` or `interrupted` (cancelled: a run that stopped
 *   to ask is a `success` on a thread that is `interrupted`)
 */
export async function getRunStatus(
  server: AgentServer,
  threadId: string,
  runId: string,
  options: CallOptions,
): Promise<string> {
  const path = `${threadPath(threadId)}/runs/${encodeURIComponent(runId)}`
  return (await callJson(server, { method: 'GET', path }, RunAnswer, options)).status
}

/** Run id of a `Content-Location: /threads/{t}/runs/{r}`, with or without a path prefix. */
function runIdOf(location: string | undefined): string | undefined {
  const id = /\/runs\/([^/?#]+)/.exec(location ?? '')?.[1]
  return id !== undefined && Id.safeParse(id).success ? id : undefined
}
