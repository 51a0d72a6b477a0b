import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from '@jest/globals'
import { type RunResult, runStep, type StepOptions } from '../helpers/action.ts'

const SCRIPT = fileURLToPath(new URL('stories/story.ts', import.meta.url))
const SECRET = 'canary-secret-0123456789'

const run = (story: string, options: StepOptions = {}): Promise<RunResult> =>
  runStep(SCRIPT, {
    ...options,
    inputs: { story, ...options.inputs },
    // Stories are TypeScript, which Node 24 reads by itself, with a warning.
    env: { NODE_NO_WARNINGS: '1', ...options.env },
  })

const errorsOf = (result: RunResult) => result.executedCommands.filter((command) => command.name === 'error')
const warningsOf = (result: RunResult) =>
  result.annotations.filter((one) => one.type === 'warning').map((one) => one.message)

describe('an end that is green', () => {
  it('writes outputs, state and summary, and exits 0', async () => {
    const result = await run('green', { state: { before: 'yes' } })
    expect(result).toMatchObject({ exitCode: 0, stderr: '', annotations: [], executedCommands: [] })
    expect(result.outputs).toEqual({ outcome: 'deployed', count: '3', created: 'true', text: 'one\ntwo=<<x' })
    expect(result.state).toEqual({ id: 'saved\nvalue' })
    expect(result.summary).toBe('## fine\n')
    expect(result.visible).toBe('earlier: yes')
  })

  it('ends though something is left that holds the process', async () => {
    const result = await run('leak')
    expect(result).toMatchObject({ exitCode: 0, timedOut: false, outputs: { outcome: 'deployed' } })
  })

  it('ends at once after a request: no connection is left', async () => {
    let answered = 0
    const server = createServer((_, response) => {
      answered = performance.now()
      response.end('{}')
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    const result = await run('request', { inputs: { url: `http://127.0.0.1:${port}/` } })
    expect(result).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed' } })
    // What is left open holds the process for 3 s.
    expect(performance.now() - answered).toBeLessThan(2_900)
    server.closeAllConnections()
    server.close()
  })

  it('cuts a summary at 512 KiB and closes what it leaves open', async () => {
    const { summary, exitCode } = await run('huge')
    expect(exitCode).toBe(0)
    expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(512 * 1024)
    expect(Buffer.byteLength(summary)).toBeGreaterThan(500 * 1024)
    expect(summary).not.toContain('\ufffd')
    expect(summary.slice(-200)).toContain('```\n\n</details>\n\n_The summary was cut here')
  })
})

describe('an end that is red', () => {
  it('tells one error with its hint, and the causes in the log, redacted', async () => {
    const result = await run('red')
    expect(result.exitCode).toBe(1)
    expect(errorsOf(result)).toHaveLength(1)
    expect(result.annotations).toEqual([
      {
        type: 'error',
        title: 'POST https://host answered 500: first',
        message: 'POST https://host answered 500: first\nsecond line\nDo this.',
      },
    ])
    expect(result.visible).toContain('Caused by: Error: in between')
    expect(result.visible).toContain('Caused by: Error (ECONNREFUSED): connect to ***')
    expect(result.outputs).toEqual({ outcome: 'error' })
    expect(result.summary).toBe('failed with AgentDeployError ***\n')
    expect(result.masks).toEqual([SECRET])
    expect(result.stdout.replaceAll(`::add-mask::${SECRET}`, '')).not.toContain(SECRET)
  })

  it('tells all wrong inputs in one annotation, one per line', async () => {
    const result = await run('inputs', { inputs: { wait: 'maybe' } })
    expect(result.exitCode).toBe(1)
    expect(result.annotations.map((one) => one.message)).toEqual([
      'Input "api-key": is required\nInput "wait": is "maybe", expected true or false',
    ])
  })

  it.each([
    ['string', 'something was thrown that is not an Error: a text'],
    ['undefined', 'something was thrown that is not an Error: undefined'],
    ['bug', 'Cannot read properties of undefined'],
    ['empty', 'nothing was left to wait for'],
    ['uncaught', 'thrown in a timer'],
  ])('takes %s for a bug and asks to report it', async (story, text) => {
    const result = await run(story)
    expect(result).toMatchObject({ exitCode: 1, stderr: '' })
    expect(errorsOf(result)).toHaveLength(1)
    expect(result.annotations[0]?.message).toContain(text)
    expect(result.annotations[0]?.message).toContain('report')
    expect(result.stdout).not.toContain('    at ')
    expect(result.executedCommands.map((command) => command.name)).toEqual(['error'])
  })

  it('shows the stack of a bug with debug logging only', async () => {
    const result = await run('bug', { env: { RUNNER_DEBUG: '1' } })
    const debug = result.executedCommands.filter((command) => command.name === 'debug')
    expect(debug.some((command) => command.data.includes('story.ts'))).toBe(true)
  })

  it('tells an error that nobody caught as any other', async () => {
    const result = await run('unhandled')
    expect(result.annotations).toEqual([
      { type: 'error', title: 'nobody caught this', message: 'nobody caught this\nLook.' },
    ])
    expect(result.exitCode).toBe(1)
  })

  it('keeps the first error when telling it fails', async () => {
    const result = await run('failed-fails')
    expect(errorsOf(result)).toHaveLength(1)
    expect(result.annotations.find((one) => one.type === 'error')?.message).toContain('the first failure')
    expect(warningsOf(result).join()).toContain('the second failure')
    expect(result.exitCode).toBe(1)
  })

  it('prints a long log to its end, and keeps the hint of a long message', async () => {
    const result = await run('long')
    expect(result.exitCode).toBe(1)
    expect(result.stdout).toContain(`line 49999 ${'x'.repeat(80)}\n`)
    expect(result.annotations[0]?.message).toContain('The hint is there.')
    expect(result.annotations[0]?.message.length).toBeLessThanOrEqual(4096)
  })

  it('refuses an output name with a line end, before it reaches the file', async () => {
    const result = await run('name')
    expect(result).toMatchObject({ exitCode: 1, outputs: {} })
    expect(result.annotations[0]?.message).toContain('"a\\nb"')
  })
})

describe('hostile text', () => {
  it.each(['', '1'])('runs no command of its own (RUNNER_DEBUG=%s)', async (debug) => {
    const result = await run('hostile', { env: { RUNNER_DEBUG: debug } })
    const allowed = ['add-mask', 'warning', 'notice', 'error', 'group', 'endgroup', 'debug']
    expect(
      [...new Set(result.executedCommands.map((command) => command.name))].filter(
        (name) => !allowed.includes(name),
      ),
    ).toEqual([])
    expect(
      result.executedCommands.filter((command) => command.name === 'add-mask').map((command) => command.data),
    ).toEqual([SECRET])
    for (const name of ['warning', 'notice', 'error']) {
      expect(result.executedCommands.filter((command) => command.name === name)).toHaveLength(1)
    }
    expect(result.executedCommands.some((command) => command.name === 'debug')).toBe(debug === '1')
    expect(result.stdout.replace(`::add-mask::${SECRET}`, '')).not.toContain(SECRET)
    expect(result.summary).not.toContain(SECRET)
    expect(result.stderr).toBe('')
  })

  it('does not let a control character hide a secret', async () => {
    const result = await run('split')
    expect(result.visible.split('\n')).toEqual(['split ***', 'split ***', 'split ***'])
    expect(result.stdout.match(/split \*\*\*/g)).toHaveLength(3)
  })
})

describe('a cancel', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    'by %s ends in time, red, with outputs and summary',
    async (signal) => {
      const result = await run('cancel', { signalAfter: { signal, stdout: 'working' } })
      expect(result).toMatchObject({ exitCode: 1, endedBy: null, outputs: { outcome: 'cancelled' } })
      expect(result.summary).toBe('cancelled: CancelledError\n')
      expect(result.annotations.map((one) => one.type)).toEqual(['error'])
      expect(result.annotations[0]?.message).toContain('cancelled')
      expect(result.msAfterSignal).toBeLessThan(2_000)
    },
  )

  it('ends within 5 s though the story hears nothing', async () => {
    const result = await run('deaf', { signalAfter: { stdout: 'working' } })
    expect(result).toMatchObject({
      exitCode: 1,
      endedBy: null,
      outputs: { outcome: 'cancelled' },
      summary: 'was deaf\n',
    })
    expect(result.annotations).toHaveLength(1)
    // 4 s and a moment by its own clock, plus what a busy machine adds; the next signal would come after 7.5 s.
    expect(result.msAfterSignal).toBeLessThan(6_500)
  })

  it('is not changed by a second signal', async () => {
    const result = await run('deaf', {
      signalAfter: { stdout: 'working', again: { signal: 'SIGTERM', ms: 300 } },
    })
    expect(result).toMatchObject({ exitCode: 1, endedBy: null, outputs: { outcome: 'cancelled' } })
    expect(result.annotations).toHaveLength(1)
  })

  it('in the middle of a request ends it', async () => {
    const server = createServer(() => {}).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    const asked = new Promise((resolve) => server.once('request', resolve))
    const result = await run('request', {
      inputs: { url: `http://127.0.0.1:${port}/` },
      signalAfter: { until: asked },
    })
    expect(result).toMatchObject({ exitCode: 1, endedBy: null })
    expect(result.msAfterSignal).toBeLessThan(2_000)
    server.closeAllConnections()
    server.close()
  })
})

