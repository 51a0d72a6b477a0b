/**
 * Sandboxes, read by name: `GET /v2/sandboxes/boxes/{name}` (interface document, endpoint 2) and the same under
 * `/api/v2`, which newer clients ask. A sandbox walks through a list of statuses by the emulator's clock.
 */
import type { Context, Hono } from 'hono'

/** What it needs of the emulator's clock. */
interface Clock {
  /** Real time in milliseconds since 1970. */
  now(): number
  /** Emulator seconds since that moment: real seconds times the speed. */
  elapsed(sinceMs: number): number
}

/** A sandbox as `POST /_emulator/scenarios` describes it. */
export interface SandboxScript {
  name: string
  template_name?: string
  /** Status and how long it lasts, in emulator seconds; null, and the last one, stay. */
  statuses: readonly (readonly [status: string, seconds: number | null])[]
  /** Told while the status is `failed`. */
  status_message?: string
}

/** The eight fields of the interface document's "Sandbox (response)", in its order. */
export interface SandboxEntry {
  id: string
  name: string
  template_name: string
  status: string
  /** Empty but while the status is `failed`. */
  status_message: string
  /** Always there, and of use only when `ready`. */
  dataplane_url: string
  created_at: string
  updated_at: string
}

export interface SandboxDeps {
  clock: Clock
  newId(): string
  /** @returns the refusal, or undefined when the caller is let in */
  authenticate(headers: Headers): Response | undefined
}

interface Sandbox {
  id: string
  script: SandboxScript
  createdMs: number
  seenStatus: string
  updatedMs: number
}

const PATHS = ['/v2/sandboxes/boxes/:name', '/api/v2/sandboxes/boxes/:name']
const MAX_NAME = 255
const DEFAULT_TEMPLATE = 'python-3.12'

/** What an emulator starts with: one that becomes ready, one that cannot. */
export const FIRST_SANDBOXES: readonly SandboxScript[] = [
  {
    name: 'box-1',
    statuses: [
      ['provisioning', 5],
      ['ready', null],
    ],
  },
  {
    name: 'box-failed',
    statuses: [['failed', null]],
    status_message: 'Image pull failed: registry.example/sandbox:latest was not found',
  },
]

export class SandboxStore {
  readonly #deps: SandboxDeps
  readonly #boxes = new Map<string, Sandbox>()

  constructor(deps: SandboxDeps) {
    this.#deps = deps
    for (const script of FIRST_SANDBOXES) this.script(script)
  }

  /**
   * Makes a sandbox that starts its walk now; one of the same name is replaced.
   * @throws {RangeError} when the list of statuses is empty
   */
  script(script: SandboxScript): void {
    const first = script.statuses[0]
    if (!first) throw new RangeError(`sandbox "${script.name}" needs at least one status`)
    const createdMs = this.#deps.clock.now()
    const id = this.#deps.newId()
    this.#boxes.set(script.name, { id, script, createdMs, seenStatus: first[0], updatedMs: createdMs })
  }

  /** @param baseUrl origin for `dataplane_url`; left out: a name that cannot be resolved */
  entries(baseUrl = 'https://sandboxes.invalid'): SandboxEntry[] {
    return [...this.#boxes.values()].map((box) => this.#view(box, baseUrl))
  }

  routes(app: Hono): void {
    for (const path of PATHS) {
      app.get(path, (c) => this.#read(c))
      app.all(path, (c) => c.json({ detail: 'Method Not Allowed' }, 405, { allow: 'GET' }))
    }
  }

  #read(c: Context): Response {
    const refusal = this.#deps.authenticate(c.req.raw.headers)
    if (refusal) return refusal
    const name = c.req.param('name') ?? ''
    if (name.length > MAX_NAME) {
      const msg = `String should have at most ${MAX_NAME} characters`
      return c.json({ detail: [{ type: 'string_too_long', loc: ['path', 'name'], msg, input: name }] }, 422)
    }
    const box = this.#boxes.get(name)
    if (!box) return c.json({ detail: { error: 'NotFound', message: `Sandbox '${name}' not found` } }, 404)
    return c.json(this.#view(box, new URL(c.req.url).origin))
  }

  #view(box: Sandbox, baseUrl: string): SandboxEntry {
    const status = statusAt(box.script, this.#deps.clock.elapsed(box.createdMs))
    if (status !== box.seenStatus) {
      box.seenStatus = status
      box.updatedMs = this.#deps.clock.now()
    }
    return {
      id: box.id,
      name: box.script.name,
      template_name: box.script.template_name ?? DEFAULT_TEMPLATE,
      status,
      status_message: status === 'failed' ? (box.script.status_message ?? 'Sandbox provisioning failed') : '',
      dataplane_url: `${baseUrl}/sandboxes/${box.id}`,
      created_at: new Date(box.createdMs).toISOString(),
      updated_at: new Date(box.updatedMs).toISOString(),
    }
  }
}

function statusAt(script: SandboxScript, elapsed: number): string {
  let left = elapsed
  let current = ''
  for (const [status, seconds] of script.statuses) {
    current = status
    if (seconds === null || left < seconds) break
    left -= seconds
  }
  return current
}
