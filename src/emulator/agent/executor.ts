import { RunError } from './errors.ts'
import type { Graph, GraphNode, NodeContext, State, Update } from './graphs.ts'
import type { IdSource } from './ids.ts'
import type { Message, MessageDialect } from './messages.ts'
import { addMessages, coerceMessage } from './messages.ts'
import { pythonRepr, pythonStr } from './python.ts'
import type { Interrupt, Run } from './run.ts'
import type { Checkpoint, CheckpointTask, Thread } from './store/threads.ts'
import { addCheckpoint, head } from './store/threads.ts'
import type { RunStream, StepTask } from './stream.ts'

type Json = Record<string, unknown>

/** Thrown inside a node to stop at a question. */
class Stop extends Error {
  readonly value: unknown

  constructor(value: unknown) {
    super('interrupted')
    this.value = value
  }
}

/** Thrown when the run was cancelled while it worked. */
export class Cancelled extends Error {}

export interface ExecutorDeps {
  ids: IdSource
  dialect: MessageDialect
  timestamp(): string
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>
}

/** The steps that a graph may take when nobody says otherwise (langgraph's default). */
const DEFAULT_RECURSION_LIMIT = 25
const LANGGRAPH_ERRORS = 'https://docs.langchain.com/oss/python/langgraph/errors'

/** The entries of a state that are a graph's output; channels that nobody wrote are left out, messages are a list. */
export function outputOf(graph: Graph, state: State): Json {
  const output: Json = {}
  for (const channel of graph.channels) {
    if (channel === 'messages') output[channel] = state[channel] ?? []
    else if (state[channel] !== undefined) output[channel] = state[channel]
  }
  return output
}

/** Runs one graph once on one thread: input, steps, checkpoints, interrupts. Throws RunError or Cancelled. */
export class Executor {
  readonly #run: Run
  readonly #thread: Thread
  readonly #graph: Graph
  readonly #stream: RunStream
  readonly #deps: ExecutorDeps
  #state: State = {}
  #step = -2
  #parent: Checkpoint | undefined
  /** Nodes that are to run, first one next. */
  #next: readonly string[] = []
  #executed = 0

  constructor(run: Run, thread: Thread, graph: Graph, stream: RunStream, deps: ExecutorDeps) {
    this.#run = run
    this.#thread = thread
    this.#graph = graph
    this.#stream = stream
    this.#deps = deps
  }

