import type { Runner } from '../runner.ts'
import { bestEffort } from './best-effort.ts'
import { connect, type GithubClient } from './client.ts'
import { type DeploymentOptions, sendStatus, taskOf } from './deployments.ts'

interface Target {
  readonly environment: string
  readonly task: string
}

/** The part of a deployment in GitHub's list that is looked at. */
interface Listed {
  readonly id: number
  readonly task?: string
  readonly environment?: string
}

/** What our own retiring writes; read back to know that everything older was retired then, too. */
const REPLACED = 'Replaced by a newer deployment'
/**
 * The list has no states, so each deployment costs a request of a budget of 1 000 an hour. After this many
 * in a row that were replaced by an earlier run, the ones before them were, too.
 */
const ENOUGH_REPLACED = 5
/** Requests at a time. */
const SIDE_BY_SIDE = 5
/** No more deployments than this are looked at in one run. */
const MOST = 1_000

/**
 * Makes older deployments with the same task and environment `inactive`: what served until now. Those that
 * ended as `failure` or `error` stay as they are; they serve nothing, and tell what happened.
 * @returns how many were changed
 */
export async function retireOlder(
  runner: Runner,
  github: GithubClient,
  own: Target & { readonly id: number },
): Promise<number> {
  let retired = 0
  let replacedInARow = 0
  for await (const batch of batches(runner, github, own)) {
    // Ids grow with time: a run that began after ours must not be retired by us.
    const older = batch.filter((one) => one.id < own.id)
    const latest = await Promise.all(older.map((one) => latestStatus(github, one.id)))
    for (const [index, one] of older.entries()) {
      const status = latest[index]
      replacedInARow =
        status?.state === 'inactive' && status.description === REPLACED ? replacedInARow + 1 : 0
      if (['inactive', 'failure', 'error'].includes(status?.state ?? '')) continue
      await sendStatus(runner, github, one.id, 'inactive', { description: REPLACED })
      retired += 1
    }
    if (replacedInARow >= ENOUGH_REPLACED) break
  }
  return retired
}

/**
 * For `delete/`: all deployments of this name in this environment become `inactive`, also those that failed,
 * so that nothing of the environment looks alive. Best effort: never throws.
 * @returns how many were changed; 0 after a failure
 */
export async function deactivateDeployments(runner: Runner, options: DeploymentOptions): Promise<number> {
  const { environment, name } = options
  const what = `GitHub Deployments of "${name}" in environment "${environment}": they could not be made inactive`
  const changed = await bestEffort(runner, what, 'deployments', async () => {
    const github = await connect(runner, options.token)
    let count = 0
    for await (const batch of batches(runner, github, { environment, task: taskOf(name) })) {
      const latest = await Promise.all(batch.map((one) => latestStatus(github, one.id)))
      for (const [index, one] of batch.entries()) {
        if (latest[index]?.state === 'inactive') continue
        await sendStatus(runner, github, one.id, 'inactive', { description: `${name} was deleted` })
        count += 1
      }
    }
    return count
  })
  return changed ?? 0
}

/** Deployments with this task and environment, newest first, over all pages, a few at a time. */
async function* batches(runner: Runner, github: GithubClient, target: Target): AsyncGenerator<Listed[]> {
  let seen = 0
  const pages = github.paginate.iterator(github.rest.repos.listDeployments, {
    ...github.repository,
    environment: target.environment,
    task: target.task,
    per_page: 100,
  })
  for await (const { data } of pages) {
    const matching: Listed[] = data.filter(
      (one) => one.task === target.task && one.environment === target.environment,
    )
    for (let at = 0; at < matching.length; at += SIDE_BY_SIDE) {
      if (runner.signal.aborted || seen >= MOST) return
      const batch = matching.slice(at, at + SIDE_BY_SIDE)
      seen += batch.length
      yield batch
    }
  }
}

/** Statuses come newest first; the largest id says so, too. */
async function latestStatus(
  github: GithubClient,
  id: number,
): Promise<{ state: string; description: string | null } | undefined> {
  const { data } = await github.rest.repos.listDeploymentStatuses({
    ...github.repository,
    deployment_id: id,
    per_page: 10,
  })
  return data.reduce<(typeof data)[number] | undefined>(
    (last, one) => (last === undefined || one.id > last.id ? one : last),
    undefined,
  )
}
