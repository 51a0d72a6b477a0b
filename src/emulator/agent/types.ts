/**
 * What one emulated agent server is told when it is made, and what it gives back.
 * Whoever mounts it strips the `/d/<deployment id>` prefix first: an agent server believes that it is alone.
 */

/** Who the server says that it belongs to, in `GET /info` (`host.*`). */
export interface AgentHost {
  projectId: string | null
  hostRevisionId: string | null
  revisionId: string | null
  tenantId: string | null
}

export interface AgentServerOptions {
  /** Public base URL without a last slash, as `http://127.0.0.1:PORT/d/<deployment id>`: for the agent card. */
  url: string
  /** `python` answers as the recorded 0.16.7 does, `js` as `langgraphjs dev` does. */
  profile: 'python' | 'js'
  /** Told by `/info` and the card; below 0.4.21 there is no A2A. */
  agentVersion: string
  a2a: '0.3' | '1.0'
  disableA2a: boolean
  /** Whether a message may name a finished task: `reject` is what was recorded. */
  terminalTasks: 'accept' | 'reject'
  /** Left out: the eleven built-in graphs. Else these names, each behaving as `agent`. */
  graphs?: readonly string[]
  /** One URL per key. Left out: this server cannot mint, and a run that asks ends in a late `error` event. */
  mintFeedback?: (runId: string, keys: readonly string[]) => Record<string, string>
  /** Auth of all routes but the open ones: the `detail` of a 403, or undefined when the caller is let in. */
  authenticate: (headers: Headers) => string | undefined
  /** Read at each request, so that `/info` follows the active revision. */
  host: () => AgentHost
}

export interface AgentServer {
  /** Answers a request whose path has no `/d/<id>` prefix any more. */
  fetch(request: Request): Response | Promise<Response>
  /** Ends runs, timers and open streams. */
  close(): void
  /** The next revision, on the same assistants and threads; this one is closed. */
  next(options: AgentServerOptions): AgentServer
}
