import type { InputFault } from '../../base/errors.ts'
import type { Deployment } from '../../clients/control-plane/wire.ts'
import { checkImageUri } from '../docker/image-uri.ts'
import { mergeMappings } from '../merge-patch.ts'
import { isMapping, type Mapping, type Settings, type Source } from '../settings.ts'
import { commands, nameWarnings } from './create.ts'
import { fixedFieldFaults, withoutFixedFields } from './fixed-fields.ts'
import { ownCode, refForUpdate, tagFaults } from './git-ref.ts'
import { misplacedInputs, refuse, resolveSource, twoImages } from './source.ts'
import type { Artifact, PlanFacts, UpdatePlan } from './types.ts'

/**
 * The body of `PATCH /v2/deployments/{id}`. Nothing that was not given is compared or sent, but for
 * `source_revision_config`, which makes the service cut a revision.
 * @throws InputError for fixed fields that differ, and for whatever is missing, in one
 */
export function planUpdate(facts: PlanFacts, deployment: Deployment): UpdatePlan {
  const { settings, git } = facts
  const source = resolveSource(settings, deployment)
  const fixed = fixedFieldFaults(settings, source, deployment, settings.request)
  // Of a wrong source everything else would be wrong too: that one fault, which comes first, is enough.
  refuse(source === (deployment.source ?? source) ? fixed : fixed.slice(0, 1))
  const revision = revisionConfigOf(source, facts, deployment)
  refuse([...misplacedInputs(settings, source), ...revision.faults])

  const sourceConfig = {
    ...(settings.buildOnPush === undefined ? {} : { build_on_push: settings.buildOnPush }),
    ...commands(settings),
    ...resourceSpecOf(settings, deployment),
  }
  const body = mergeMappings(
    {
      ...(source === 'internal_source' || source === 'internal_docker' ? { revision_source: source } : {}),
      ...(Object.keys(sourceConfig).length === 0 ? {} : { source_config: sourceConfig }),
      source_revision_config: revision.config,
    },
    withoutFixedFields(settings.request ?? {}),
  )
  const code = source === 'github' ? ownCode(settings, git, deployment) : undefined
  return {
    action: 'update',
    source,
    artifact: revision.artifact,
    deployment,
    body,
    warnings: warningsOf(settings, source, git.eventName, deployment),
    expectedCommit:
      code === undefined ? undefined : { sha: code.sha, strict: settings.repoRef === undefined },
  }
}

/**
 * `resource_spec` is replaced whole by the service: what the deployment has, with what was given merged over it.
 * Read also when only `request` touches it, or its other fields would be lost.
 */
function resourceSpecOf(settings: Settings, deployment: Deployment): Mapping {
  const requested = settings.request?.['source_config']
  const touched = isMapping(requested) && isMapping(requested['resource_spec'])
  if (settings.resourceSpec === undefined && !touched) return {}
  const present = deployment.source_config?.resource_spec ?? {}
  return { resource_spec: mergeMappings(present, settings.resourceSpec ?? {}) }
}

interface RevisionConfig {
  readonly config: Mapping
  readonly artifact: Artifact
  readonly faults: readonly InputFault[]
}

function revisionConfigOf(
  source: Source,
  { settings, git }: PlanFacts,
  deployment: Deployment,
): RevisionConfig {
  const present = deployment.source_revision_config ?? {}
  switch (source) {
    case 'github': {
      const { ref, faults } = refForUpdate(settings, git, deployment)
      const path = settings.configPath ?? present.langgraph_config_path ?? undefined
      const buildOnPush = settings.buildOnPush ?? deployment.source_config?.build_on_push
      return {
        config: { repo_ref: ref, ...(path === undefined ? {} : { langgraph_config_path: path }) },
        artifact: 'none',
        faults: [...faults, ...tagFaults(ref, buildOnPush)],
      }
    }
    case 'internal_source':
      return {
        config: { langgraph_config_path: settings.configPath ?? 'langgraph.json' },
        artifact: 'archive',
        faults: [],
      }
    case 'internal_docker':
      if (settings.pushImage !== undefined && settings.imageUri === undefined) {
        return { config: {}, artifact: 'image', faults: [] }
      }
      return imageConfig(settings, present.image_uri ?? undefined)
    case 'external_docker':
      return imageConfig(settings, present.image_uri ?? undefined)
  }
}

function imageConfig(settings: Settings, present: string | undefined): RevisionConfig {
  const { imageUri } = settings
  const fault =
    imageUri !== undefined
      ? checkImageUri(imageUri)
      : present === undefined
        ? 'is needed: the service does not tell which image this deployment has.'
        : undefined
  return {
    config: { image_uri: imageUri ?? present },
    artifact: 'none',
    faults: [
      ...twoImages(settings),
      ...(fault === undefined ? [] : [{ input: 'image-uri', message: fault }]),
    ],
  }
}

function warningsOf(settings: Settings, source: Source, eventName: string, deployment: Deployment): string[] {
  const warnings = nameWarnings(deployment.name, source)
  const buildsOnPush = settings.buildOnPush ?? deployment.source_config?.build_on_push
  if (source === 'github' && eventName === 'push' && buildsOnPush === true) {
    warnings.push(
      'This deployment has build_on_push on, so every push makes two revisions: the service’s own and the one of this run. Set `build-on-push: false`.',
    )
  }
  return warnings
}
