/** An event of a run, by its name before the `|` that a subgraph's namespace follows. */
export type RunEvent = Base &
  (
    | { readonly type: 'metadata'; readonly runId: string | undefined }
    /** `nodes`: node name to what it wrote (may be null); the interrupt entry is taken out. */
    | { readonly type: 'updates'; readonly nodes: Readonly<Record<string, unknown>> }
    | { readonly type: 'values'; readonly values: unknown }
    /**
     * `tuple`: from mode `messages-tuple`, where a message may be a piece to be joined to the ones before by its
     * id. In mode `messages` each is whole: `partial` ones are cumulative.
     */
    | { readonly type: 'messages'; readonly messages: readonly unknown[]; readonly tuple: boolean }
    | { readonly type: 'feedback'; readonly urls: unknown }
    | { readonly type: 'error'; readonly kind: string; readonly message: string }
    | { readonly type: 'other'; readonly name: string }
  )

interface Base {
  /** The graph ran and said something: a successful stream has at least one such event. */
  readonly carriesState: boolean
  /** The graph stopped to ask: what it asked (an empty list at a static breakpoint); absent otherwise. */
  readonly interrupts?: readonly unknown[]
}

/** Events that prove nothing about the graph: `messages/metadata` comes before the first word. */
const WITHOUT_STATE = new Set(['messages/metadata', 'end'])

/**
 * Reads an event as recorded of 0.5 and 0.16 and of the JavaScript server. Unknown names and odd data are
 * kept as `other`, so that a newer server's events pass.
 * @param name the `event:` line, perhaps with `|<namespace>`
 */
export function toRunEvent(name: string, data: unknown): RunEvent {
  const kind = name.split('|', 1)[0] ?? name
  switch (kind) {
    case 'metadata':
      return { type: 'metadata', runId: text(record(data)['run_id']), carriesState: false }
    case 'updates': {
      const { __interrupt__: interrupt, ...nodes } = record(data)
      return { type: 'updates', nodes, carriesState: true, ...asked(interrupt) }
    }
    case 'values':
      return { type: 'values', values: data, carriesState: true, ...asked(record(data)['__interrupt__']) }
    case 'messages':
      // Mode `messages-tuple`: [message or chunk, metadata].
      return {
        type: 'messages',
        messages: Array.isArray(data) ? data.slice(0, 1) : [],
        tuple: true,
        carriesState: true,
      }
    case 'messages/partial':
    case 'messages/complete':
      return {
        type: 'messages',
        messages: Array.isArray(data) ? data : [data],
        tuple: false,
        carriesState: true,
      }
    case 'feedback':
      return { type: 'feedback', urls: data, carriesState: false }
    case 'error':
      return { type: 'error', ...errorOf(data), carriesState: false }
    default:
      return { type: 'other', name: kind, carriesState: !WITHOUT_STATE.has(kind) }
  }
}

/** `{"error": class, "message": text}`, or a bare string (JavaScript server). */
function errorOf(data: unknown): { kind: string; message: string } {
  if (typeof data === 'string') return { kind: '', message: data }
  const { error, message } = record(data)
  return { kind: text(error) ?? '', message: text(message) ?? '' }
}

function asked(interrupt: unknown): { interrupts?: readonly unknown[] } {
  if (interrupt === undefined) return {}
  return { interrupts: Array.isArray(interrupt) ? interrupt : [interrupt] }
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {}
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
