import type { RunBody } from '../clients/agent-server/runs.ts'
import type { Step } from './checks.ts'

/**
 * The body of a check's run. The step's `run` is merged last: mappings member by member, anything else replaces,
 * `null` too (a resumed run may have to say null). `updates` is among the modes whatever was asked for, because
 * it carries what the nodes wrote.
 */
export function runBody(step: Step, assistantId: string): RunBody {
  const body = merge(
    {
      assistant_id: assistantId,
      ...(step.input === undefined ? {} : { input: step.input }),
      stream_mode: step.streamModes,
      ...(step.feedback === undefined ? {} : { feedback_keys: step.feedback.map(({ key }) => key) }),
    },
    step.run ?? {},
  ) as RunBody
  const modes = typeof body.stream_mode === 'string' ? [body.stream_mode] : body.stream_mode
  const asked = Array.isArray(modes) ? (modes as unknown[]) : []
  return { ...body, stream_mode: [...new Set([...asked, 'updates'])] as string[] }
}

function merge(target: unknown, patch: unknown): unknown {
  if (!isRecord(target) || !isRecord(patch)) return patch
  const merged: Record<string, unknown> = { ...target }
  for (const [key, value] of Object.entries(patch)) merged[key] = merge(merged[key], value)
  return merged
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
