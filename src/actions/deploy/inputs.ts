import { InputError, type InputFault } from '../../base/errors.ts'
import { controlPlaneBase } from '../../clients/control-plane/api.ts'
import { isCloud } from '../../clients/control-plane/hints.ts'
import { nameFault } from '../../deploy/name.ts'
import { type ProviderSettings, readProviders } from '../../deploy/oauth-settings.ts'
import { sourceFaults } from '../../deploy/plan/source.ts'
import { clashFaults, parseSecrets, reservedFaults } from '../../deploy/secrets/index.ts'
import {
  DEPLOYMENT_TYPES,
  type DeploymentType,
  type SecretEntry,
  type Settings,
  SOURCES,
} from '../../deploy/settings.ts'
import type { InputReader } from '../../runner/inputs.ts'
import type { Runner } from '../../runner/runner.ts'
import type { CheckPlan } from '../../verify/checks.ts'
import { readChecks } from '../checks-input.ts'

/** Everything that the root action was told, checked as far as that goes without a request. */
export interface DeployInputs {
  readonly apiKey: string
  readonly workspaceId: string | undefined
  readonly controlPlaneUrl: URL
  readonly allowHttp: boolean
  readonly settings: Settings
  readonly providers: readonly ProviderSettings[]
  readonly wait: boolean
  readonly timeoutMs: number
  readonly pollMinMs: number
  readonly pollMaxMs: number
  /** undefined: `verify: off`. */
  readonly verify: CheckPlan | undefined
  readonly agentHeaders: Readonly<Record<string, string>>
  readonly sandboxUrl: URL
  readonly rollback: boolean
  readonly interruptOnCancel: boolean
  readonly allowFork: boolean
  readonly environment: string | undefined
  readonly comment: boolean
  readonly githubToken: string
  readonly dryRun: boolean
}

/**
 * Reads all inputs, masks what is secret, and tells all faults in one error before the first request.
 * @param hint goes with the error when the key is missing because of the event (forks get no secrets)
 * @throws InputError
 */
export async function readDeployInputs(runner: Runner, hint: string | undefined): Promise<DeployInputs> {
  const { inputs, secrets: masks } = runner
  const apiKey = inputs.required('api-key')
  if (apiKey !== '') masks.mask(apiKey, 'api-key')
  for (const name of ['api-key', 'workspace-id']) checkHeader(inputs, name)
  const githubToken = inputs.text('github-token') ?? ''
  if (githubToken !== '') masks.mask(githubToken, 'github-token')
  const allowHttp = inputs.boolean('allow-http', false)
  const controlPlaneUrl = inputs.url('control-plane-url', 'https://api.host.langchain.com', allowHttp)
  const baseUrl = controlPlaneUrl === undefined ? undefined : controlPlaneBase(controlPlaneUrl)
  const settings = readSettings(runner, baseUrl !== undefined && isCloud(baseUrl))
  const providers = readProviderInput(runner)
  const agentHeaders = inputs.headers('agent-headers')
  for (const value of Object.values(agentHeaders)) masks.mask(value, 'agent-headers')
  const read = {
    wait: inputs.boolean('wait', true),
    timeoutMs: inputs.minutes('timeout-minutes', 30),
    pollMinMs: inputs.seconds('poll-interval-seconds', 2, 0.1),
    pollMaxMs: inputs.seconds('poll-max-interval-seconds', 15, 0.1),
    verify: await readChecks(runner, 'verify'),
    sandboxUrl: inputs.url('sandbox-url', 'https://api.smith.langchain.com', allowHttp),
    rollback: (inputs.oneOf('on-failure', ['fail', 'rollback']) ?? 'fail') === 'rollback',
    interruptOnCancel: inputs.boolean('interrupt-on-cancel', false),
    allowFork: inputs.boolean('allow-fork', false),
    environment: inputs.text('environment'),
    comment: inputs.boolean('comment', false),
    dryRun: inputs.boolean('dry-run', false),
  }
  checkIntervals(inputs, read.pollMinMs, read.pollMaxMs)
  if (!read.wait)
    checkNotWaiting(inputs, {
      providers: providers.length > 0,
      verify: read.verify !== undefined,
      rollback: read.rollback,
    })
  inputs.check(hint)
  if (baseUrl === undefined || read.sandboxUrl === undefined) throw new InputError([])
  return {
    ...read,
    apiKey,
    workspaceId: inputs.text('workspace-id'),
    controlPlaneUrl: baseUrl,
    sandboxUrl: read.sandboxUrl,
    allowHttp,
    settings,
    providers,
    agentHeaders,
    githubToken,
  }
}

