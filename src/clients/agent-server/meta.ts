import * as z from 'zod/mini'
import { type AgentServer, AnyRecord, type CallOptions, call } from './api.ts'

/** What `/info` tells. Every field may be missing: versions differ, and `http.disable_meta` hides it all. */
export interface Info {
  /** The server's own version, e.g. `0.16.7`. */
  readonly version?: string
  /** `host.host_revision_id` (older description: `metadata.host_revision_id`): the revision that answers. */
  readonly revisionId?: string
}

const Ok = z.object({ ok: z.literal(true) })

/**
 * `GET /ok`.
 * @returns whether the answer says so; 0.16 adds `services`, so only `ok` is looked at
 * @throws what the transport throws (a status of 400 or more among it)
 */
export async function getOk(server: AgentServer, options: CallOptions): Promise<boolean> {
  const response = await call(server, { method: 'GET', path: '/ok' }, options)
  return Ok.safeParse(tryJson(response.text)).success
}

/** `GET /info`. An answer of another shape (a custom route may stand there) tells nothing and is no error. */
export async function getInfo(server: AgentServer, options: CallOptions): Promise<Info> {
  const response = await call(server, { method: 'GET', path: '/info' }, options)
  const info = AnyRecord.safeParse(tryJson(response.text))
  if (!info.success) return {}
  const { version, host, metadata } = info.data
  const revisionId = revisionOf(host) ?? revisionOf(metadata)
  return {
    ...(typeof version === 'string' && version !== '' ? { version } : {}),
    ...(revisionId === undefined ? {} : { revisionId }),
  }
}

function revisionOf(host: unknown): string | undefined {
  const record = AnyRecord.safeParse(host)
  const id = record.success ? record.data['host_revision_id'] : undefined
  return typeof id === 'string' && id !== '' ? id : undefined
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
