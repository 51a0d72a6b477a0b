import { InputError, type InputFault } from '../../base/errors.ts'
import type { Deployment } from '../../clients/control-plane/wire.ts'
import { checkImageUri } from '../docker/image-uri.ts'
import { plainRef } from '../git-event.ts'
import { type Settings, SOURCES, type Source } from '../settings.ts'
import { tagFaults } from './git-ref.ts'

type Given = keyof Settings

/** Input name and setting of everything that belongs to some sources only. */
const FIELDS: readonly (readonly [input: string, setting: Given, sources: readonly Source[]])[] = [
  ['integration-id', 'integrationId', ['github']],
  ['repo-url', 'repoUrl', ['github']],
  ['repo-ref', 'repoRef', ['github']],
  ['build-on-push', 'buildOnPush', ['github']],
  ['config-path', 'configPath', ['github', 'internal_source']],
  ['install-command', 'installCommand', ['github', 'internal_source']],
  ['build-command', 'buildCommand', ['github', 'internal_source']],
  ['image-uri', 'imageUri', ['external_docker', 'internal_docker']],
  ['push-image', 'pushImage', ['internal_docker']],
  ['listener-id', 'listenerId', ['external_docker']],
  ['listener-namespace', 'listenerNamespace', ['external_docker']],
  ['source-path', 'sourcePath', ['internal_source']],
]

/**
 * The source of this run: what was given, else what the inputs mean (`image-uri`: external_docker,
 * `integration-id`: github, `push-image`: internal_docker), else the deployment's own, else internal_source.
 */
export function resolveSource(settings: Settings, deployment: Deployment | undefined): Source {
  if (settings.source !== 'auto') return settings.source
  const own = knownSource(deployment?.source)
  // A deployment that takes images keeps its own source: `image-uri` alone does not ask for another one.
  if (own === 'internal_docker' && settings.imageUri !== undefined) return own
  if (settings.imageUri !== undefined) return 'external_docker'
  if (settings.integrationId !== undefined) return 'github'
  if (settings.pushImage !== undefined) return 'internal_docker'
  return own ?? 'internal_source'
}

function knownSource(word: string | null | undefined): Source | undefined {
  return SOURCES.find((source) => source === word)
}

/** Inputs that were given and that the source has no field for; each would be lost without a word. */
export function misplacedInputs(settings: Settings, source: Source): InputFault[] {
  return misplaced(settings, [source])
}

/**
 * What is wrong with the inputs about the source whatever deployment is found, so that it is told with all other
 * wrong inputs before the first request.
 */
export function sourceFaults(settings: Settings): InputFault[] {
  const faults = misplaced(settings, possibleSources(settings))
  const image = settings.imageUri === undefined ? undefined : checkImageUri(settings.imageUri)
  return [
    ...faults,
    ...(image === undefined ? [] : [{ input: 'image-uri', message: image }]),
    ...(faults.length === 0 ? twoImages(settings) : []),
    ...tagFaults(
      settings.repoRef === undefined ? undefined : plainRef(settings.repoRef),
      settings.buildOnPush,
    ),
  ]
}

/** Two images, and only one can be deployed. */
export function twoImages(settings: Settings): InputFault[] {
  if (settings.imageUri === undefined || settings.pushImage === undefined) return []
  const message = 'cannot stand beside push-image: give the one that is pushed already, or the one to push.'
  return [{ input: 'image-uri', message }]
}

/** What `resolveSource` can come to, before it is known which deployment there is. */
function possibleSources(settings: Settings): readonly Source[] {
  if (settings.source !== 'auto') return [settings.source]
  if (settings.imageUri !== undefined) return ['external_docker', 'internal_docker']
  if (settings.integrationId !== undefined) return ['github']
  return settings.pushImage !== undefined ? ['internal_docker'] : SOURCES
}

function misplaced(settings: Settings, possible: readonly Source[]): InputFault[] {
  return FIELDS.filter(
    ([, setting, sources]) =>
      settings[setting] !== undefined && !sources.some((source) => possible.includes(source)),
  ).map(([input, , sources]) => ({
    input,
    message: `goes with source ${sources.join(' or ')} only, and the source here is ${possible.join(' or ')}. Remove it, or set source.`,
  }))
}

/** @throws InputError when there are faults */
export function refuse(faults: readonly InputFault[], hint?: string): void {
  if (faults.length > 0) throw new InputError(faults, { hint })
}