describe('the environment', () => {
  it('warns of short secrets once, by name, and of a secret in an output once', async () => {
    const result = await run('short')
    expect(result.masks).toEqual(['long-enough'])
    const warnings = warningsOf(result)
    expect(warnings).toHaveLength(2)
    expect(warnings[0]).toContain('FLAG, OTHER')
    expect(warnings[0]).toContain('env-vars')
    expect(warnings[1]).toContain('output first')
    expect(result.outputs['second']).toBe('has long-enough in it too')
  })

  it('warns of TLS without checks and of networks in NO_PROXY, and masks the proxy password', async () => {
    const result = await run('green', {
      env: {
        NODE_TLS_REJECT_UNAUTHORIZED: '0',
        no_proxy: 'localhost,10.0.0.0/8',
        https_proxy: 'http://me:pass%20word@proxy:1',
      },
    })
    const warnings = warningsOf(result)
    expect(warnings).toHaveLength(2)
    expect(warnings[0]).toContain('NODE_TLS_REJECT_UNAUTHORIZED')
    expect(warnings[1]).toContain('10.0.0.0/8')
    expect(result.masks).toEqual(['pass%20word', 'pass word'])
    expect(result.exitCode).toBe(0)
  })

  it('names a proxy that is no URL without showing it', async () => {
    const result = await run('green', { env: { HTTPS_PROXY: 'hunter2' } })
    expect(result.exitCode).toBe(1)
    expect(result.annotations[0]?.message).toContain('HTTPS_PROXY')
    expect(result.stdout).not.toContain('hunter2')
  })

  it('goes without the files of the runner', async () => {
    const result = await run('green', { env: { GITHUB_STEP_SUMMARY: undefined } })
    expect(result.exitCode).toBe(0)
  })

  it('says it when an output cannot be written', async () => {
    const result = await run('green', { env: { GITHUB_OUTPUT: '/nowhere/output' } })
    expect(result.exitCode).toBe(1)
    expect(result.annotations[0]?.message).toContain('GITHUB_OUTPUT')
  })
})

