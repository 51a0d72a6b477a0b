import { ProtocolError, type RequestFacts } from '../../http/errors.ts'
import { isEventStream, readSse } from '../../http/sse.ts'
import type { StreamedResponse } from '../../http/transport.ts'
import { AnswerBuilder } from './answer.ts'
import { readEvent, readTask } from './dialect.ts'
import { protocolError, readRpcAnswer, rpcCall, rpcFacts, rpcRequest } from './rpc.ts'
import type { A2aConnection, Answer, CallOptions, OutgoingMessage, TaskEvent } from './types.ts'

/** An answer that is no event stream is one JSON object: a small one. */
const MAX_JSON_BYTES = 1024 * 1024

/**
 * `message/send`: one message, one complete answer. The server sends no byte before the agent is done.
 * @throws JsonRpcError, ProtocolError when the result is no task, and what the transport throws. A task that
 *   failed is an answer, not an error
 */
export async function sendMessage(
  connection: A2aConnection,
  assistantId: string,
  message: OutgoingMessage,
  options: CallOptions,
): Promise<Answer> {
  const params = { message: wireMessage(message) }
  const result = await rpcCall(connection, assistantId, 'message/send', params, options)
  const task = readTask(result)
  if (task === undefined) {
    const facts = rpcFacts(connection, assistantId, 'message/send')
    throw protocolError(facts, 'a result that is no task with an id, a contextId and a state')
  }
  const builder = new AnswerBuilder()
  builder.add({ kind: 'task', task })
  return builder.build() as Answer
}

/**
 * `message/stream`: the events of one message, as they come. The stream ends where the server closes it, or
 * after an event that says `final`. Events of kinds that nobody here knows are left out.
 * @throws JsonRpcError (a refusal is the only event, under HTTP 200), ProtocolError for data that is no
 *   JSON-RPC answer, and what the transport throws
 */
export async function* streamMessage(
  connection: A2aConnection,
  assistantId: string,
  message: OutgoingMessage,
  options: CallOptions,
): AsyncGenerator<TaskEvent, void, void> {
  const params = { message: wireMessage(message) }
  const { id, facts, request } = rpcRequest(connection, assistantId, 'message/stream', params, options)
  const stream = await connection.transport.stream(request)
  try {
    if (!isEventStream(stream.header('content-type'))) {
      // Some refusals come as plain JSON, although a stream was asked for.
      readRpcAnswer(facts, id, parseData(facts, await readAll(facts, stream)))
      throw protocolError(facts, 'an answer that is no event stream')
    }
    for await (const { data } of readSse(stream, facts)) {
      const event = readEvent(readRpcAnswer(facts, id, parseData(facts, data)))
      if (event === undefined) continue
      yield event
      if (event.kind === 'status' && event.final) return
    }
  } finally {
    stream.close()
  }
}

/**
 * The answer of a whole stream.
 * @param options `onContext` is told of the conversation as soon as it has an id, also when the stream breaks
 * @throws as `streamMessage`, and ProtocolError when no event named a task
 */
export async function collectStream(
  connection: A2aConnection,
  assistantId: string,
  message: OutgoingMessage,
  options: CallOptions & { readonly onContext?: (contextId: string) => void },
): Promise<Answer> {
  const builder = new AnswerBuilder()
  for await (const event of streamMessage(connection, assistantId, message, options)) {
    builder.add(event)
    options.onContext?.(event.kind === 'task' ? event.task.contextId : event.contextId)
  }
  const answer = builder.build()
  if (answer !== undefined) return answer
  const facts = rpcFacts(connection, assistantId, 'message/stream')
  throw protocolError(facts, 'a stream without a task in it')
}

/** `role`, `messageId` and each part's `kind` always: some server of the recorded ones wants each of them. */
function wireMessage(message: OutgoingMessage): Record<string, unknown> {
  return {
    role: 'user',
    parts: [{ kind: 'text', text: message.text }],
    messageId: message.messageId,
    ...(message.contextId === undefined ? {} : { contextId: message.contextId }),
    ...(message.taskId === undefined ? {} : { taskId: message.taskId }),
  }
}

async function readAll(facts: RequestFacts, stream: StreamedResponse): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream.chunks) {
    bytes += chunk.byteLength
    if (bytes > MAX_JSON_BYTES) throw protocolError(facts, 'a huge answer that is no event stream')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parseData(facts: RequestFacts, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ProtocolError(facts, `${facts.method} ${facts.url} gave something that is not JSON`, {
      hint: 'A proxy or a route of your own seems to answer in place of the agent server.',
      cause,
    })
  }
}
