import * as z from 'zod/mini'
import { AgentDeployError } from '../../base/errors.ts'
import { HttpError, ProtocolError } from '../../http/errors.ts'
import type { Transport } from '../../http/transport.ts'
import { displayUrl, join } from '../../http/url.ts'

/** Where sandboxes are read: another host than the control plane's. */
export interface SandboxService {
  readonly transport: Transport
  /** Base URL; a path prefix is kept. */
  readonly url: URL
  /** `x-api-key`, `x-tenant-id`. */
  readonly headers: Readonly<Record<string, string>>
}

/** A sandbox; only name and status are certain to be told. Everything in it is remote text. */
export interface Sandbox {
  readonly name: string
  /** `provisioning`, `ready`, `failed`, `stopped`, `deleting`, or a word that nobody here knows. */
  readonly status: string
  readonly id: string
  readonly templateName: string
  readonly statusMessage: string
  /** Always told, and of use only when `status` is `ready`. */
  readonly dataplaneUrl: string
  readonly createdAt: string
  readonly updatedAt: string
}

const text = z.optional(z.nullable(z.string()))

const SandboxWire = z.object({
  name: z.string(),
  status: z.string().check(z.minLength(1)),
  id: text,
  template_name: text,
  status_message: text,
  dataplane_url: text,
  created_at: text,
  updated_at: text,
})

export interface GetOptions {
  /** Milliseconds since 1970, on the transport's clock. */
  readonly deadline: number
  readonly signal?: AbortSignal
  /** Tries after the first; absent: 2. */
  readonly retries?: number
}

/**
 * `GET /v2/sandboxes/boxes/{name}` (interface document, endpoint 2).
 * @param name percent-encoded here
 * @throws AgentDeployError for a name that a path cannot hold, HttpError (404: no sandbox of this name) with a hint, ProtocolError when name or status is missing,
 *   and what else the transport throws
 */
export async function getSandbox(
  service: SandboxService,
  name: string,
  options: GetOptions,
): Promise<Sandbox> {
  const url = join(service.url, `/v2/sandboxes/boxes/${segment(name)}`)
  const request = { method: 'GET', url: displayUrl(url) } as const
  let answer: unknown
  try {
    const response = await service.transport.sendWithRetry(
      {
        method: 'GET',
        url,
        headers: service.headers,
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      },
      { deadline: options.deadline, retries: options.retries ?? 2 },
    )
    answer = response.json()
  } catch (error) {
    if (!(error instanceof HttpError) || error.hint !== undefined) throw error
    throw new HttpError(error, error, hintFor(error.status))
  }
  const read = SandboxWire.safeParse(answer)
  if (!read.success) {
    throw new ProtocolError(
      request,
      `GET ${request.url} gave no sandbox: its name or its status is missing`,
      {
        hint: 'Look at the base URL of the sandbox service: something else seems to answer there.',
      },
    )
  }
  const box = read.data
  return {
    name: box.name,
    status: box.status,
    id: box.id ?? '',
    templateName: box.template_name ?? '',
    statusMessage: box.status_message ?? '',
    dataplaneUrl: box.dataplane_url ?? '',
    createdAt: box.created_at ?? '',
    updatedAt: box.updated_at ?? '',
  }
}

/** `.` and `..` cannot be asked for: a URL takes them for folders, percent-encoded or not. */
function segment(name: string): string {
  if (name !== '' && name !== '.' && name !== '..') return encodeURIComponent(name)
  throw new AgentDeployError(`${JSON.stringify(name)} cannot be the name of a sandbox`, {
    hint: 'Give the name as the sandbox service shows it.',
  })
}

function hintFor(status: number): string | undefined {
  if (status === 404) {
    return 'No sandbox of this name in this workspace: look at the name, at the workspace id, and at the region of the base URL. Create the sandbox before this step.'
  }
  if (status === 401 || status === 403) {
    return 'The key was refused: look at the API key (expired, revoked, of another region), and at the workspace id, which a key of the organisation needs.'
  }
  if (status === 422) return 'The service refuses the name: look at how the sandbox is named.'
  return undefined
}
