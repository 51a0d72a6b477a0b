import type { Profile } from '../profile.ts'
import type { Run, RunEvent } from '../run.ts'
import type { OpenStreams, SseWriter } from '../sse.ts'
import { sseResponse } from '../sse.ts'
import type { Assistant } from '../store/assistants.ts'
import { INTERNAL_ERROR, RpcError } from './errors.ts'
import { rpcError, rpcResult } from './rpc.ts'
import type { A2aServer, StartedTask } from './send.ts'
import { answerText, asRpc, nowOf, startTask } from './send.ts'
import type { Shapes } from './shapes.ts'
import { flatText } from './shapes.ts'

type Json = Record<string, unknown>

/**
 * `message/stream`: the task as submitted, then what the agent says while it works, the answer as an artifact (1.0),
 * and the final state. Errors come as the only event, with HTTP 200.
 */
export function streamMessage(
  server: A2aServer & { open: OpenStreams; profile: Profile },
  call: { id: unknown; pascal: boolean; message: () => Json; assistant: () => Assistant },
  shapes: Shapes,
): Response {
  return sseResponse(server.open, server.profile.sse, {
    headers: {},
    contentType: 'text/event-stream',
    feed: (writer) => {
      const send = (result: Json): void => writer.send('message', rpcResult(call.id, result))
      let started: StartedTask
      try {
        const message = call.message()
        const assistant = call.assistant()
        started = asRpc(() => startTask(server, assistant, message, 'stream'))
      } catch (error) {
        const known =
          error instanceof RpcError ? error : new RpcError(INTERNAL_ERROR, 'Internal server error')
        writer.send('message', rpcError(call.id, known))
        writer.close()
        return () => {}
      }
      return follow(server, started, { send, writer, pascal: call.pascal }, shapes)
    },
  })
}

/** Turns the events of a run into those of the stream. Gives what stops it; the run goes on without a listener. */
function follow(
  server: A2aServer,
  { sent, task, run }: StartedTask,
  out: { send: (result: Json) => void; writer: SseWriter; pascal: boolean },
  shapes: Shapes,
): () => void {
  const modern = server.options.a2a === '1.0'
  const submit = (): void => {
    const status = { state: shapes.state('submitted'), ...nowOf(server) }
    const first = shapes.task(task, { history: [shapes.echo(sent.raw, task)], status })
    out.send(out.pascal ? { task: first } : first)
  }
  let began = false
  const begin = (): void => {
    if (began) return
    began = true
    // 1.0 says `submitted` when the run starts, 0.3 at once and `working` when it starts.
    if (modern) submit()
    else out.send(shapes.status(task, { state: 'working' }, false))
  }
  if (!modern) submit()
  const listener = (event: RunEvent | undefined): void => {
    if (event === undefined) {
      if (run.ended) {
        begin()
        for (const result of closing(server, task, run, shapes)) out.send(result)
      }
      out.writer.close()
      return
    }
    begin()
    if (!event.event.startsWith('messages/') || event.event === 'messages/metadata') return
    for (const message of event.data as { type: string; content: unknown }[]) {
      if (message.type !== 'ai') continue
      const text = modern || typeof message.content === 'string' ? flatText(message.content) : ''
      const status = { state: shapes.state('working'), message: shapes.says(text, task), ...nowOf(server) }
      out.send(shapes.status(task, status, false))
    }
  }
  return run.listen(listener)
}

function closing(server: A2aServer, task: StartedTask['task'], run: Run, shapes: Shapes): Json[] {
  const modern = server.options.a2a === '1.0'
  const final = (state: Parameters<Shapes['state']>[0], message: Json = {}): Json =>
    shapes.status(task, { state: shapes.state(state), ...message, ...nowOf(server) }, true)
  if (run.status === 'error' || run.status === 'timeout') {
    return [final('failed', { message: shapes.says(run.error?.message ?? 'timeout', task) })]
  }
  if (!modern) return [final('completed')]
  if (run.interrupts.length > 0) {
    return [
      shapes.artifactUpdate(task, shapes.interruptArtifact(run.interrupts), false),
      final('input-required'),
    ]
  }
  // A cancelled task ends its stream in the same way, with an empty answer (recorded: 7-cancel-stream).
  const artifact = shapes.answerArtifact(run.assistantId, answerText(server, run, 'stream'))
  return [shapes.artifactUpdate(task, artifact, true), final('completed')]
}