  /** Gives the state at the end, and the interrupts that it stopped at. */
  async execute(): Promise<{ output: Json; interrupts: Interrupt[] }> {
    const limit = this.#recursionLimit()
    this.#parent = this.#base()
    this.#state = this.#parent?.values ?? {}
    this.#step = this.#parent?.step ?? -2
    this.#stream.graphEvent('on_chain_start', { input: this.#run.request.input ?? null })
    const resume = this.#begin()
    let interrupts: Interrupt[] = []
    let first = true
    while (this.#next.length > 0) {
      if (this.#run.abort.signal.aborted) throw new Cancelled()
      const node = this.#nodeNamed(this.#next[0] ?? '')
      if (!(first && resume !== undefined) && this.#listed(this.#run.request.interruptBefore, node)) {
        this.#stream.breakpoint()
        break
      }
      if (this.#executed >= limit) throw recursionError(limit)
      interrupts = await this.#runNode(node, first ? resume : undefined)
      if (interrupts.length > 0) break
      first = false
      // After the last node, too, where nothing is left to be asked.
      if (this.#listed(this.#run.request.interruptAfter, node)) {
        this.#stream.breakpoint()
        break
      }
    }
    const output = outputOf(this.#graph, this.#state)
    this.#run.lastValues ??= output
    this.#stream.graphEvent('on_chain_end', { output })
    return { output, interrupts }
  }

  /** Takes the input, a command, or what an earlier run left to do. Gives what the first node is resumed with. */
  #begin(): { value: unknown } | undefined {
    const { command, input } = this.#run.request
    if (command !== undefined && command !== null) return this.#beginCommand(command)
    if (input === undefined || input === null) {
      if (this.#parent === undefined) throw emptyInput(this.#deps.dialect)
      this.#next = this.#known(this.#parent.next)
      this.#stream.values(outputOf(this.#graph, this.#state))
      return { value: undefined }
    }
    if (typeof input !== 'object' || Array.isArray(input)) {
      throw wrongInput(this.#deps.dialect, input)
    }
    this.#step += 1
    this.#save('input', ['__start__'])
    const wrote = this.#write(input as Json)
    this.#step += 1
    if (wrote.keys.length > 0) {
      const output = outputOf(this.#graph, this.#state)
      this.#stream.values(output)
      this.#stream.inputMessages((output['messages'] ?? []) as Message[])
    }
    this.#next = [this.#graph.nodes[0].name]
    this.#save('loop', this.#next)
    return undefined
  }

  #beginCommand(command: Json): { value: unknown } | undefined {
    const parent = this.#parent
    if (parent === undefined) throw noCheckpoint(this.#deps.dialect)
    this.#next = this.#known(parent.next)
    const update = command['update']
    if (typeof update === 'object' && update !== null) {
      this.#write(update as Json)
      this.#step += 1
      this.#save('update', this.#next)
    }
    const goto = command['goto']
    if (goto !== undefined && goto !== null) {
      const targets = (Array.isArray(goto) ? goto : [goto]).map((item: unknown) =>
        typeof item === 'string' ? item : String((item as Json | null)?.['node'] ?? ''),
      )
      this.#next = this.#known(targets)
      this.#step += 1
      this.#save('update', this.#next)
    }
    this.#stream.values(outputOf(this.#graph, this.#state))
    if (!('resume' in command)) return goto === undefined || goto === null ? { value: undefined } : undefined
    return { value: resumeValue(command['resume'], parent.tasks) }
  }

  async #runNode(node: GraphNode, resume: { value: unknown } | undefined): Promise<Interrupt[]> {
    this.#executed += 1
    const parentTask = this.#parent?.tasks.find((task) => task.name === node.name)
    const task: StepTask = {
      id: parentTask?.id ?? this.#deps.ids.task(),
      node: node.name,
      step: this.#step + 1,
    }
    const input = outputOf(this.#graph, this.#state)
    this.#stream.taskStart(task, input)
    let update: Update
    try {
      update = await node.run(this.#state, this.#nodeContext(task, resume))
    } catch (error) {
      if (this.#run.abort.signal.aborted) throw new Cancelled()
      if (error instanceof Stop) return this.#stopAt(task, error.value, parentTask)
      const failure = this.#failure(error)
      if (parentTask !== undefined) parentTask.error = `${failure.kind}(${pythonRepr(failure.message)})`
      this.#stream.taskResult(task, { error: failure.wire(), result: {}, interrupts: [] })
      throw failure
    }
    const wrote = this.#write(update ?? {})
    this.#stream.messages(task, wrote.messages)
    this.#stream.nodeEnd(task, input, update)
    this.#stream.updates(node.name, update)
    this.#stream.taskResult(task, { error: null, result: update ?? {}, interrupts: [] })
    const index = this.#graph.nodes.indexOf(node)
    this.#next = this.#graph.nodes.slice(index + 1, index + 2).map((following) => following.name)
    this.#step += 1
    if (wrote.keys.length > 0) this.#stream.values(outputOf(this.#graph, this.#state))
    this.#save('loop', this.#next)
    return []
  }

  /** The exception that a node raised; JavaScript has no ValueError. */
  #failure(error: unknown): RunError {
    if (!(error instanceof RunError)) return new RunError('RuntimeError', String(error))
    if (this.#deps.dialect === 'js' && error.kind === 'ValueError')
      return new RunError('Error', error.message)
    return error
  }

  #stopAt(task: StepTask, value: unknown, parentTask: CheckpointTask | undefined): Interrupt[] {
    const interrupts = [{ id: this.#deps.ids.hex(), value }]
    if (parentTask !== undefined) parentTask.interrupts = interrupts
    this.#stream.interruptUpdates(interrupts)
    this.#stream.values(outputOf(this.#graph, this.#state), interrupts)
    this.#stream.taskResult(task, { error: null, result: {}, interrupts })
    return interrupts
  }

  #nodeContext(task: StepTask, resume: { value: unknown } | undefined): NodeContext {
    const { signal } = this.#run.abort
    return {
      dialect: this.#deps.dialect,
      configurable: (this.#run.config['configurable'] ?? {}) as Json,
      context: this.#run.context,
      newId: () => this.#deps.ids.v4(),
      custom: (data) => this.#stream.custom(data),
      token: (id, text, last) => this.#stream.token(task, id, text, last),
      sleep: (milliseconds) => this.#deps.sleep(milliseconds, signal),
      interrupt: (value) => {
        if (resume === undefined || resume.value === undefined) throw new Stop(value)
        return resume.value
      },
    }
  }

  /** Writes an update into the channels that the graph has; other keys are dropped without a word, as recorded. */
  #write(update: Json): { keys: string[]; messages: Message[] } {
    const keys: string[] = []
    let messages: Message[] = []
    const state: Json = { ...this.#state }
    for (const channel of this.#graph.channels) {
      const value = update[channel]
      if (value === undefined) continue
      keys.push(channel)
      if (channel !== 'messages') {
        state[channel] = value
        continue
      }
      const raw = Array.isArray(value) ? value : [value]
      messages = raw.map((item) => coerceMessage(this.#deps.dialect, item, () => this.#deps.ids.v4()))
      for (const message of messages) this.#run.messageIds.add(String(message.id))
      state[channel] = addMessages((state[channel] as Message[] | undefined) ?? [], messages)
    }
    this.#state = state
    return { keys, messages }
  }

  #save(source: Checkpoint['source'], next: readonly string[]): void {
    const checkpoint: Checkpoint = {
      id: this.#deps.ids.v6(this.#step & 0x3fff),
      parentId: this.#parent?.id ?? null,
      createdAt: this.#deps.timestamp(),
      values: this.#state,
      next,
      tasks: next.map((name) => ({ id: this.#deps.ids.task(), name, error: null, interrupts: [] })),
      step: this.#step,
      source,
      metadata: this.#checkpointMetadata(source),
    }
    addCheckpoint(this.#thread, checkpoint)
    this.#parent = checkpoint
    this.#run.checkpointId = checkpoint.id
    this.#stream.checkpoint(checkpoint, outputOf(this.#graph, this.#state))
  }

  /** What a checkpoint tells about its run (recorded key order). */
  #checkpointMetadata(source: Checkpoint['source']): Json {
    const configurable = (this.#run.config['configurable'] ?? {}) as Json
    const metadata = (this.#run.config['metadata'] ?? {}) as Json
    const { graph_id, assistant_id, ...others } = metadata
    const { id: run_id } = this.#run
    const { id: thread_id } = this.#thread
    const place = { source, step: this.#step, parents: {} }
    if (this.#deps.dialect === 'js') return { graph_id, assistant_id, ...others, thread_id, run_id, ...place }
    const { langgraph_auth_user_id, langgraph_request_id, user_id } = configurable
    const head = { graph_id, assistant_id, user_id, ...others, run_id, thread_id }
    return { ...head, ...place, langgraph_auth_user_id, langgraph_request_id }
  }

  /** The checkpoint to go on from. An unknown one is taken for none, as recorded (x-checkpoint-unknown). */
  #base(): Checkpoint | undefined {
    const wanted = this.#run.request.checkpointId
    if (wanted === undefined) return head(this.#thread)
    return this.#thread.checkpoints.find((checkpoint) => checkpoint.id === wanted)
  }

  /** Another graph may have left nodes to do that this one does not have. */
  #known(names: readonly string[]): string[] {
    return names.filter((name) => this.#graph.nodes.some((node) => node.name === name))
  }

  #nodeNamed(name: string): GraphNode {
    return this.#graph.nodes.find((node) => node.name === name) ?? this.#graph.nodes[0]
  }

  #listed(list: '*' | readonly string[] | null | undefined, node: GraphNode): boolean {
    return list === '*' || (list?.includes(node.name) ?? false)
  }

  #recursionLimit(): number {
    const limit = this.#run.config['recursion_limit']
    if (typeof limit !== 'number') return DEFAULT_RECURSION_LIMIT
    if (limit < 1) throw new RunError('ValueError', 'recursion_limit must be at least 1')
    return limit
  }
}

/** A resume value may be a mapping from interrupt ids to values. */
function resumeValue(resume: unknown, tasks: readonly CheckpointTask[]): unknown {
  if (typeof resume !== 'object' || resume === null || Array.isArray(resume)) return resume
  const ids = tasks.flatMap((task) => task.interrupts.map((interrupt) => interrupt.id))
  const found = ids.find((id) => id in resume)
  return found === undefined ? resume : (resume as Json)[found]
}

function emptyInput(dialect: MessageDialect): RunError {
  const python = 'Received no input for __start__'
  return new RunError(
    'EmptyInputError',
    dialect === 'js' ? 'Received no input writes for "__start__"' : python,
  )
}

function wrongInput(dialect: MessageDialect, input: unknown): RunError {
  if (dialect === 'js') {
    const wanted = 'an object or an array containing at least one Command object'
    const link = 'https://docs.langchain.com/oss/javascript/langgraph/INVALID_GRAPH_NODE_RETURN_VALUE/'
    const text = `Expected node "__start__" to return ${wanted}, received ${typeof input}`
    return new RunError('InvalidUpdateError', `${text}\n\nTroubleshooting URL: ${link}\n`)
  }
  const link = `${LANGGRAPH_ERRORS}/INVALID_GRAPH_NODE_RETURN_VALUE`
  const text = `Expected dict, got ${pythonStr(input)}`
  return new RunError('InvalidUpdateError', `${text}\nFor troubleshooting, visit: ${link}`)
}

/** A command on a thread that nothing ran on. */
function noCheckpoint(dialect: MessageDialect): RunError {
  if (dialect === 'js') return wrongInput(dialect, '')
  return new RunError('TypeError', "'NoneType' object is not iterable")
}

function recursionError(limit: number): RunError {
  const text =
    `Recursion limit of ${limit} reached without hitting a stop condition. ` +
    'You can increase the limit by setting the `recursion_limit` config key.'
  const link = `${LANGGRAPH_ERRORS}/GRAPH_RECURSION_LIMIT`
  return new RunError('GraphRecursionError', `${text}\nFor troubleshooting, visit: ${link}`)
}
