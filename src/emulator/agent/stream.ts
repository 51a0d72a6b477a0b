import type { Message } from './messages.ts'
import type { Interrupt, Run, RunEvent, StreamMode } from './run.ts'
import type { Checkpoint } from './store/threads.ts'

type Json = Record<string, unknown>

/** A node of a step that runs: what `tasks`, `debug` and the message metadata tell about it. */
export interface StepTask {
  id: string
  node: string
  step: number
}

export interface StreamDeps {
  profile: 'python' | 'js'
  now(): number
  timestamp(): string
  newRunId(): string
  /** Hands an event to the run's listeners and to those of its thread. */
  publish(event: RunEvent, replayable: boolean): void
}

/** The versions of the libraries behind 0.16.7, as its messages tell them. */
const CHAT_MODEL = {
  ls_provider: 'genericfakechatmodel',
  ls_model_type: 'chat',
  lc_versions: { 'langchain-core': '1.7.2' },
}

/**
 * Turns what happens in a run into the events that its stream modes ask for (shapes: recorded 4-* of 0.16.7; the
 * order of combined modes: 4-resumable-many-*).
 */
export class RunStream {
  readonly #run: Run
  readonly #deps: StreamDeps
  #count = 0
  /** The clock of the ids: events of one phase share an id, those of the next phase have a later one. */
  #ms = 0
  /** Ids of messages that were streamed in pieces, with the text so far. */
  readonly #streamed = new Map<string, string>()
  readonly #nodeRuns = new Map<string, string>()

  constructor(run: Run, deps: StreamDeps) {
    this.#run = run
    this.#deps = deps
  }

  metadata(): void {
    this.#tick()
    this.#emit(undefined, 'metadata', { run_id: this.#run.id, attempt: 1 })
    this.#tick()
  }

  error(data: unknown): void {
    this.#tick()
    this.#emit(undefined, 'error', data, false)
  }

  feedback(urls: Record<string, string>): void {
    this.#tick()
    this.#emit(undefined, 'feedback', urls)
  }

  /** The state after a step; with interrupts, `__interrupt__` is put behind it. */
  values(output: Json, interrupts: readonly Interrupt[] = []): void {
    const asked = interrupts.length === 0 ? {} : { __interrupt__: this.#interruptItems(interrupts) }
    this.#run.lastValues = { ...output, ...asked }
    // The JavaScript server tells the question alone.
    this.#mode('values', this.#js && interrupts.length > 0 ? asked : this.#run.lastValues)
  }

  custom(data: unknown): void {
    this.#mode('custom', data)
  }

  updates(node: string, update: Json | null): void {
    if (!this.#wants('updates')) return
    this.#mode('updates', {
      [node]: this.#run.request.streamSubgraphs === true ? withoutIds(update) : update,
    })
  }

  interruptUpdates(interrupts: readonly Interrupt[]): void {
    this.#mode('updates', { __interrupt__: this.#interruptItems(interrupts) })
  }

