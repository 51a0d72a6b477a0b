import type { InputFault } from '../../base/errors.ts'
import type { Deployment } from '../../clients/control-plane/wire.ts'
import {
  codeOfEvent,
  type EventCode,
  type GitFacts,
  isCommit,
  isTag,
  plainRef,
  sameRepository,
} from '../git-event.ts'
import type { Settings } from '../settings.ts'

export interface GitRef {
  readonly ref: string | undefined
  readonly faults: readonly InputFault[]
}

/** The code of the event, where the deployment is built from the repository that the workflow runs in. */
export function ownCode(
  settings: Settings,
  git: GitFacts,
  deployment: Deployment | undefined,
): EventCode | undefined {
  const repo = settings.repoUrl ?? deployment?.source_config?.repo_url ?? git.repositoryUrl
  if (repo !== undefined && git.repositoryUrl !== undefined && !sameRepository(repo, git.repositoryUrl))
    return undefined
  return codeOfEvent(git)
}

/** `repo_ref` of a create: `repo-ref`, else the event's, else the default branch. */
export function refForCreate(settings: Settings, git: GitFacts): GitRef {
  if (settings.repoRef !== undefined) return { ref: plainRef(settings.repoRef), faults: [] }
  const code = ownCode(settings, git, undefined)
  if (code?.fromFork === true) return { ref: undefined, faults: [forkFault()] }
  const ref = code?.ref ?? git.defaultBranch
  if (ref !== undefined) return { ref, faults: [] }
  const message = `is needed, because the event "${git.eventName}" names no branch to build. Give a branch (main) or a tag (refs/tags/v1).`
  return { ref, faults: [{ input: 'repo-ref', message }] }
}

/**
 * `repo_ref` of an update: `repo-ref`, else what the deployment has. An event about another branch is refused,
 * so that a push to a side branch does not rebuild production; a tag after a tag goes on.
 */
export function refForUpdate(settings: Settings, git: GitFacts, deployment: Deployment): GitRef {
  if (settings.repoRef !== undefined) return { ref: plainRef(settings.repoRef), faults: [] }
  const code = ownCode(settings, git, deployment)
  if (code?.fromFork === true) return { ref: undefined, faults: [forkFault()] }
  const own = refOf(deployment)
  if (own === undefined) {
    const message =
      'is needed: the service does not tell which branch this deployment is built from. Give the branch, or a tag in full (refs/tags/v1).'
    return { ref: undefined, faults: [{ input: 'repo-ref', message }] }
  }
  if (code === undefined || code.ref === own) return { ref: own, faults: [] }
  if (isTag(code.ref) && isTag(own)) return { ref: code.ref, faults: [] }
  const message = `the deployment is built from "${own}", and this run is about "${code.ref}". Give \`repo-ref: ${own}\` to build that anyway, or \`repo-ref: ${code.ref}\` to move the deployment there.`
  return { ref: undefined, faults: [{ input: 'repo-ref', message }] }
}

/** The deployment's branch or tag: `repo_branch`, else `repo_ref` where that is not a resolved commit. */
export function refOf(deployment: Deployment): string | undefined {
  const branch = deployment.source_config?.repo_branch
  if (typeof branch === 'string' && branch !== '') return plainRef(branch)
  const ref = deployment.source_revision_config?.repo_ref
  return typeof ref === 'string' && ref !== '' && !isCommit(ref) ? plainRef(ref) : undefined
}

/** A tag cannot be built on push: the service refuses it, late and in its own words. */
export function tagFaults(ref: string | undefined, buildOnPush: boolean | null | undefined): InputFault[] {
  if (ref === undefined || !isTag(ref) || buildOnPush !== true) return []
  return [
    {
      input: 'build-on-push',
      message: `must be false, because "${ref}" is a tag, which no push ever moves.`,
    },
  ]
}

function forkFault(): InputFault {
  return {
    input: 'repo-ref',
    message:
      'is needed: the head of this pull request is in a fork, whose branches the service does not see. Give a branch of this repository, or try the change against the emulator (`emulator/`, or `npm run emulator`).',
  }
}
