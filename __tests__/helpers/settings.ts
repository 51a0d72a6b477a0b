/** Settings and git facts of a run that was told nothing but a name. */
import { InputError } from '../../src/base/errors.ts'
import type { Deployment } from '../../src/clients/control-plane/wire.ts'
import type { GitFacts } from '../../src/deploy/git-event.ts'
import type { Settings } from '../../src/deploy/settings.ts'

export function settings(part: Partial<Settings> = {}): Settings {
  return {
    target: { name: 'bot', deploymentId: undefined, agent: undefined },
    source: 'auto',
    integrationId: undefined,
    repoUrl: undefined,
    repoRef: undefined,
    configPath: undefined,
    buildOnPush: undefined,
    imageUri: undefined,
    pushImage: undefined,
    listenerId: undefined,
    listenerNamespace: undefined,
    sourcePath: undefined,
    installCommand: undefined,
    buildCommand: undefined,
    deploymentType: undefined,
    resourceSpec: undefined,
    secrets: undefined,
    envVars: undefined,
    secretsMode: 'merge',
    request: undefined,
    revisionId: undefined,
    ...part,
  }
}

export const SHA = 'b'.repeat(40)
export const HEAD = 'a'.repeat(40)

/** A push to main of octo/agent, unless told otherwise. */
export function git(part: Partial<GitFacts> = {}): GitFacts {
  return {
    eventName: 'push',
    repositoryUrl: 'https://github.com/octo/agent',
    ref: 'refs/heads/main',
    sha: SHA,
    defaultBranch: 'trunk',
    pullRequest: undefined,
    ...part,
  }
}

/** A deployment as the service answers it; `config` is merged into `source_config`. */
export function deployment(
  source: string,
  part: Partial<Deployment> = {},
  config: Record<string, unknown> = {},
): Deployment {
  return {
    id: 'd1',
    name: 'bot',
    source,
    latest_revision_id: 'r1',
    ...part,
    source_config: config,
  } as Deployment
}

/** The faults that `work` throws, as `input: message`. */
export function faultsOf(work: () => unknown): string[] {
  try {
    work()
  } catch (error) {
    if (error instanceof InputError) return error.faults.map(({ input, message }) => `${input}: ${message}`)
    throw error
  }
  return []
}