/** Both go into headers. The value is not shown: a key with a line break in it is still a key. */
function checkHeader(inputs: InputReader, name: string): void {
  if (/[^\x21-\x7e]/.test(inputs.text(name) ?? ''))
    inputs.fault(
      name,
      'has a space, a line break or another character that no key has; expected it alone on one line',
    )
}

/** The upper bound follows a raised lower one; only a given pair can contradict itself. */
function checkIntervals(inputs: InputReader, minMs: number, maxMs: number): void {
  if (inputs.text('poll-max-interval-seconds') === undefined || maxMs >= minMs) return
  inputs.fault(
    'poll-max-interval-seconds',
    `is ${maxMs / 1000}, expected at least poll-interval-seconds (${minMs / 1000})`,
  )
}

function checkNotWaiting(
  inputs: InputReader,
  asked: { providers: boolean; verify: boolean; rollback: boolean },
): void {
  const clashes = [
    asked.providers ? 'oauth-providers' : '',
    asked.verify ? 'verify' : '',
    asked.rollback ? 'on-failure: rollback' : '',
  ].filter((name) => name !== '')
  if (clashes.length === 0) return
  inputs.fault(
    'wait',
    `is false, so nothing is sent after the request, and ${clashes.join(', ')} cannot be done. Set wait to true, or leave ${clashes.length === 1 ? 'it' : 'them'} out`,
  )
}

function readSettings(runner: Runner, cloud: boolean): Settings {
  const { inputs } = runner
  const secretsMode = inputs.oneOf('secrets-mode', ['merge', 'replace']) ?? 'merge'
  const secrets = readEntries(runner, 'secrets', cloud)
  const envVars = readEntries(runner, 'env-vars', cloud)
  addAll(inputs, clashFaults(secrets ?? [], envVars ?? []))
  if (secretsMode === 'replace' && secrets === undefined) {
    inputs.fault(
      'secrets-mode',
      'is replace, which needs `secrets`: without them there is nothing to put in place of what the deployment has',
    )
  }
  const request = inputs.mapping('request')
  for (const field of ['name', 'secrets'] as const) {
    if (request !== undefined && Object.hasOwn(request, field)) {
      inputs.fault('request', `sets "${field}", expected the input \`${field}\` for that`)
    }
  }
  const settings: Settings = {
    target: readTarget(inputs),
    source: inputs.oneOf('source', ['auto', ...SOURCES]) ?? 'auto',
    integrationId: inputs.text('integration-id'),
    repoUrl: inputs.text('repo-url'),
    repoRef: inputs.text('repo-ref'),
    configPath: inputs.text('config-path'),
    buildOnPush: inputs.optionalBoolean('build-on-push'),
    imageUri: inputs.text('image-uri'),
    pushImage: inputs.text('push-image'),
    listenerId: inputs.text('listener-id'),
    listenerNamespace: inputs.text('listener-namespace'),
    sourcePath: readSourcePath(inputs),
    installCommand: inputs.text('install-command'),
    buildCommand: inputs.text('build-command'),
    deploymentType: inputs.oneOf('deployment-type', Object.keys(DEPLOYMENT_TYPES) as DeploymentType[]),
    resourceSpec: inputs.mapping('resource-spec'),
    secrets,
    envVars,
    secretsMode,
    request,
    revisionId: inputs.text('revision-id'),
  }
  checkRevisionId(inputs, settings)
  // A redeploy has the source that it has.
  if (settings.revisionId === undefined) addAll(inputs, sourceFaults(settings))
  return settings
}