describe('the context', () => {
  const repository = { full_name: 'octo/agent', default_branch: 'trunk' }
  const pull = (head: unknown) => ({
    repository,
    pull_request: {
      number: 7,
      head: { sha: 'a'.repeat(40), ref: 'topic', repo: head },
      base: { ref: 'trunk', repo: { full_name: 'octo/agent' } },
    },
  })
  const contextOf = async (options: StepOptions) => {
    const result = await run('context', options)
    expect(result.visible).toContain('same true')
    return JSON.parse(result.outputs['context'] ?? '{}') as Record<string, unknown>
  }

  it('tells a push', async () => {
    expect(await contextOf({ event: { repository } })).toEqual({
      eventName: 'push',
      owner: 'octo',
      repo: 'agent',
      ref: 'refs/heads/main',
      refName: 'main',
      sha: 'b'.repeat(40),
      serverUrl: 'https://github.com',
      apiUrl: 'https://api.github.com',
      runId: '42',
      runUrl: 'https://github.com/octo/agent/actions/runs/42',
      actor: 'octocat',
      workspace: expect.stringContaining('workspace'),
      defaultBranch: 'trunk',
    })
  })

  it.each([
    ['of this repository', { full_name: 'Octo/Agent' }, false],
    ['of a fork', { full_name: 'evil/agent' }, true],
    ['of a fork that is gone', null, true],
  ])('tells a pull request %s', async (_, head, fromFork) => {
    const context = await contextOf({ event: pull(head), eventName: 'pull_request' })
    expect(context['pullRequest']).toMatchObject({ number: 7, headRef: 'topic', baseRef: 'trunk', fromFork })
  })

  it('tells a comment on a pull request from one on an issue', async () => {
    const of = (issue: unknown) => contextOf({ event: { repository, issue }, eventName: 'issue_comment' })
    expect((await of({ number: 5, pull_request: {} }))['issueNumber']).toBe(5)
    expect((await of({ number: 5 }))['issueNumber']).toBeUndefined()
  })

  it.each([
    [{ GITHUB_REPOSITORY: undefined }, 'GITHUB_REPOSITORY'],
    [{ GITHUB_EVENT_PATH: SCRIPT }, 'GITHUB_EVENT_PATH'],
  ])('says what is missing: %j', async (env, text) => {
    const result = await run('context', { env })
    expect(result.exitCode).toBe(1)
    expect(result.annotations[0]?.message).toContain(text)
  })
})
