import {
  type Answer,
  type Artifact,
  type Task,
  type TaskEvent,
  type TaskState,
  TERMINAL_STATES,
} from './types.ts'

/** States in which the agent waits for somebody: the message is answered, the task is not over. */
const ASKING_STATES: ReadonlySet<TaskState> = new Set(['input-required', 'auth-required'])

/**
 * Puts the events of one message together (design, section 4, "A2A continuity"). The text is that of the
 * artifacts, else of the last `status.message` seen in it, else of the agent's last entry in `history` after
 * the user's message. Servers of the 0.5 line give the user's own words as the answer of an agent that said
 * nothing: nobody said these.
 */
export class AnswerBuilder {
  #taskId = ''
  #contextId = ''
  #state: TaskState = ''
  #statusText: string | undefined
  readonly #artifacts = new Map<string, string>()
  #historyText: string | undefined
  /** The user's words at the end of `history`, where the agent said nothing after them. */
  #unanswered: string | undefined

  /** @returns true when nothing more is to be expected, because the server says so */
  add(event: TaskEvent): boolean {
    if (event.kind === 'task') {
      this.#addTask(event.task)
      return false
    }
    this.#taskId = event.taskId
    this.#contextId = event.contextId
    if (event.kind === 'artifact') {
      this.#addArtifact(event.artifact, event.append)
      return false
    }
    this.#state = event.state
    this.#statusText = event.text ?? this.#statusText
    return event.final
  }

  /** @returns undefined when no event has named a task */
  build(): Answer | undefined {
    if (this.#taskId === '') return undefined
    const artifacts = [...this.#artifacts.values()]
    return {
      taskId: this.#taskId,
      contextId: this.#contextId,
      state: this.#state,
      text:
        artifacts.length > 0 ? this.#ofArtifacts(artifacts) : (this.#statusText ?? this.#historyText ?? ''),
      ended: TERMINAL_STATES.has(this.#state) || ASKING_STATES.has(this.#state),
    }
  }

  #addTask(task: Task): void {
    this.#taskId = task.id
    this.#contextId = task.contextId
    this.#state = task.state
    this.#statusText = task.statusText ?? this.#statusText
    for (const artifact of task.artifacts) this.#addArtifact(artifact, false)
    const said = task.history.slice(task.history.findLastIndex((entry) => entry.role === 'user') + 1)
    this.#historyText = said.at(-1)?.text ?? this.#historyText
    this.#unanswered = said.length === 0 ? task.history.at(-1)?.text : undefined
  }

  #ofArtifacts(texts: readonly string[]): string {
    const text = texts.join('\n')
    return text === this.#unanswered ? '' : text
  }

  #addArtifact(artifact: Artifact, append: boolean): void {
    const before = append ? (this.#artifacts.get(artifact.id) ?? '') : ''
    // Artifacts without an id cannot be told apart from one another, and must not replace one another.
    const key = artifact.id === '' ? `#${this.#artifacts.size}` : artifact.id
    this.#artifacts.set(key, before + artifact.text)
  }
}
