import type { Engine } from '../engine.ts'
import { HttpError } from '../errors.ts'
import { canonicalUuid } from '../ids.ts'
import { pythonRepr } from '../python.ts'
import type { Run, RunRequest, StreamMode } from '../run.ts'
import type { Assistant } from '../store/assistants.ts'
import type { AgentServerOptions } from '../types.ts'
import { inputFields } from './card.ts'
import { INTERNAL_ERROR, INVALID_PARAMS, RpcError, taskNotFound, UNSUPPORTED_OPERATION } from './errors.ts'
import type { SentMessage } from './message.ts'
import { graphInput, readMessage, requireMessage } from './message.ts'
import { isObject } from './rpc.ts'
import type { Shapes } from './shapes.ts'
import { flatText } from './shapes.ts'
import type { Task } from './tasks.ts'
import { historyLength, type Tasks } from './tasks.ts'

type Json = Record<string, unknown>

/** What the handlers of one server share. */
export interface A2aServer {
  engine: Engine
  options: AgentServerOptions
  tasks: Tasks
}

export interface StartedTask {
  sent: SentMessage
  task: Task
  run: Run
}

/**
 * Takes a message and starts its run: on a new context, on the one that it names, or in the task that it names.
 * Throws RpcError with the recorded texts.
 */
export function startTask(
  server: A2aServer,
  assistant: Assistant,
  message: Json,
  purpose: 'send' | 'stream',
): StartedTask {
  const { engine, options, tasks } = server
  const sent = readMessage(options.a2a, message)
  requireMessagesField(server, assistant, sent)
  const known = options.a2a === '1.0' ? taskOf(server, assistant, sent) : undefined
  const contextId = known?.contextId ?? newContext(server, sent, purpose)
  const startId = known?.startId ?? engine.ids.v7()
  const marker = { a2a: { task_start_id: startId } }
  const modes: StreamMode[] = purpose === 'stream' ? ['messages', 'values'] : ['values']
  const run = engine.start(contextId, {
    assistantId: assistant.assistant_id,
    ...inputOrAnswer(server, known, sent, marker),
    streamMode: modes,
    ...(options.a2a === '1.0' ? { metadata: marker } : {}),
    multitaskStrategy: 'enqueue',
    ifNotExists: 'create',
    // 0.3 streams a message without a context on a thread that does not outlive it (recorded: 7-stream-noctx-thread).
    temporary: options.a2a === '0.3' && purpose === 'stream' && sent.contextId === undefined,
  })
  const thread = engine.threads.get(contextId)
  if (options.a2a === '1.0' && thread !== undefined) thread.metadata = { ...thread.metadata, ...marker }
  if (known === undefined) return { sent, run, task: tasks.begin(run, startId) }
  tasks.goOn(known, run)
  return { sent, run, task: known }
}

/** Text and files need a `messages` field to go to. */
function requireMessagesField({ engine }: A2aServer, assistant: Assistant, sent: SentMessage): void {
  const fields = inputFields(engine, assistant)
  if (fields.includes('messages') || (sent.texts.length === 0 && sent.files.length === 0)) return
  const { assistant_id: id, graph_id: graph } = assistant
  throw new RpcError(
    INVALID_PARAMS,
    `Assistant '${id}' (graph '${graph}') does not support A2A conversational messages. Graph input schema must ` +
      `include a 'messages' field to accept text or file parts. Available input fields: ${pythonRepr([...fields])}`,
  )
}

/** The open task that a message names. Undefined when it names none, or a finished one that may be named. */
function taskOf(server: A2aServer, assistant: Assistant, sent: SentMessage): Task | undefined {
  const { taskId, contextId } = sent
  if (taskId === undefined) return undefined
  const task = server.tasks.find(assistant.assistant_id, taskId, contextId)
  if (task === undefined || task.id !== taskId) throw taskNotFound(taskId)
  if (!server.tasks.isTerminal(task)) return task
  if (server.options.terminalTasks === 'accept') {
    sent.contextId = task.contextId
    return undefined
  }
  throw new RpcError(UNSUPPORTED_OPERATION, 'A terminal task cannot accept another message')
}

