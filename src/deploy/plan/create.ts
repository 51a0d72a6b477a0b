import type { InputFault } from '../../base/errors.ts'
import { checkImageUri } from '../docker/image-uri.ts'
import { mergeMappings } from '../merge-patch.ts'
import { SELF_HOSTED_NAME_LIMIT } from '../name.ts'
import { DEPLOYMENT_TYPES, isMapping, type Mapping, type Settings, type Source } from '../settings.ts'
import { ownCode, refForCreate, tagFaults } from './git-ref.ts'
import { misplacedInputs, refuse, resolveSource, twoImages } from './source.ts'
import type { Artifact, CreatePlan, Discovered, PlanFacts } from './types.ts'

/** `deployment-type` when nothing was given. */
const DEFAULT_TYPE = 'dev'
const DEFAULT_CONFIG_PATH = 'langgraph.json'

interface Parts {
  readonly sourceConfig: Mapping
  readonly revisionConfig: Mapping
  readonly artifact: Artifact
  readonly faults: readonly InputFault[]
}

/**
 * The body of `POST /v2/deployments`, by the field rules of each source (peers.md, 3.2).
 * @throws InputError for everything that is missing or does not go together, in one
 */
export function planCreate(facts: PlanFacts): CreatePlan {
  const { settings, git, discovered } = facts
  const source = resolveSource(settings, undefined)
  const parts = partsOf(source, facts)
  refuse([...targetFaults(settings), ...misplacedInputs(settings, source), ...parts.faults])

  const sourceConfig = {
    ...parts.sourceConfig,
    // The docker source of a listener has no type and wants a resource_spec, if an empty one (recorded).
    ...(source === 'external_docker'
      ? { resource_spec: {} }
      : { deployment_type: DEPLOYMENT_TYPES[settings.deploymentType ?? DEFAULT_TYPE] }),
    ...(settings.resourceSpec === undefined ? {} : { resource_spec: settings.resourceSpec }),
    ...commands(settings),
  }
  const identity =
    settings.target.agent === undefined
      ? { name: settings.target.name }
      : { agent: { agent_id: settings.target.agent.agentId, environment: settings.target.agent.environment } }
  const merged = mergeMappings(
    {
      ...identity,
      source,
      source_config: sourceConfig,
      source_revision_config: parts.revisionConfig,
      secrets: [...(settings.secrets ?? []), ...(settings.envVars ?? [])],
    },
    settings.request ?? {},
  )
  const revisionConfig = isMapping(merged['source_revision_config']) ? merged['source_revision_config'] : {}
  const code = source === 'github' ? ownCode(settings, git, undefined) : undefined
  return {
    action: 'create',
    source,
    artifact: parts.artifact,
    body: parts.artifact === 'none' ? merged : { ...merged, source_revision_config: {} },
    revisionConfig,
    warnings: warningsOf(settings, source, discovered),
    expectedCommit:
      code === undefined ? undefined : { sha: code.sha, strict: settings.repoRef === undefined },
  }
}

function targetFaults(settings: Settings): InputFault[] {
  if (settings.target.name !== undefined || settings.target.agent !== undefined) return []
  return [{ input: 'name', message: 'is required to create a deployment. Give a name such as my-agent.' }]
}

function partsOf(source: Source, { settings, git, discovered }: PlanFacts): Parts {
  switch (source) {
    case 'github':
      return githubParts(settings, git, discovered)
    case 'external_docker':
      return listenerParts(settings, discovered)
    case 'internal_docker':
      return internalDockerParts(settings)
    case 'internal_source':
      return {
        sourceConfig: {},
        revisionConfig: { langgraph_config_path: settings.configPath ?? DEFAULT_CONFIG_PATH },
        artifact: 'archive',
        faults: [],
      }
  }
}

function githubParts(settings: Settings, git: PlanFacts['git'], discovered: Discovered): Parts {
  const { ref, faults } = refForCreate(settings, git)
  const repoUrl = settings.repoUrl ?? git.repositoryUrl
  const integrationId = settings.integrationId ?? discovered.integrationId
  const buildOnPush = settings.buildOnPush ?? false
  return {
    sourceConfig: { integration_id: integrationId, repo_url: repoUrl, build_on_push: buildOnPush },
    revisionConfig: { repo_ref: ref, langgraph_config_path: settings.configPath ?? DEFAULT_CONFIG_PATH },
    artifact: 'none',
    faults: [
      ...faults,
      ...tagFaults(ref, buildOnPush),
      ...(repoUrl === undefined
        ? [
            {
              input: 'repo-url',
              message: 'is needed: GITHUB_REPOSITORY does not tell which repository this is.',
            },
          ]
        : []),
      ...(integrationId === undefined
        ? [
            {
              input: 'integration-id',
              message: 'is needed for source github (LangSmith, Settings, Integrations).',
            },
          ]
        : []),
    ],
  }
}

function listenerParts(settings: Settings, discovered: Discovered): Parts {
  const listenerId = settings.listenerId ?? discovered.listenerId
  const namespace = settings.listenerNamespace ?? discovered.listenerNamespace
  return {
    sourceConfig: {
      ...(listenerId === undefined ? {} : { listener_id: listenerId }),
      ...(namespace === undefined ? {} : { listener_config: { k8s_namespace: namespace } }),
    },
    revisionConfig: { image_uri: settings.imageUri },
    artifact: 'none',
    faults: imageFaults(settings),
  }
}

function internalDockerParts(settings: Settings): Parts {
  if (settings.pushImage !== undefined && settings.imageUri !== undefined) {
    return { sourceConfig: {}, revisionConfig: {}, artifact: 'none', faults: twoImages(settings) }
  }
  if (settings.pushImage !== undefined)
    return { sourceConfig: {}, revisionConfig: {}, artifact: 'image', faults: [] }
  return {
    sourceConfig: {},
    revisionConfig: { image_uri: settings.imageUri },
    artifact: 'none',
    faults: imageFaults(settings),
  }
}

/** An image without tag or digest would be whatever `latest` is on that day. */
export function imageFaults(settings: Settings): InputFault[] {
  if (settings.imageUri === undefined) {
    return [
      {
        input: 'image-uri',
        message: 'is required for this source. Give an image with its tag or, better, its digest.',
      },
    ]
  }
  const fault = checkImageUri(settings.imageUri)
  return fault === undefined ? [] : [{ input: 'image-uri', message: fault }]
}

export function commands(settings: Settings): Mapping {
  return {
    ...(settings.installCommand === undefined ? {} : { install_command: settings.installCommand }),
    ...(settings.buildCommand === undefined ? {} : { build_command: settings.buildCommand }),
  }
}

export function nameWarnings(name: string | null | undefined, source: Source): string[] {
  if (source !== 'external_docker' || typeof name !== 'string' || name.length <= SELF_HOSTED_NAME_LIMIT)
    return []
  return [
    `The name "${name}" has ${name.length} characters. Kubernetes refuses the revisions of external_docker deployments whose name is longer than ${SELF_HOSTED_NAME_LIMIT}.`,
  ]
}

function warningsOf(settings: Settings, source: Source, discovered: Discovered): string[] {
  const warnings = nameWarnings(settings.target.name, source)
  if (source === 'external_docker' && settings.deploymentType !== undefined) {
    warnings.push('Input "deployment-type" is not sent: deployments of source external_docker have none.')
  }
  if (
    discovered.listenerId !== undefined &&
    settings.listenerNamespace === undefined &&
    discovered.listenerNamespace === undefined
  ) {
    warnings.push(
      'The one listener of this workspace has no single namespace: give `listener-namespace` if the service asks for it.',
    )
  }
  return warnings
}
