import { AgentDeployError } from '../../base/errors.ts'
import type { Entry } from './entry.ts'

export type SecretsMode = 'merge' | 'replace'

/** An entry as the service answers it: some roles are shown no value. */
export interface PresentEntry {
  readonly name: string
  readonly value?: string | null | undefined
}

/** The list to send, and what becomes of each name (for the plan; names only). */
export interface MergedSecrets {
  /** The whole set: the service replaces what it has by this. */
  readonly entries: readonly Entry[]
  readonly added: readonly string[]
  /** Given, and there before; whether the value differs is not told. */
  readonly updated: readonly string[]
  readonly kept: readonly string[]
  readonly removed: readonly string[]
}

/** A merge cannot keep values that the service does not show; sending the list would wipe them. */
export class RedactedSecretsError extends AgentDeployError {
  /** The names whose values would be lost. */
  readonly names: readonly string[]

  constructor(names: readonly string[]) {
    super(
      `The deployment has secrets that are not given here, and the service does not show their values, so they cannot be kept: ${names.join(', ')}`,
      {
        hint: 'Give these names in `secrets` too, or give the whole set with `secrets-mode: replace`, or use an API key that may read the deployment’s secrets.',
      },
    )
    this.names = names
  }
}

/**
 * The complete set to send, because the service replaces the whole set by what it gets.
 * @param present what the deployment has, as the service answered
 * @param given `secrets` and `env-vars` together, each name once
 * @param mode `merge` keeps what is present besides, `replace` does not
 * @returns present names in their order, then the new ones in the order given
 * @throws RedactedSecretsError when a value that a merge would keep came back redacted: missing, null, only
 *   `*` or `•`; or when all present values are empty
 */
export function mergeSecrets(
  present: readonly PresentEntry[],
  given: readonly Entry[],
  mode: SecretsMode,
): MergedSecrets {
  const givenNames = new Set(given.map((entry) => entry.name))
  const presentNames = new Set(present.map((entry) => entry.name))
  const others = present.filter((entry) => !givenNames.has(entry.name))
  const kept = mode === 'merge' ? others : []
  const allEmpty = present.every((entry) => (entry.value ?? '') === '')
  const lost = kept.filter((entry) => allEmpty || isRedacted(entry.value))
  if (lost.length > 0) throw new RedactedSecretsError(lost.map((entry) => entry.name))
  const byName = new Map<string, string>()
  for (const entry of present) {
    if (mode === 'merge' || givenNames.has(entry.name)) byName.set(entry.name, entry.value ?? '')
  }
  for (const entry of given) byName.set(entry.name, entry.value)
  return {
    entries: [...byName].map(([name, value]) => ({ name, value })),
    added: given.map((entry) => entry.name).filter((name) => !presentNames.has(name)),
    updated: given.map((entry) => entry.name).filter((name) => presentNames.has(name)),
    kept: kept.map((entry) => entry.name),
    removed: mode === 'replace' ? others.map((entry) => entry.name) : [],
  }
}

function isRedacted(value: string | null | undefined): boolean {
  return value === undefined || value === null || /^[*•]+$/.test(value)
}