  /** A static breakpoint (`interrupt_before`, `interrupt_after`). */
  breakpoint(): void {
    this.interruptUpdates([])
    if (this.#js) this.#mode('values', { __interrupt__: [] })
  }

  /** The JavaScript server tells the messages of the input in mode `messages` too. */
  inputMessages(messages: readonly Message[]): void {
    if (!this.#js || !this.#wants('messages') || this.#wants('messages-tuple')) return
    this.#emit('messages', 'messages/complete', messages)
  }

  checkpoint(checkpoint: Checkpoint, output: Json): void {
    const configOf = (id: string | null): Json | null => {
      if (id === null) return null
      const configurable = this.#run.config['configurable'] as Json
      return { configurable: { checkpoint_ns: '', ...publicKeys(configurable), checkpoint_id: id } }
    }
    const pointer = (id: string | null): Json | null =>
      id === null ? null : { checkpoint_id: id, thread_id: this.#run.threadId, checkpoint_ns: '' }
    const payload = {
      config: configOf(checkpoint.id),
      parent_config: configOf(checkpoint.parentId),
      values: output,
      metadata: { source: checkpoint.source, step: checkpoint.step, parents: {} },
      next: checkpoint.next,
      tasks: checkpoint.tasks.map(({ id, name }) => ({ id, name, interrupts: [], state: null })),
    }
    if (this.#js) {
      const { values, metadata, next } = payload
      this.#mode('checkpoints', { values, metadata, next })
    } else this.#mode('checkpoints', payload)
    this.#debug(checkpoint.step, 'checkpoint', {
      ...payload,
      checkpoint: pointer(checkpoint.id),
      parent_checkpoint: pointer(checkpoint.parentId),
    })
  }

  taskStart(task: StepTask, input: Json): void {
    const { thread_id: _thread, ...metadata } = this.#baseMetadata()
    const triggers = [`branch:to:${task.node}`]
    const interrupts = this.#js ? { interrupts: [] } : {}
    const payload = { id: task.id, name: task.node, input, triggers, ...interrupts, metadata }
    this.#mode('tasks', payload)
    this.#debug(task.step, 'task', payload)
    if (!this.#wants('events')) return
    this.#nodeRuns.set(task.id, this.#deps.newRunId())
    this.#event('on_chain_start', { data: { input }, ...this.#nodeRun(task) }, task)
  }

  taskResult(
    task: StepTask,
    result: { error: unknown; result: unknown; interrupts: readonly Interrupt[] },
  ): void {
    const interrupts = this.#interruptItems(result.interrupts)
    const error = this.#js ? {} : { error: result.error }
    const payload = { id: task.id, name: task.node, ...error, result: result.result, interrupts }
    this.#mode('tasks', payload)
    this.#debug(task.step, 'task_result', payload)
  }

  /** One piece of a message that a model streams. */
  token(task: StepTask, id: string, text: string, last: boolean): void {
    const known = this.#streamed.get(id)
    if (known === undefined) this.#tick()
    const whole = `${known ?? ''}${text}`
    this.#streamed.set(id, whole)
    const metadata = this.#chatMetadata(task)
    const chunk = {
      content: text,
      additional_kwargs: {},
      response_metadata: {},
      type: 'AIMessageChunk',
      name: null,
      id,
      tool_calls: [],
      invalid_tool_calls: [],
      usage_metadata: null,
      tool_call_chunks: [],
      chunk_position: last ? 'last' : null,
    }
    if (this.#wants('messages-tuple')) this.#emit('messages-tuple', 'messages', [chunk, metadata])
    else if (this.#wants('messages')) {
      if (known === undefined) this.#emit('messages', 'messages/metadata', { [id]: { metadata } })
      const { tool_call_chunks: _chunks, chunk_position: _position, ...rest } = chunk
      this.#emit('messages', 'messages/partial', [{ ...rest, content: whole, type: 'ai' }])
    }
    if (this.#wants('events')) {
      const run = { run_id: id.replace(/^lc_run--/, ''), name: 'GenericFakeChatModel' }
      if (known === undefined) this.#event('on_chat_model_start', { data: { input: {} }, ...run }, task)
      this.#event('on_chat_model_stream', { data: { chunk }, ...run }, task)
    }
  }

  /** Messages that a node returned: those that were not streamed in pieces are told whole. */
  messages(task: StepTask, messages: readonly Message[]): void {
    this.#tick()
    for (const message of messages) {
      if (this.#streamed.has(String(message.id))) continue
      const metadata = this.#nodeMetadata(task)
      if (this.#wants('messages-tuple')) this.#emit('messages-tuple', 'messages', [message, metadata])
      else if (this.#wants('messages')) {
        if (!this.#js) this.#emit('messages', 'messages/metadata', { [String(message.id)]: { metadata } })
        this.#emit('messages', 'messages/complete', [message])
      }
    }
  }

  /** Mode `events`: the node has returned `update`. */
  nodeEnd(task: StepTask, input: Json, update: Json | null): void {
    if (!this.#wants('events')) return
    this.#event('on_chain_stream', { ...this.#nodeRun(task), data: { chunk: update } }, task)
    this.#event('on_chain_end', { data: { output: update, input }, ...this.#nodeRun(task) }, task)
  }

  /** Mode `events`: the run itself begins or ends. */
  graphEvent(event: 'on_chain_start' | 'on_chain_end', data: Json): void {
    this.#event(event, { data, name: this.#run.graphId, run_id: this.#run.id }, undefined)
  }

  /** What the run tells about itself in checkpoints, tasks and messages (recorded key order). */
  #baseMetadata(): Json {
    const metadata = (this.#run.config['metadata'] ?? {}) as Json
    const { id: run_id, threadId: thread_id } = this.#run
    return this.#js ? { ...metadata, thread_id, run_id } : { ...metadata, run_id, thread_id }
  }

  #nodeMetadata(task: StepTask, integration = 'langgraph'): Json {
    return {
      ...(this.#js ? { tags: [`graph:step:${task.step}`], name: task.node } : {}),
      ...this.#baseMetadata(),
      ls_integration: integration,
      langgraph_step: task.step,
      langgraph_node: task.node,
      langgraph_triggers: [`branch:to:${task.node}`],
      langgraph_path: ['__pregel_pull', task.node],
      langgraph_checkpoint_ns: `${task.node}:${task.id}`,
      ...(this.#js ? { checkpoint_ns: `${task.node}:${task.id}` } : {}),
    }
  }

  #chatMetadata(task: StepTask): Json {
    const metadata = this.#nodeMetadata(task, 'langchain_chat_model')
    return { ...metadata, checkpoint_ns: `${task.node}:${task.id}`, ...CHAT_MODEL }
  }

  #nodeRun(task: StepTask): { run_id: string; name: string } {
    return { run_id: this.#nodeRuns.get(task.id) ?? task.id, name: task.node }
  }

  #event(event: string, fields: Json & { run_id: string; name: string }, task: StepTask | undefined): void {
    if (!this.#wants('events')) return
    const chat = event.startsWith('on_chat_model')
    const step = task === undefined || chat ? [] : [`graph:step:${task.step}`]
    const base = { ...this.#baseMetadata(), ls_integration: 'langgraph' }
    const parents = [this.#run.id, ...(chat && task !== undefined ? [this.#nodeRun(task).run_id] : [])]
    const data: Json = { event, ...fields, tags: chat ? ['seq:step:1'] : step }
    data['metadata'] = task === undefined ? base : chat ? this.#chatMetadata(task) : this.#nodeMetadata(task)
    // The recorded server writes `data` last but one in a stream event.
    if (event === 'on_chain_stream') {
      const chunk = data['data']
      delete data['data']
      data['data'] = chunk
    }
    data['parent_ids'] = task === undefined ? [] : parents
    this.#emit('events', 'events', ordered(event, data))
  }

  #interruptItems(interrupts: readonly Interrupt[]): Json[] {
    return interrupts.map(({ id, value }) =>
      this.#js ? { id, value } : { value, id, response_schema: null },
    )
  }

  #debug(step: number, type: string, payload: Json): void {
    const timestamp = this.#deps.timestamp()
    this.#mode('debug', this.#js ? { step, type, timestamp, payload } : { step, timestamp, type, payload })
  }

  #tick(): void {
    this.#ms = Math.max(Math.trunc(this.#deps.now()), this.#ms + 1)
  }

  get #js(): boolean {
    return this.#deps.profile === 'js'
  }

  #wants(mode: StreamMode): boolean {
    return this.#run.streamModes.includes(mode)
  }

  #mode(mode: StreamMode, data: unknown): void {
    if (this.#wants(mode)) this.#emit(mode, mode, data)
  }

  #emit(mode: StreamMode | undefined, event: string, data: unknown, replayable = true): void {
    const id = !this.#js ? `${this.#ms}-0` : String(this.#count)
    this.#count += 1
    this.#deps.publish({ id, event, data, mode }, replayable)
  }
}

/** `on_chain_start` of the run has `name` before `tags` before `run_id`; the others begin with `run_id`. */
function ordered(event: string, data: Json): Json {
  const first = event.endsWith('_start')
    ? ['event', 'data', 'name', 'tags', 'run_id']
    : event.endsWith('_end')
      ? ['event', 'data', 'run_id', 'name', 'tags']
      : ['event', 'run_id', 'name', 'tags', 'metadata', 'data']
  const keys = [...first, ...Object.keys(data).filter((key) => !first.includes(key))]
  return Object.fromEntries(keys.map((key) => [key, data[key]]))
}

/** The configurable without the keys that only the runtime uses. */
function publicKeys(configurable: Json): Json {
  return Object.fromEntries(Object.entries(configurable).filter(([key]) => !key.startsWith('__pregel')))
}

/** With `stream_subgraphs`, the messages of `updates` have no id (recorded, 10 of 10). */
function withoutIds(update: Json | null): Json | null {
  const messages = update?.['messages']
  if (!Array.isArray(messages)) return update
  return { ...update, messages: messages.map((message: Message) => ({ ...message, id: null })) }
}
