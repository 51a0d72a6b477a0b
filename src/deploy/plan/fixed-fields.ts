import type { InputFault } from '../../base/errors.ts'
import type { Deployment } from '../../clients/control-plane/wire.ts'
import { sameRepository } from '../git-event.ts'
import { DEPLOYMENT_TYPES, isMapping, type Mapping, type Settings, type Source } from '../settings.ts'

interface FixedField {
  readonly input: string
  readonly want: string | undefined
  /** undefined: the answer does not tell, so nothing can be compared; null: it has none. */
  readonly have: string | null | undefined
  readonly same?: (have: string, want: string) => boolean
  /** What the input stands for, where that is not plain from its name. */
  readonly what?: string
}

/**
 * Fields that the service cannot change after creation, were given, and differ.
 * @param request the `request` mapping, whose fixed fields are compared too
 */
export function fixedFieldFaults(
  settings: Settings,
  source: Source,
  deployment: Deployment,
  request: Mapping | undefined,
): InputFault[] {
  const config = deployment.source_config ?? {}
  const listenerConfig = isMapping(config.listener_config) ? config.listener_config : {}
  const type = settings.deploymentType === undefined ? undefined : DEPLOYMENT_TYPES[settings.deploymentType]
  const fields: FixedField[] = [
    { input: inputOfSource(settings), want: source, have: deployment.source ?? undefined, what: 'source' },
    { input: 'name', want: settings.target.name, have: deployment.name },
    { input: 'repo-url', want: settings.repoUrl, have: config.repo_url, same: sameRepository },
    { input: 'integration-id', want: settings.integrationId, have: config.integration_id },
    // external_docker has no type, and the input is not sent there.
    {
      input: 'deployment-type',
      want: source === 'external_docker' ? undefined : type,
      have: config.deployment_type,
    },
    { input: 'listener-id', want: settings.listenerId, have: config.listener_id },
    {
      input: 'listener-namespace',
      want: settings.listenerNamespace,
      have: text(listenerConfig['k8s_namespace']),
    },
    ...requestFields(request, config, listenerConfig, deployment),
  ]
  return fields.flatMap(({ input, want, have, same, what }) => {
    if (want === undefined || have === undefined) return []
    if (have !== null && (same ?? ((a, b) => a === b))(have, want)) return []
    const has = have === null ? 'none' : `"${have}"`
    return [
      {
        input,
        message:
          what === undefined || what === input
            ? `cannot be changed after creation: the deployment has ${has}, and "${want}" was asked for. Remove the input, or create another deployment under another name.`
            : `means the ${what} "${want}", which cannot be changed after creation: the deployment has ${has}. Remove the input, or create another deployment under another name.`,
      },
    ]
  })
}

/** With `source: auto` the input that decided. */
function inputOfSource(settings: Settings): string {
  if (settings.source !== 'auto') return 'source'
  if (settings.imageUri !== undefined) return 'image-uri'
  return settings.integrationId !== undefined ? 'integration-id' : 'push-image'
}

function requestFields(
  request: Mapping | undefined,
  config: Mapping,
  listenerConfig: Mapping,
  deployment: Deployment,
): FixedField[] {
  const wanted = isMapping(request?.['source_config']) ? request['source_config'] : {}
  const wantedListener = isMapping(wanted['listener_config']) ? wanted['listener_config'] : {}
  return [
    { input: 'request', want: given(request?.['source']), have: deployment.source ?? undefined },
    {
      input: 'request',
      want: given(wanted['repo_url']),
      have: text(config['repo_url']),
      same: sameRepository,
    },
    { input: 'request', want: given(wanted['integration_id']), have: text(config['integration_id']) },
    { input: 'request', want: given(wanted['deployment_type']), have: text(config['deployment_type']) },
    { input: 'request', want: given(wanted['listener_id']), have: text(config['listener_id']) },
    {
      input: 'request',
      want: given(wantedListener['k8s_namespace']),
      have: text(listenerConfig['k8s_namespace']),
    },
  ]
}

/** `request` without what a PATCH does not take: the fixed fields, which were compared before. */
export function withoutFixedFields(request: Mapping): Mapping {
  const { source: _source, agent: _agent, ...rest } = request
  if (!isMapping(rest['source_config'])) return rest
  const {
    repo_url: _repoUrl,
    integration_id: _integrationId,
    deployment_type: _deploymentType,
    listener_id: _listenerId,
    listener_config: _listenerConfig,
    ...sourceConfig
  } = rest['source_config']
  const { source_config: _all, ...others } = rest
  return Object.keys(sourceConfig).length === 0 ? others : { ...others, source_config: sourceConfig }
}

function text(value: unknown): string | null | undefined {
  return typeof value === 'string' || value === null ? value : undefined
}

function given(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
