import type { InputFault } from '../base/errors.ts'
import type { Source } from './settings.ts'

/** Who stands behind the code that this event would deploy; read from the event by `runner/`. */
export interface ForkFacts {
  readonly eventName: string
  /** The head of the pull request, or of the workflow run, is in another repository. */
  readonly headIsForeign: boolean
  /** `issue_comment` on a pull request: the event does not tell where its head is. */
  readonly commentOnPullRequest: boolean
}

/**
 * Refuses to deploy a stranger's code with the repository's secrets (design, section 4, "Forks"). On
 * `pull_request` a fork gets no secrets, so only the privileged events matter.
 */
export function forkFaults(
  facts: ForkFacts,
  choice: { source: Source; repoRefGiven: boolean; allowFork: boolean },
): InputFault[] {
  const privileged =
    ((facts.eventName === 'pull_request_target' || facts.eventName === 'workflow_run') &&
      facts.headIsForeign) ||
    (facts.eventName === 'issue_comment' && facts.commentOnPullRequest)
  if (!privileged || choice.allowFork) return []
  const why = `the event "${facts.eventName}" has this repository's secrets and ${
    facts.headIsForeign ? 'the code of a fork' : 'perhaps the code of a fork'
  }. Deploy after the merge, test pull requests against the emulator (\`emulator/\`, or \`npm run emulator\`), or set \`allow-fork: true\` when somebody trusted has read the code.`
  if (choice.source === 'internal_source')
    return [{ input: 'source', message: `internal_source is refused: ${why}` }]
  if (choice.source === 'github' && choice.repoRefGiven)
    return [{ input: 'repo-ref', message: `is refused: ${why}` }]
  return []
}