/** The default of action.yml counts as not given: other sources have no folder to upload. */
function readSourcePath(inputs: InputReader): string | undefined {
  const path = inputs.text('source-path')
  return path === '.' ? undefined : path
}

/** What an id can look like; it becomes a part of paths. */
const ID = /^[A-Za-z0-9][\w.:~-]*$/

function idFault(value: string): string {
  return `is ${JSON.stringify(value)}, expected an id such as 3f2b8c1e-6d1f-4a53-9c0e-0f5f1c3f8a11`
}

function readTarget(inputs: InputReader): Settings['target'] {
  const name = inputs.text('name')
  const deploymentId = inputs.text('deployment-id')
  const agentId = inputs.text('agent-id')
  const environment = inputs.oneOf('agent-environment', ['development', 'staging', 'production'])
  if (name !== undefined) {
    const fault = nameFault(name)
    if (fault !== undefined) inputs.fault('name', fault)
  }
  if (deploymentId !== undefined && !ID.test(deploymentId))
    inputs.fault('deployment-id', idFault(deploymentId))
  if (agentId !== undefined && environment === undefined && inputs.text('agent-environment') === undefined) {
    inputs.fault('agent-environment', 'is required with agent-id: development, staging or production')
  }
  if (agentId === undefined && environment !== undefined)
    inputs.fault('agent-id', 'is required with agent-environment')
  if (agentId !== undefined && name !== undefined) {
    inputs.fault('name', 'cannot stand beside agent-id: in agent mode the service gives the name')
  }
  if (
    name === undefined &&
    deploymentId === undefined &&
    agentId === undefined &&
    environment === undefined
  ) {
    inputs.fault('name', 'is required: it says which deployment to create or update (or give deployment-id)')
  }
  return {
    name,
    deploymentId,
    agent: agentId === undefined || environment === undefined ? undefined : { agentId, environment },
  }
}

/** A redeploy takes the revision as it is; what would change it contradicts that. */
function checkRevisionId(inputs: InputReader, settings: Settings): void {
  if (settings.revisionId === undefined) return
  if (!ID.test(settings.revisionId)) inputs.fault('revision-id', idFault(settings.revisionId))
  const changing = [
    'repo-ref',
    'image-uri',
    'push-image',
    'resource-spec',
    'secrets',
    'env-vars',
    'request',
  ].filter((name) => inputs.text(name) !== undefined)
  if (changing.length > 0) {
    inputs.fault(
      'revision-id',
      `redeploys that revision as it is, and cannot stand beside ${changing.join(', ')}`,
    )
  }
}

/** Masks each value before anything else is done with it; values of `env-vars` never. */
function readEntries(
  runner: Runner,
  input: 'secrets' | 'env-vars',
  cloud: boolean,
): readonly SecretEntry[] | undefined {
  const text = runner.inputs.text(input)
  if (text === undefined) return undefined
  const { entries, faults } = parseSecrets(text, { input, env: runner.env })
  if (input === 'secrets')
    for (const { name, value } of entries) runner.secrets.mask(value, `secrets (${name})`)
  addAll(runner.inputs, [...faults, ...reservedFaults(entries, input, cloud)])
  return entries
}

function readProviderInput(runner: Runner): readonly ProviderSettings[] {
  const list = runner.inputs.list('oauth-providers')
  if (list === undefined) return []
  // Masked before they are read, so that also a fault cannot show one.
  for (const item of list) {
    const secret =
      typeof item === 'object' && item !== null
        ? (item as { client_secret?: unknown }).client_secret
        : undefined
    if (typeof secret === 'string' && secret !== '')
      runner.secrets.mask(secret, 'oauth-providers (client_secret)')
  }
  const { providers, faults } = readProviders(list, runner.env)
  for (const provider of providers) {
    if (provider.client_secret != null)
      runner.secrets.mask(provider.client_secret, 'oauth-providers (client_secret)')
  }
  addAll(runner.inputs, faults)
  return providers
}

function addAll(inputs: InputReader, faults: readonly InputFault[]): void {
  for (const fault of faults) inputs.fault(fault.input, fault.message)
}
