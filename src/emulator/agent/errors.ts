/**
 * A request that is answered with an error before anything ran. `detail` is the sentence that the
 * Python server puts into `{"detail": …}`; the JavaScript profile sends it as plain text.
 */
export class HttpError extends Error {
  readonly status: number
  readonly detail: string
  readonly headers: Record<string, string>

  constructor(status: number, detail: string, headers: Record<string, string> = {}) {
    super(detail)
    this.name = 'HttpError'
    this.status = status
    this.detail = detail
    this.headers = headers
  }
}

/** A body that does not fit its schema: 422 with one long sentence (Python), 400 with issues (JavaScript). */
export class SchemaError extends HttpError {
  /** The same fault as zod tells it. */
  readonly issue: Record<string, unknown>

  constructor(detail: string, issue: Record<string, unknown>) {
    super(422, detail)
    this.name = 'SchemaError'
    this.issue = issue
  }
}

/** What went wrong inside a run: the class name of the real server's exception, and its text. */
export class RunError extends Error {
  readonly kind: string

  constructor(kind: string, message: string) {
    super(message)
    this.name = 'RunError'
    this.kind = kind
  }

  /** `{"error","message"}`, as in an `error` event, a thread's `error` and `__error__`. */
  wire(): { error: string; message: string } {
    return { error: this.kind, message: this.message }
  }
}