function newContext(server: A2aServer, sent: SentMessage, purpose: 'send' | 'stream'): string {
  if (sent.contextId === undefined) return server.engine.ids.v4()
  const id = canonicalUuid(sent.contextId)
  if (id !== undefined) return id
  const modern = server.options.a2a === '1.0'
  if (purpose === 'stream') {
    const words = modern ? 'Internal server error' : 'Internal server error: 422 Unprocessable Entity'
    throw new RpcError(INTERNAL_ERROR, words)
  }
  const reason = modern ? 'Invalid thread ID' : '422 Unprocessable Entity'
  throw new RpcError(INVALID_PARAMS, `Failed to create run: ${reason}`)
}

/**
 * A task that asked is resumed by text, or by a data part `{"resume": …}`; data without it runs the graph again, in
 * the same task (recorded: 7-int6-resume-plaindata).
 */
function inputOrAnswer(
  { options, tasks }: A2aServer,
  known: Task | undefined,
  sent: SentMessage,
  marker: Json,
): Pick<RunRequest, 'input' | 'command'> {
  const asked = known !== undefined && tasks.state(known) === 'input-required'
  if (asked && 'resume' in sent.data) return { command: { resume: sent.data['resume'] } }
  if (asked && sent.texts.length > 0) return { command: { resume: sent.texts.map(String).join('\n') } }
  return { input: graphInput(options.a2a, sent, marker) }
}

/** `message/send`: waits for the end of the run and tells the whole task. */
export async function sendMessage(
  server: A2aServer,
  assistant: Assistant,
  params: Json,
  shapes: Shapes,
  scope: 'context' | 'task',
): Promise<Json> {
  const modern = server.options.a2a === '1.0'
  const configuration = params['configuration']
  const length = modern && isObject(configuration) ? historyLength(configuration['historyLength']) : undefined
  const message = requireMessage(server.options.a2a, params)
  const { task, run } = asRpc(() => startTask(server, assistant, message, 'send'))
  await run.done
  const { timestamp } = nowOf(server)
  if (run.status === 'error' || run.status === 'timeout') {
    const words = `Error executing assistant: ${run.error?.kind ?? 'TimeoutError'}`
    return shapes.task(task, {
      history: [],
      status: { state: shapes.state('failed'), message: shapes.says(words, task) },
    })
  }
  const history = length === 0 ? undefined : server.tasks.history(task, shapes, { scope, length })
  const told = history === undefined ? {} : { history }
  if (run.interrupts.length > 0 && modern) {
    const artifacts = [shapes.interruptArtifact(run.interrupts)]
    return shapes.task(task, {
      ...told,
      status: { state: shapes.state('input-required'), timestamp },
      artifacts,
    })
  }
  const artifacts = [shapes.answerArtifact(assistant.assistant_id, answerText(server, run, 'send'))]
  return shapes.task(task, { ...told, status: { state: shapes.state('completed'), timestamp }, artifacts })
}

export function nowOf({ engine }: A2aServer): { timestamp: string } {
  return { timestamp: engine.timestamp() }
}

/** What the engine refuses becomes an error of the call. */
export function asRpc<T>(start: () => T): T {
  try {
    return start()
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    throw new RpcError(INVALID_PARAMS, `Failed to create run: ${error.detail}`)
  }
}

/**
 * The answer of a run. With messages it is the last agent message (0.3: the last message, whoever said it); without,
 * the state as Python prints it, to which `message/send` of 1.0 adds an empty list of messages (recorded).
 */
export function answerText(server: A2aServer, run: Run, purpose: 'send' | 'stream'): unknown {
  const { __interrupt__: _interrupts, ...values } = run.lastValues ?? {}
  const modern = server.options.a2a === '1.0'
  const graph = server.engine.graphs.get(run.graphId)
  if (graph?.channels.includes('messages') !== true) {
    return pythonRepr(modern && purpose === 'send' ? { ...values, messages: [] } : values)
  }
  const messages = (values['messages'] ?? []) as { type: string; content: unknown }[]
  const last = messages.at(-1)
  if (!modern) return last?.content ?? ''
  return run.status === 'success' && last?.type === 'ai' ? flatText(last.content) : ''
}
