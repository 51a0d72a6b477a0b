import type { Context } from 'hono'
import type { Engine } from '../engine.ts'
import { HttpError } from '../errors.ts'
import { canonicalUuid } from '../ids.ts'
import type { Profile } from '../profile.ts'
import { empty, json } from '../profile.ts'
import type { Router } from '../router.ts'
import type { Run, RunEvent, RunStatus } from '../run.ts'
import { readJson, validate } from '../schema.ts'
import { disconnect, runSchemas, runsCancel } from '../schemas.ts'
import { requested, runNotFound } from '../settle.ts'
import type { OpenStreams } from '../sse.ts'
import { sseResponse, streamBody } from '../sse.ts'
import { runWire } from '../wire.ts'
import type { RunBody } from './runbody.ts'
import { runRequest } from './runbody.ts'

const HUNG_UP = 'client disconnected from the run stream (on_disconnect=cancel)'
const NOTHING_TO_CANCEL =
  "No matching runs to cancel. Please verify the thread ID and run IDs are correct, and the runs haven't been " +
  'deleted or completed.'

/** Runs on a thread, runs without one, and what can be done with them afterwards. */
export function runRoutes(router: Router, engine: Engine, profile: Profile, open: OpenStreams): void {
  const bodySchemas = runSchemas(profile.name)
  const js = profile.name === 'js'

  /** Reads and checks a run's body. A body that streams or waits has its schema in two halves. */
  async function read(context: Context, kind: keyof typeof bodySchemas, follows: boolean): Promise<RunBody> {
    const value = await readJson(context.req.raw)
    validate(value, bodySchemas[kind], follows ? ['components', 'schemas', kind] : [])
    if (follows) validate(value, disconnect, ['allOf', 1])
    return value as RunBody
  }

  function startOn(context: Context, body: RunBody): Run {
    const id = canonicalUuid(context.req.param('thread_id') ?? '')
    if (id === undefined) throw new HttpError(400, 'badly formed hexadecimal UUID string')
    return engine.start(
      id,
      runRequest(body, { requestId: context.req.header('x-request-id'), temporary: false }),
    )
  }

  function startAlone(context: Context, body: RunBody): Run {
    const temporary = body.on_completion !== 'keep'
    return engine.start(
      undefined,
      runRequest(body, { requestId: context.req.header('x-request-id'), temporary }),
    )
  }

  /** Cancels the run when its client hangs up, where it asked for that. */
  function hangUp(run: Run, asked: boolean): { onDisconnect?: () => void } {
    if (!asked) return {}
    return { onDisconnect: () => void engine.cancel(run, { action: 'interrupt', message: HUNG_UP }) }
  }

  function locations(path: string, end: string): Record<string, string> {
    const content = { 'content-location': path }
    return js ? content : { location: `${path}/${end}`, ...content }
  }

  function follow(
    run: Run,
    options: {
      /** Left out: the answer names no location. */
      path: string | undefined
      stateless: boolean
      cancel: boolean
      replay: RunEvent[]
      modes?: readonly string[]
    },
  ): Response {
    const tellsId = profile.tellsId({
      resumable: run.request.streamResumable === true,
      stateless: options.stateless,
    })
    const wanted = (event: RunEvent): boolean =>
      options.modes === undefined || (event.mode !== undefined && options.modes.includes(event.mode))
    return sseResponse(open, profile.sse, {
      headers: options.path === undefined ? {} : locations(options.path, 'stream'),
      ...hangUp(run, options.cancel),
      feed(writer) {
        const send = (event: RunEvent): void => {
          if (wanted(event))
            writer.send(event.event, event.data, tellsId && event.id !== '' ? event.id : undefined)
        }
        for (const event of options.replay) send(event)
        return run.listen((event) => (event === undefined ? writer.close() : send(event)))
      },
    })
  }

  /** What a join or a wait says of a run that is not there, or failed. */
  function failure(error: unknown): unknown {
    if (!js) return { __error__: error }
    return { __error__: { error: 'Error', message: JSON.stringify(error) } }
  }

  const notFound = (): unknown => (js ? 'Run not found' : runNotFound())

  /** Waits for `result` with a line end on the heartbeat's grid, then writes it as JSON. */
  function wait(options: {
    headers: Record<string, string>
    result: Promise<unknown>
    onDisconnect?: () => void
    isJoin?: true
  }): Response {
    const body = streamBody(open, {
      heartbeat: '\n',
      heartbeatMs: profile.sse.heartbeatMs,
      ...(options.onDisconnect === undefined ? {} : { onDisconnect: options.onDisconnect }),
      start(write, close) {
        void options.result.then((value) => {
          write(JSON.stringify(value))
          close()
        })
        return () => {}
      },
    })
    const type = js && options.isJoin !== true ? 'text/plain; charset=UTF-8' : 'application/json'
    return new Response(body, { status: 200, headers: { ...options.headers, 'content-type': type } })
  }

  /** What `/runs/wait` ends with: the last state, or the error. */
  async function outcome(run: Run): Promise<unknown> {
    await run.done
    if (run.deleted) return failure(notFound())
    if (run.error !== undefined) return failure(run.error.wire())
    const feedback = run.feedback === undefined ? {} : { __feedback__: run.feedback }
    return { ...run.lastValues, ...feedback }
  }

  /** What a join ends with: of a run that ended before, its thread as it is now. */
  async function joined(run: Run): Promise<unknown> {
    const thread = engine.threads.get(run.threadId)
    const late = run.ended && run.status === 'success' && thread?.values !== undefined
    if (!late) return outcome(run)
    const asked = Object.values(thread.interrupts).flat()
    return { ...thread.values, ...(asked.length === 0 ? {} : { __interrupt__: asked }) }
  }

  function threadPath(run: Run): string {
    return `/threads/${run.threadId}/runs/${run.id}`
  }

  function waitFor(run: Run, body: RunBody, stateless: boolean): Response {
    const headers = locations(js && stateless ? `/runs/${run.id}` : threadPath(run), 'join')
    return wait({ headers, result: outcome(run), ...hangUp(run, body.on_disconnect === 'cancel') })
  }

  router.add('POST', '/threads/:thread_id/runs/stream', async (context) => {
    const body = await read(context, 'RunCreateStateful', true)
    const run = startOn(context, body)
    const cancel = body.on_disconnect === 'cancel'
    return follow(run, { path: threadPath(run), stateless: false, cancel, replay: [] })
  })

  router.add('POST', '/threads/:thread_id/runs/wait', async (context) => {
    const body = await read(context, 'RunCreateStateful', true)
    return waitFor(startOn(context, body), body, false)
  })

  router.add('POST', '/threads/:thread_id/runs', async (context) => {
    const run = startOn(context, await read(context, 'RunCreateStateful', false))
    return json(200, runWire(run, profile.name), { 'content-location': threadPath(run) })
  })

  router.add('POST', '/runs/stream', async (context) => {
    const body = await read(context, 'RunCreateStateless', true)
    const run = startAlone(context, body)
    const cancel = body.on_disconnect === 'cancel'
    return follow(run, { path: `/runs/${run.id}`, stateless: true, cancel, replay: [] })
  })

  router.add('POST', '/runs/wait', async (context) => {
    const body = await read(context, 'RunCreateStateless', true)
    return waitFor(startAlone(context, body), body, true)
  })

  router.add('POST', '/runs', async (context) => {
    const run = startAlone(context, await read(context, 'RunCreateStateless', false))
    return json(200, runWire(run, profile.name), { 'content-location': `/runs/${run.id}` })
  })

  router.add('POST', '/runs/batch', async (context) => {
    const value = await readJson(context.req.raw)
    validate(value, { type: 'array', items: bodySchemas.RunCreateStateless })
    const runs = (value as RunBody[]).map((body) => startAlone(context, body))
    return json(
      200,
      runs.map((run) => runWire(run, profile.name)),
    )
  })

  function threadId(context: Context): string {
    const id = canonicalUuid(context.req.param('thread_id') ?? '')
    if (id === undefined) throw new HttpError(422, 'Invalid thread ID: must be a UUID')
    return id
  }

  function runId(context: Context): string {
    const id = canonicalUuid(context.req.param('run_id') ?? '')
    if (id === undefined) throw new HttpError(422, 'Invalid run ID: must be a UUID')
    return id
  }

  function integer(text: string | undefined, otherwise: number): number {
    if (text === undefined) return otherwise
    if (!/^\s*[+-]?\d+\s*$/.test(text)) {
      throw new HttpError(400, `invalid literal for int() with base 10: '${text}'`)
    }
    return Number(text)
  }

  router.add('GET', '/threads/:thread_id/runs', (context) => {
    const id = threadId(context)
    const limit = integer(context.req.query('limit'), 10)
    const offset = integer(context.req.query('offset'), 0)
    const status = context.req.query('status') as RunStatus | undefined
    const thread = engine.threads.get(id)
    if (thread === undefined) throw new HttpError(404, `Thread with ID ${id} not found`)
    const oldest = [...thread.runs.values()]
    const runs = (js ? oldest : oldest.reverse()).filter(
      (run) => status === undefined || run.status === status,
    )
    return json(
      200,
      runs.slice(offset, offset + limit).map((run) => runWire(run, profile.name)),
    )
  })

  function found(context: Context): Run {
    const run = engine.findRun(threadId(context), runId(context))
    if (run === undefined) throw new HttpError(404, js ? 'Run not found' : 'Not Found')
    return run
  }

  router.add('GET', '/threads/:thread_id/runs/:run_id', (context) =>
    json(200, runWire(found(context), profile.name)),
  )

  router.add('DELETE', '/threads/:thread_id/runs/:run_id', (context) => {
    engine.deleteRun(found(context))
    return empty(204)
  })

  router.add('GET', '/threads/:thread_id/runs/:run_id/join', (context) => {
    const path = `/threads/${threadId(context)}/runs/${runId(context)}`
    const headers = js ? {} : locations(path, 'join')
    const run = engine.findRun(threadId(context), runId(context))
    if (run === undefined)
      return wait({ headers, isJoin: true, result: Promise.resolve(failure(notFound())) })
    const cancel = isTrue(context.req.query('cancel_on_disconnect'))
    return wait({ headers, isJoin: true, result: joined(run), ...hangUp(run, cancel) })
  })

  router.add('GET', '/threads/:thread_id/runs/:run_id/stream', (context) => {
    const path = `/threads/${threadId(context)}/runs/${runId(context)}`
    const run = engine.findRun(threadId(context), runId(context))
    if (run === undefined) {
      return sseResponse(open, profile.sse, {
        headers: js ? {} : locations(path, 'stream'),
        feed(writer) {
          writer.send('error', notFound())
          writer.close()
          return () => {}
        },
      })
    }
    const modes = context.req.queries('stream_mode')?.flatMap((mode) => mode.split(','))
    const last = context.req.header('last-event-id')
    return follow(run, {
      path: js ? undefined : path,
      stateless: false,
      cancel: isTrue(context.req.query('cancel_on_disconnect')),
      replay: last === undefined ? [] : run.replay((event) => comesAfter(event.id, last)),
      ...(modes === undefined ? {} : { modes }),
    })
  })

  router.add('POST', '/threads/:thread_id/runs/:run_id/cancel', async (context) => {
    const run = engine.findRun(threadId(context), runId(context))
    if (run === undefined) throw new HttpError(404, js ? 'Run not found' : 'No runs found to cancel.')
    const action = context.req.query('action') === 'rollback' ? 'rollback' : 'interrupt'
    const cancelled = engine.cancel(run, requested(action))
    // The JavaScript server takes the cancel of a finished run for done.
    if (!cancelled && !js) throw new HttpError(404, NOTHING_TO_CANCEL)
    if (!isTrue(context.req.query('wait'))) return empty(202)
    if (js) return run.done.then(() => empty(204))
    return wait({ headers: locations(threadPath(run), 'join'), result: run.done.then(() => ({})) })
  })

  router.add('POST', '/runs/cancel', async (context) => {
    const value = await readJson(context.req.raw)
    validate(value, runsCancel)
    const query = value as { status?: string; thread_id?: string; run_ids?: string[] }
    const runs = engine.threads
      .all()
      .filter((thread) => query.thread_id === undefined || thread.id === canonicalUuid(query.thread_id))
      .flatMap((thread) => [...thread.runs.values()])
      .filter((run) => query.run_ids === undefined || query.run_ids.includes(run.id))
      .filter((run) => query.status === undefined || query.status === 'all' || run.status === query.status)
    const action = context.req.query('action') === 'rollback' ? 'rollback' : 'interrupt'
    const cancelled = runs.filter((run) => engine.cancel(run, requested(action, 'POST /runs/cancel')))
    if (cancelled.length === 0) throw new HttpError(404, 'No runs found to cancel.')
    return empty(204)
  })
}

function isTrue(text: string | undefined): boolean {
  return text === '1' || text?.toLowerCase() === 'true'
}

/** Whether an event comes after the one that a client saw last; `-1` and `0` are before all, garbage is after all. */
function comesAfter(id: string, last: string): boolean {
  const seen = Number(/^(-?\d+)(?:-\d+)?$/.exec(last)?.[1] ?? Number.NaN)
  return Number(id.split('-')[0]) > seen
}
