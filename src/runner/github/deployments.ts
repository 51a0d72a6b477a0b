import type { Runner } from '../runner.ts'
import { bestEffort } from './best-effort.ts'
import { connect, type GithubClient } from './client.ts'
import { retireOlder } from './retire.ts'

/** States of a GitHub Deployment that this project sets. */
export type DeploymentState = 'in_progress' | 'success' | 'failure' | 'error' | 'inactive'

export interface StatusOptions {
  /** Where the environment can be seen; GitHub shows it as a link. */
  readonly environmentUrl?: string | undefined
  /** One line of ours; redacted, and cut at GitHub's 140 characters. */
  readonly description?: string | undefined
}

export interface DeploymentOptions {
  /** The input `github-token`. */
  readonly token: string
  /** The input `environment`. */
  readonly environment: string
  /** The deployment's name (or the agent's id): several of them can share an environment. */
  readonly name: string
}

/** What `main` leaves for `post`: which deployment is open, and the last status it wanted. Not secret. */
interface OpenState {
  readonly id: number
  readonly environment: string
  readonly wanted?: {
    readonly state: DeploymentState
    readonly environmentUrl?: string
    readonly description?: string
  }
}

const STATE = 'github-deployment'
const MAX_DESCRIPTION = 140
const PERMISSION = 'deployments'

/** GitHub's `task`: deployments of one environment are kept apart by it. */
export function taskOf(name: string): string {
  return `deploy:${name}`
}

/**
 * The state that a GitHub Deployment ends in, for an `outcome` of the design's section 2.2: `failure` where
 * the service or the agent failed, `error` where we could not tell, `inactive` where nothing of this run
 * serves or is going to, `in_progress` where the run did not wait.
 */
export function stateOf(outcome: string): DeploymentState {
  if (outcome === 'deployed') return 'success'
  if (outcome === 'triggered') return 'in_progress'
  if (['superseded', 'interrupted', 'cancelled'].includes(outcome)) return 'inactive'
  return outcome === 'error' ? 'error' : 'failure'
}

/** A GitHub Deployment that this run made. */
export class GithubDeployment {
  readonly id: number
  readonly #runner: Runner
  readonly #github: GithubClient
  readonly #environment: string
  readonly #name: string

  constructor(runner: Runner, github: GithubClient, id: number, options: DeploymentOptions) {
    this.id = id
    this.#runner = runner
    this.#github = github
    this.#environment = options.environment
    this.#name = options.name
  }

