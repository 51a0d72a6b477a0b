import type { RunRequest } from './run.ts'
import type { Assistant } from './store/assistants.ts'
import { mirrorContext } from './store/assistants.ts'
import type { Thread } from './store/threads.ts'

type Json = Record<string, unknown>

export interface RunIdentity {
  runId: string
  threadId: string
  assistant: Assistant
  requestId: string
  /** Milliseconds since 1970. */
  now: number
  request: RunRequest
}

/** The merge of assistant, thread and run, in its two steps. */
export interface MergedConfig {
  /** What the node sees as its context: the thread's never leaks into it. */
  context: Json
  /** Lets the assistant's configuration stick to the thread, and takes what stuck before. */
  applyThread(thread: Thread): void
  /** The run's `kwargs.config`, without its metadata. */
  config(identity: RunIdentity): Json
}

/**
 * Merges configuration as recorded (agent-server-recorded.md, row 21): assistant, then thread, then run. The thread
 * keeps the `configurable` of the first assistant that has one, never that of a run (the JavaScript server: that of
 * runs too, and it keeps context and configurable apart). Throws 400 when the run gives
 * both `config.configurable` and `context`.
 */
export function mergeConfig(
  assistant: Assistant,
  request: RunRequest,
  profile: 'python' | 'js',
): MergedConfig {
  const js = profile === 'js'
  const given = { config: request.config ?? {}, context: request.context ?? {} }
  const own = js ? given : mirrorContext(given.config, given.context)
  let threadConfigurable: Json = {}
  return {
    context: { ...assistant.context, ...own.context },
    applyThread(thread) {
      threadConfigurable = {
        ...(assistant.config['configurable'] as Json | undefined),
        ...(js ? (own.config['configurable'] as Json | undefined) : {}),
        ...(thread.config['configurable'] as Json | undefined),
      }
      // The rest of a run's config stays at the thread, too, and is not applied to later runs.
      const { configurable: _configurable, ...rest } = js ? {} : own.config
      thread.config = { ...assistant.config, ...thread.config, ...rest, configurable: threadConfigurable }
    },
    config({ runId, threadId, requestId, now, request: { afterSeconds } }) {
      const { configurable: _assistant, ...assistantRest } = assistant.config
      const { configurable, ...runRest } = own.config
      const pythonKeys = {
        langgraph_auth_user: null,
        langgraph_auth_user_id: '',
        langgraph_auth_permissions: [],
        langgraph_request_id: requestId,
        __request_start_time_ms__: Math.trunc(now),
        __after_seconds__: afterSeconds ?? 0,
      }
      return {
        ...assistantRest,
        ...runRest,
        configurable: {
          ...threadConfigurable,
          ...(configurable as Json | undefined),
          ...(js ? {} : pythonKeys),
          run_id: runId,
          thread_id: threadId,
          graph_id: assistant.graph_id,
          assistant_id: assistant.assistant_id,
          ...(js ? {} : { user_id: '' }),
        },
      }
    },
  }
}

/** A run's metadata before it begins: the assistant's, the caller's, and whose run it is. */
export function pendingMetadata(assistant: Assistant, request: RunRequest): Json {
  const whose = { graph_id: assistant.graph_id, assistant_id: assistant.assistant_id }
  return { ...assistant.metadata, ...whose, ...request.metadata, ...whose }
}

/** Version of the graph library behind the recorded 0.16.7. */
export const LANGGRAPH_VERSION = '1.2.22'

/** A run's metadata once it works: checkpoints, tasks and messages carry it. */
export function runningMetadata(
  metadata: Json,
  options: { agentVersion: string; url: string; profile: 'python' | 'js' },
): Json {
  if (options.profile === 'js') {
    return {
      ls_integration: 'langgraph',
      ...metadata,
      run_attempt: 1,
      langgraph_version: '0.0.0',
      langgraph_plan: 'developer',
      langgraph_host: 'self-hosted',
      langgraph_api_url: options.url,
    }
  }
  return {
    ...metadata,
    run_attempt: 1,
    langgraph_version: LANGGRAPH_VERSION,
    langgraph_api_version: options.agentVersion,
    langgraph_plan: 'enterprise',
    langgraph_host: 'self-hosted',
    langgraph_api_url: options.url,
  }
}
