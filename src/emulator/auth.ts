/** Who is let in: `X-Api-Key`, or `Authorization: Bearer` with the same key and `X-Tenant-Id`. */
import { timingSafeEqual } from 'node:crypto'
import type { Settings } from './options.ts'

const WORKSPACE_WANTED =
  "This API key is org-scoped and requires workspace specification. Please provide 'X-Tenant-ID' header."

function same(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** The detail of the 403 that this caller gets; undefined: let in. */
export function refusal(headers: Headers, settings: Settings): string | undefined {
  const tenant = headers.get('x-tenant-id')
  const apiKey = headers.get('x-api-key')
  const bearer = /^Bearer\s+(.+)$/i.exec(headers.get('authorization') ?? '')?.[1]
  const key = apiKey ?? bearer
  // A cookie is a credential too, if never a good one here (recorded: 6-ls-cookie-*).
  if (key === undefined) return headers.has('cookie') ? 'Invalid token' : 'Missing authentication headers'
  if (!same(key, settings.apiKey)) return 'Invalid token'
  if (tenant !== null && tenant !== settings.workspaceId) return 'Invalid tenant ID'
  if (apiKey === null && tenant === null) return WORKSPACE_WANTED
  return undefined
}

/** The 403 itself. */
export function refuse(headers: Headers, settings: Settings): Response | undefined {
  const detail = refusal(headers, settings)
  return detail === undefined ? undefined : Response.json({ detail }, { status: 403 })
}
