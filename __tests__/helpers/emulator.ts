/** An emulator in this process, with what a test wants to ask and tell it. */
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/server.ts'

export interface StateView {
  deployments: Record<string, unknown>[]
  revisions: Record<string, unknown>[]
  providers: Record<string, unknown>[]
  sandboxes: Record<string, unknown>[]
  feedback: Record<string, unknown>[]
  requests: {
    time: string
    method: string
    path: string
    query: string
    headers: Record<string, string>
    body: unknown
    status: number | null
  }[]
}

export interface Answer {
  status: number
  headers: Headers
  /** JSON where it is JSON, else text. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads answers of every shape
  body: any
}

export interface TestEmulator extends Emulator {
  /** Headers that let a request in. */
  headers: Record<string, string>
  /** Everything that it holds. */
  state(): Promise<StateView>
  /** Scripts a fault. @returns its id */
  fault(spec: object): Promise<string>
  clearFaults(): Promise<void>
  /** Scripts the next revision, or makes a sandbox. @returns its id */
  scenario(spec: object): Promise<string>
  /** A request with the key; a body that is given goes as JSON. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  /** Reads a revision until `done`, at most 20 s. @returns every status that was seen, in order */
  watch(deploymentId: string, revisionId: string, done?: (status: string) => boolean): Promise<string[]>
}

const ENDS = ['DEPLOYED', 'CREATE_FAILED', 'BUILD_FAILED', 'DEPLOY_FAILED', 'SKIPPED', 'INTERRUPTED']
const WATCH_MS = 20_000

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text()
  const isJson = (response.headers.get('content-type') ?? '').includes('json') && text !== ''
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

/** A clock that stands still until it is told: for tests of what is the case at an exact moment. */
export class HandClock {
  #ms = Date.parse('2026-01-01T00:00:00Z')
  readonly now = (): number => this.#ms

  pass(seconds: number): void {
    this.#ms += seconds * 1000
  }
}

/** Real time until a test stops it: from then on it passes by the word of the test, however slow the machine is. */
export class StoppableClock {
  #stoodAt: number | undefined
  #aheadMs = 0
  readonly now = (): number => this.#stoodAt ?? Date.now() + this.#aheadMs

  stop(): void {
    this.#stoodAt = this.now()
  }

  /** @param ms real milliseconds, of which the emulator makes `speed` times as many */
  pass(ms: number): void {
    if (this.#stoodAt === undefined) throw new Error('the clock goes by itself')
    this.#stoodAt += ms
  }

  go(): void {
    if (this.#stoodAt !== undefined) this.#aheadMs = this.#stoodAt - Date.now()
    this.#stoodAt = undefined
  }
}

/** @param options as for `startEmulator`; `speed` is 200 here, so that a deploy takes a fraction of a second */
export async function startTestEmulator(options: EmulatorOptions = {}): Promise<TestEmulator> {
  const emulator = await startEmulator({ speed: 200, ...options })
  const base = emulator.controlPlaneUrl
  const headers = { 'X-Api-Key': emulator.apiKey }

  async function call(
    method: string,
    path: string,
    body?: unknown,
    more: Record<string, string> = {},
  ): Promise<Answer> {
    const json = body === undefined ? {} : { 'content-type': 'application/json' }
    const response = await fetch(`${base}${path}`, {
      method,
      headers: { ...headers, ...json, ...more },
      redirect: 'manual',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return answerOf(response)
  }

  async function tell(path: string, spec: object): Promise<string> {
    const { status, body } = await call('POST', `/_emulator/${path}`, spec)
    if (status !== 201)
      throw new Error(`the emulator refused ${JSON.stringify(spec)}: ${JSON.stringify(body)}`)
    return body.id
  }

  async function watch(
    deploymentId: string,
    revisionId: string,
    done = (status: string) => ENDS.includes(status),
  ): Promise<string[]> {
    const seen: string[] = []
    const deadline = Date.now() + WATCH_MS
    for (;;) {
      const { body } = await call('GET', `/v2/deployments/${deploymentId}/revisions/${revisionId}`)
      if (seen.at(-1) !== body.status) seen.push(body.status)
      if (done(body.status)) return seen
      if (Date.now() > deadline) throw new Error(`revision ${revisionId} is still ${body.status}: ${seen}`)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }

  return {
    ...emulator,
    headers,
    state: async () => (await call('GET', '/_emulator/state')).body,
    fault: (spec) => tell('faults', spec),
    clearFaults: async () => void (await call('DELETE', '/_emulator/faults')),
    scenario: (spec) => tell('scenarios', spec),
    call,
    watch,
  }
}

/** Requests of one method to paths that match, in order. */
export async function requestsOf(emulator: TestEmulator, method: string, path: RegExp) {
  const { requests } = await emulator.state()
  return requests.filter((request) => request.method === method && path.test(request.path))
}

/** Acts once the emulator has answered one more request of this kind. @throws when none comes in 20 s */
export async function onceAsked<T>(
  emulator: TestEmulator,
  method: string,
  path: RegExp,
  act: () => Promise<T>,
): Promise<T> {
  const answered = async () =>
    (await requestsOf(emulator, method, path)).filter(({ status }) => status !== null).length
  const before = await answered()
  const deadline = Date.now() + 20_000
  while ((await answered()) === before) {
    if (Date.now() > deadline) throw new Error(`no ${method} ${path} came`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return act()
}
