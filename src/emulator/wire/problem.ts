import type { Issue } from './schema.ts'

/** An answer that is an error; thrown by handlers and turned into a response in one place. */
export class Problem extends Error {
  override name = 'Problem'
  readonly status: number
  readonly detail: unknown

  constructor(status: number, detail: unknown) {
    super(typeof detail === 'string' ? detail : `HTTP ${status}`)
    this.status = status
    this.detail = detail
  }

  toResponse(): Response {
    return Response.json({ detail: this.detail }, { status: this.status })
  }
}

/** 422 with the faults in the framework's shape. */
export function invalid(issues: readonly Issue[]): Problem {
  return new Problem(422, issues)
}
