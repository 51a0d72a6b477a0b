import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { AgentDeployError, InputError, messageOf } from '../base/errors.ts'
import { renderJunit } from '../runner/junit.ts'
import type { Story } from '../runner/run-action.ts'
import type { Runner } from '../runner/runner.ts'
import { renderVerifySummary } from '../runner/summary/verify.ts'
import type { CheckPlan } from '../verify/checks.ts'
import type { Report, VerifyTarget } from '../verify/types.ts'
import { reportJson, type VerifyOptions, verify } from '../verify/verify.ts'
import { readChecks } from './checks-input.ts'
import { logFindings } from './findings-log.ts'

/** Checks a live agent server and tells what came back: log, summary, JUnit, outputs. */
export function verifyStory(): Story {
  let told = false
  return {
    async main(runner) {
      const { target, plan, options, junitPath } = await readInputs(runner)
      const started = runner.clock.now()
      const report = await runner.log.group(`Verify ${target.url.origin}`, () =>
        verify(target, plan, options, {
          transport: runner.transport,
          clock: runner.clock,
          log: runner.log,
          signal: runner.signal,
          newId: () => crypto.randomUUID(),
          mask: (secret) => runner.secrets.mask(secret),
        }),
      )
      logFindings(runner.log, report)
      writeOutputs(runner, report)
      runner.summary.append(
        renderVerifySummary(
          {
            ...report,
            deploymentUrl: target.url.href,
            durationSeconds: (runner.clock.now() - started) / 1000,
          },
          (text) => runner.secrets.redact(text),
        ),
      )
      told = true
      if (junitPath !== undefined) await writeJunit(runner, junitPath, report)
      throwIfFailed(report)
    },

    async failed(runner, error) {
      if (told) return
      const reason = messageOf(error)
      const hint = error instanceof AgentDeployError ? error.hint : undefined
      runner.summary.append(
        renderVerifySummary({ passed: 0, failed: 0, checks: [], reason, hint }, (text) =>
          runner.secrets.redact(text),
        ),
      )
    },
  }
}

interface Inputs {
  readonly target: VerifyTarget
  readonly plan: CheckPlan
  readonly options: VerifyOptions
  /** As it was given. */
  readonly junitPath: string | undefined
}

/** Reads all inputs and masks what is secret. @throws InputError with every fault, before any request */
async function readInputs(runner: Runner): Promise<Inputs> {
  const { inputs, secrets } = runner
  const apiKey = inputs.text('api-key')
  if (apiKey !== undefined) secrets.mask(apiKey, 'api-key')
  const agentHeaders = inputs.headers('agent-headers')
  for (const value of Object.values(agentHeaders)) secrets.mask(value, 'agent-headers')
  const allowHttp = inputs.boolean('allow-http', false)
  inputs.required('deployment-url')
  const url = inputs.url('deployment-url', undefined, allowHttp)
  const sandboxUrl = inputs.url('sandbox-url', 'https://api.smith.langchain.com', allowHttp)
  const workspaceId = inputs.text('workspace-id')
  const timeoutMs = inputs.seconds('timeout-seconds', 60)
  const concurrency = inputs.number('concurrency', 4, { min: 1, max: 64 })
  if (!Number.isInteger(concurrency))
    inputs.fault('concurrency', `is ${concurrency}, expected a whole number`)
  const plan = await readPlan(runner)
  inputs.check()
  if (url === undefined || sandboxUrl === undefined) throw new InputError([])
  const keys = {
    ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
    ...(workspaceId === undefined ? {} : { 'x-tenant-id': workspaceId }),
  }
  return {
    target: {
      url,
      headers: { ...keys, ...agentHeaders },
      sandbox: { url: sandboxUrl, headers: keys },
      allowHttp,
    },
    plan,
    options: { timeoutMs, reachableMs: plan.timeoutMs ?? timeoutMs, concurrency },
    junitPath: inputs.text('junit-path'),
  }
}

/** `checks`; left out it is `ready`. */
async function readPlan(runner: Runner): Promise<CheckPlan> {
  if (runner.inputs.text('checks') === 'off') {
    runner.inputs.fault('checks', 'is "off", expected checks, a file, or nothing: leave the step out instead')
  }
  return (await readChecks(runner, 'checks')) ?? { checks: [], ready: true }
}

function writeOutputs(runner: Runner, report: Report): void {
  runner.outputs.set('passed', report.passed)
  runner.outputs.set('failed', report.failed)
  runner.outputs.set('report', reportJson(report))
}

/** @throws AgentDeployError when the file cannot be written */
async function writeJunit(runner: Runner, path: string, report: Report): Promise<void> {
  const file = resolve(runner.env['GITHUB_WORKSPACE'] ?? process.cwd(), path)
  const xml = renderJunit('agent-deploy verify', report.checks, (text) => runner.secrets.redact(text))
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, xml)
  } catch (error) {
    throw new AgentDeployError(`The JUnit file "${path}" cannot be written`, {
      cause: error,
      hint: 'Look at `junit-path`: it is relative to the workspace, and an earlier step may have made something else there.',
    })
  }
  runner.outputs.set('junit-path', path)
}

function throwIfFailed(report: Report): void {
  const failed = report.checks.filter(({ verdict }) => verdict === 'failed')
  const first = failed[0]
  if (first === undefined) return
  const total = report.passed + report.failed
  const what = total === 1 ? 'The check failed' : `${failed.length} of ${total} checks failed`
  const shown = failed.slice(0, 10).map(({ name, reason }) => `${name}: ${reason}`)
  const more = failed.length > shown.length ? [`… and ${failed.length - shown.length} more`] : []
  const hint = failed.length === 1 ? first.hint : 'The log and the summary say for each check what to do.'
  throw new AgentDeployError([what, ...shown, ...more].join('\n'), { hint })
}
