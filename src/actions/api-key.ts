import type { Runner } from '../runner/runner.ts'
import { missingKeyHint } from './deploy/git-facts.ts'

/** Key and workspace of an action that cannot work without a key; the key is masked at once. */
export interface Credentials {
  readonly apiKey: string
  readonly workspaceId: string | undefined
}

export function readCredentials(runner: Runner): Credentials {
  const apiKey = runner.inputs.required('api-key')
  if (apiKey !== '') runner.secrets.mask(apiKey, 'api-key')
  return { apiKey, workspaceId: runner.inputs.text('workspace-id') }
}

/**
 * Tells all wrong inputs; where the key is missing because of the event (forks get no secrets), says so.
 * @throws InputError
 */
export async function checkInputs(runner: Runner): Promise<void> {
  if (runner.inputs.faults.length === 0) return
  const keyless = runner.inputs.text('api-key') === undefined
  runner.inputs.check(keyless ? missingKeyHint(await runner.context()) : undefined)
}
