import type { RunRequest, StreamMode } from '../run.ts'

/** The body of a run, as it comes over the wire and past its schema. */
export interface RunBody {
  assistant_id: string
  input?: unknown
  command?: Record<string, unknown> | null
  config?: Record<string, unknown>
  context?: Record<string, unknown>
  metadata?: Record<string, unknown>
  checkpoint?: Record<string, unknown>
  checkpoint_id?: string
  stream_mode?: StreamMode | StreamMode[]
  stream_subgraphs?: boolean
  stream_resumable?: boolean
  feedback_keys?: string[]
  interrupt_before?: '*' | string[]
  interrupt_after?: '*' | string[]
  multitask_strategy?: NonNullable<RunRequest['multitaskStrategy']>
  if_not_exists?: 'create' | 'reject'
  on_completion?: 'delete' | 'keep'
  on_disconnect?: 'cancel' | 'continue'
  after_seconds?: number
  webhook?: string
  durability?: string
}

/** Puts the entries that are there under their name in the engine. */
export function runRequest(
  body: RunBody,
  extra: { requestId: string | undefined; temporary: boolean },
): RunRequest {
  const checkpointId = body.checkpoint_id ?? body.checkpoint?.['checkpoint_id']
  const modes = body.stream_mode === undefined ? [] : [body.stream_mode].flat()
  const request: Record<string, unknown> = {
    assistantId: body.assistant_id,
    input: body.input,
    command: body.command,
    config: body.config,
    context: body.context,
    metadata: body.metadata,
    checkpointId: typeof checkpointId === 'string' ? checkpointId : undefined,
    streamMode: modes,
    streamSubgraphs: body.stream_subgraphs,
    streamResumable: body.stream_resumable,
    feedbackKeys: body.feedback_keys,
    interruptBefore: body.interrupt_before,
    interruptAfter: body.interrupt_after,
    multitaskStrategy: body.multitask_strategy,
    ifNotExists: body.if_not_exists,
    afterSeconds: body.after_seconds,
    webhook: body.webhook,
    durability: body.durability,
    temporary: extra.temporary,
    requestId: extra.requestId,
  }
  const given = Object.entries(request).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given) as unknown as RunRequest
}