  /**
   * Sets the status. Just before `success`, older deployments of this name in this environment become
   * `inactive`. Best effort: never throws; a final state that did not get through is sent again by `post`.
   */
  async setStatus(state: DeploymentState, options: StatusOptions = {}): Promise<void> {
    const final = state !== 'in_progress'
    const wanted = { state, ...kept(options) }
    if (final) this.#save({ id: this.id, environment: this.#environment, wanted })
    const own = { id: this.id, environment: this.#environment, task: taskOf(this.#name) }
    if (state === 'success') {
      await bestEffort(this.#runner, this.#what('older ones could not be made inactive'), PERMISSION, () =>
        retireOlder(this.#runner, this.#github, own),
      )
    }
    const done = await bestEffort(
      this.#runner,
      this.#what(`state "${state}" could not be set`),
      PERMISSION,
      () => sendStatus(this.#runner, this.#github, this.id, state, options),
    )
    if (final && done !== undefined) this.#save(undefined)
  }

  /** Keeps `post` from closing it: the run ends on purpose while the revision is still on its way. */
  leaveOpen(): void {
    this.#save(undefined)
  }

  #what(failure: string): string {
    return `GitHub Deployment ${this.id} (environment "${this.#environment}"): ${failure}`
  }

  #save(open: OpenState | undefined): void {
    save(this.#runner, open)
  }
}

/**
 * Makes a GitHub Deployment of the commit that triggered the run (a pull request's head, not the merge that
 * nobody pushed) and sets it `in_progress`. From here on `post` closes it when nobody else did.
 * Parameters after `POST /repos/{owner}/{repo}/deployments`: no automatic merge, and no required contexts,
 * since this very run is a pending one.
 * @returns undefined after a failure, which was warned of
 */
export async function openDeployment(
  runner: Runner,
  options: DeploymentOptions,
): Promise<GithubDeployment | undefined> {
  const { environment, name } = options
  const what = `GitHub Deployment for environment "${environment}": it could not be created`
  const deployment = await bestEffort(runner, what, PERMISSION, async () => {
    const github = await connect(runner, options.token)
    const { pullRequest, sha } = github.context
    const { data } = await github.rest.repos.createDeployment({
      ...github.repository,
      ref: pullRequest?.headSha ?? sha,
      task: taskOf(name),
      environment,
      description: description(runner, `Agent Deploy of ${name}`),
      auto_merge: false,
      required_contexts: [],
      transient_environment: pullRequest !== undefined,
    })
    // 202 (an automatic merge) has a message and no id; it is asked for by nobody here.
    if (!('id' in data) || typeof data.id !== 'number') throw new Error('the answer has no id')
    save(runner, { id: data.id, environment })
    return new GithubDeployment(runner, github, data.id, options)
  })
  if (deployment !== undefined && !runner.signal.aborted) {
    await deployment.setStatus('in_progress', { description: 'The revision is on its way' })
  }
  return deployment
}

/**
 * For the `post` step: closes the deployment that `main` left open, with the state that it wanted, or as
 * `error` when it was killed before it could say. Loads nothing and asks nobody when none is open.
 */
export async function closeOpenDeployment(runner: Runner, token: string): Promise<void> {
  const open = readState(runner.state.get(STATE))
  if (open === undefined) return
  const { state, ...options } = open.wanted ?? {
    state: 'error' as const,
    description: 'The step ended before it could tell how the deployment went',
  }
  const what = `GitHub Deployment ${open.id} (environment "${open.environment}"): it could not be closed`
  await bestEffort(runner, what, PERMISSION, async () =>
    sendStatus(runner, await connect(runner, token), open.id, state, options),
  )
}

/** Sends one status. `auto_inactive` is off: GitHub's own rule knows no task and would retire other agents. */
export async function sendStatus(
  runner: Runner,
  github: GithubClient,
  id: number,
  state: DeploymentState,
  options: StatusOptions,
): Promise<true> {
  await github.rest.repos.createDeploymentStatus({
    ...github.repository,
    deployment_id: id,
    state,
    log_url: github.context.runUrl,
    auto_inactive: false,
    ...(options.environmentUrl === undefined ? {} : { environment_url: options.environmentUrl }),
    ...(options.description === undefined ? {} : { description: description(runner, options.description) }),
  })
  return true
}

function description(runner: Runner, text: string): string {
  const line = runner.secrets.redact(text).replace(/\s+/g, ' ').trim()
  return line.length <= MAX_DESCRIPTION ? line : `${line.slice(0, MAX_DESCRIPTION - 1)}…`
}

function kept(options: StatusOptions): { environmentUrl?: string; description?: string } {
  return {
    ...(options.environmentUrl === undefined ? {} : { environmentUrl: options.environmentUrl }),
    ...(options.description === undefined ? {} : { description: options.description }),
  }
}

function save(runner: Runner, open: OpenState | undefined): void {
  const redacted = open === undefined ? '' : runner.secrets.redact(JSON.stringify(open))
  runner.state.save(STATE, redacted)
}

/** State is ours, but a step before could have written any `STATE_` variable: only the right shape counts. */
function readState(text: string): OpenState | undefined {
  if (text === '') return undefined
  try {
    const value = JSON.parse(text) as OpenState
    return Number.isSafeInteger(value.id) && typeof value.environment === 'string' ? value : undefined
  } catch {
    return undefined
  }
}
