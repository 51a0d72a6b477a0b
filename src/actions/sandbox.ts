import { getSandbox, type Sandbox, type SandboxService } from '../clients/sandboxes/sandboxes.ts'
import { refuseDeadEnd, SandboxError, statusWord, waitForSandbox } from '../clients/sandboxes/wait.ts'
import { cell, code, table } from '../runner/markdown.ts'
import type { Story } from '../runner/run-action.ts'
import type { Runner } from '../runner/runner.ts'
import { checkInputs, readCredentials } from './api-key.ts'

interface SandboxInputs {
  readonly service: SandboxService
  readonly name: string
  readonly wait: boolean
  readonly timeoutMs: number
}

/** `sandbox/`: reads a sandbox by its name and waits until it is `ready`. */
export function sandboxStory(): Story {
  let last: Sandbox | undefined

  async function main(runner: Runner): Promise<void> {
    const { service, name, wait, timeoutMs } = await readInputs(runner)
    const { clock, signal } = runner
    const deadline = clock.now() + timeoutMs
    const tell = (sandbox: Sandbox): void => {
      last = sandbox
      writeOutputs(runner, sandbox)
      runner.log.info(`Sandbox "${name}" is ${statusWord(sandbox.status)}`)
    }
    if (wait) {
      const options = { wanted: 'ready', deadline, timeoutMs, clock, signal, onStatus: tell }
      last = await waitForSandbox(service, name, options)
      writeOutputs(runner, last)
    } else {
      tell(await getSandbox(service, name, { deadline, signal }))
      if (last !== undefined) refuseDeadEnd(name, last)
    }
    if (last !== undefined) runner.summary.append(render(last, last.status === 'ready' ? '✅' : '⏳'))
  }

  async function failed(runner: Runner, error: unknown): Promise<void> {
    if (error instanceof SandboxError && error.sandbox !== undefined) last = error.sandbox
    if (last === undefined) return
    writeOutputs(runner, last)
    runner.summary.append(render(last, '❌'))
  }

  return { main, failed }
}

async function readInputs(runner: Runner): Promise<SandboxInputs> {
  const { inputs } = runner
  const { apiKey, workspaceId } = readCredentials(runner)
  const allowHttp = inputs.boolean('allow-http', false)
  const url = inputs.url('base-url', 'https://api.smith.langchain.com', allowHttp)
  const name = inputs.required('name')
  if (name === '.' || name === '..') inputs.fault('name', `is "${name}", expected the name of a sandbox`)
  const wait = inputs.boolean('wait', true)
  const timeoutMs = inputs.minutes('timeout-minutes', 10)
  await checkInputs(runner)
  const headers = {
    'x-api-key': apiKey,
    ...(workspaceId === undefined ? {} : { 'x-tenant-id': workspaceId }),
  }
  return { service: { transport: runner.transport, url: url as URL, headers }, name, wait, timeoutMs }
}

function writeOutputs({ outputs }: Runner, sandbox: Sandbox): void {
  outputs.set('id', sandbox.id)
  outputs.set('name', sandbox.name)
  outputs.set('template-name', sandbox.templateName)
  outputs.set('status', sandbox.status)
  outputs.set('status-message', sandbox.statusMessage)
  // The service tells it from the start, but it answers only when the sandbox is ready.
  outputs.set('dataplane-url', sandbox.status === 'ready' ? sandbox.dataplaneUrl : '')
  outputs.set('created-at', sandbox.createdAt)
  outputs.set('updated-at', sandbox.updatedAt)
}

function render(sandbox: Sandbox, sign: string): string {
  const rows = [
    ['Status', code(sandbox.status)],
    ['Message', cell(sandbox.statusMessage)],
    ['Id', code(sandbox.id)],
    ['Template', code(sandbox.templateName)],
  ]
  return `### ${sign} Sandbox ${code(sandbox.name)}\n\n${table(['', ''], rows)}\n`
}
