import type { Clock } from '../../src/base/clock.ts'
import { CancelledError } from '../../src/base/errors.ts'
import { type Environment, readProxySettings } from '../../src/http/proxy.ts'
import { Transport } from '../../src/http/transport.ts'
import type { GithubContext } from '../../src/runner/context.ts'
import { InputReader } from '../../src/runner/inputs.ts'
import type { Outputs } from '../../src/runner/outputs.ts'
import type { Runner } from '../../src/runner/runner.ts'
import { Secrets } from '../../src/runner/secrets.ts'

/** A runner whose words are kept in memory, for tests of the lower rooms in this process. */
export interface TestRunner extends Runner {
  /** `warning: …`, `notice: …`, `info: …` in order. */
  readonly said: string[]
  readonly saved: Map<string, string>
  readonly masks: string[]
  readonly summaryText: string[]
  /** What a later phase of the step finds in `state`. */
  post(): TestRunner
  cancel(): void
}

/** A pull request of this repository, unless told otherwise. */
export function testContext(apiUrl: string, part: Partial<GithubContext> = {}): GithubContext {
  return {
    eventName: 'pull_request',
    owner: 'octo',
    repo: 'agent',
    ref: 'refs/pull/7/merge',
    refName: '7/merge',
    sha: 'b'.repeat(40),
    serverUrl: 'https://github.com',
    apiUrl,
    runId: '42',
    runUrl: 'https://github.com/octo/agent/actions/runs/42',
    actor: 'octocat',
    workspace: '/tmp',
    defaultBranch: 'main',
    pullRequest: {
      number: 7,
      headSha: 'a'.repeat(40),
      headRef: 'topic',
      headRepo: 'octo/agent',
      baseRepo: 'octo/agent',
      baseRef: 'main',
      fromFork: false,
    },
    issueNumber: undefined,
    payload: {},
    ...part,
  }
}

/** A wait takes no time; `now` is real. */
const quickClock: Clock = {
  now: () => Date.now(),
  sleep: async (_ms, signal) => signal?.throwIfAborted(),
}

export function testRunner(
  context: GithubContext,
  options: { env?: Environment; state?: ReadonlyMap<string, string> } = {},
): TestRunner {
  const env = options.env ?? {}
  const said: string[] = []
  const saved = new Map<string, string>()
  const masks: string[] = []
  const summaryText: string[] = []
  const controller = new AbortController()
  const say = (kind: string) => (message: string) => {
    said.push(`${kind}: ${message}`)
  }
  const outputs = new Map<string, string>()
  const runner: TestRunner = {
    env,
    log: {
      info: say('info'),
      debug: say('debug'),
      warning: say('warning'),
      notice: say('notice'),
      group: async (title, work) => {
        say('group')(title)
        return work()
      },
      remote: (title, text) => say('remote')(`${title}: ${text}`),
    },
    inputs: new InputReader(env),
    outputs: {
      set: (name: string, value: string | number | boolean) => {
        outputs.set(name, String(value))
      },
      get: (name: string) => outputs.get(name),
    } as Outputs,
    secrets: new Secrets({ register: (line) => masks.push(line), tooShort: say('warning') }),
    summary: { append: (markdown) => summaryText.push(markdown) },
    signal: controller.signal,
    clock: quickClock,
    random: () => 0.5,
    transport: new Transport({
      proxy: readProxySettings(env),
      signal: controller.signal,
      clock: quickClock,
      random: () => 0.5,
      userAgent: 'test',
    }),
    context: async () => context,
    state: {
      save: (name, value) => {
        saved.set(name, value)
      },
      get: (name) => options.state?.get(name) ?? '',
    },
    said,
    saved,
    masks,
    summaryText,
    post: () => testRunner(context, { env, state: new Map(saved) }),
    cancel: () => controller.abort(new CancelledError('The job was cancelled')),
  }
  return runner
}
