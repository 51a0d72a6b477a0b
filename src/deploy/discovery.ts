import { InputError } from '../base/errors.ts'
import type { CallOptions, ControlPlane } from '../clients/control-plane/api.ts'
import {
  listGithubIntegrations,
  listGithubRepositories,
  listListeners,
} from '../clients/control-plane/discovery.ts'
import { sameRepository } from './git-event.ts'
import { resolveSource } from './plan/source.ts'
import type { Discovered } from './plan/types.ts'
import type { Settings } from './settings.ts'

/**
 * Finds what a create needs and the user left out: the one GitHub integration that sees the repository, the
 * one listener of the workspace.
 * @param repositoryUrl the repository the workflow runs in
 * @throws InputError that lists the candidates when there is not exactly one
 */
export async function discover(
  api: ControlPlane,
  settings: Settings,
  repositoryUrl: string | undefined,
  options: CallOptions,
): Promise<Discovered> {
  switch (resolveSource(settings, undefined)) {
    case 'github': {
      const repo = settings.repoUrl ?? repositoryUrl
      if (settings.integrationId !== undefined || repo === undefined) return {}
      return { integrationId: await findIntegration(api, repo, options) }
    }
    case 'external_docker':
      return settings.listenerId === undefined ? findListener(api, settings, options) : {}
    default:
      return {}
  }
}

async function findIntegration(api: ControlPlane, repo: string, options: CallOptions): Promise<string> {
  const integrations = await listGithubIntegrations(api, options)
  const seeing: string[] = []
  for (const { id } of integrations) {
    const repositories = await listGithubRepositories(api, id, options)
    if (repositories.some((entry) => sees(entry, repo))) seeing.push(id)
  }
  const [only] = seeing
  if (seeing.length === 1 && only !== undefined) return only
  const all = integrations.map(({ id, name }) => (name == null ? id : `${id} (${name})`)).join(', ')
  const message =
    seeing.length > 1
      ? `${seeing.length} GitHub integrations see ${repo}: ${seeing.join(', ')}. Give one of them.`
      : `no GitHub integration of this workspace sees ${repo}; there are: ${all === '' ? 'none' : all}. Install it for the repository (LangSmith, Settings, Integrations), or give the id.`
  throw new InputError([{ input: 'integration-id', message }])
}

function sees(
  entry: {
    url?: string | null | undefined
    owner?: string | null | undefined
    name?: string | null | undefined
  },
  repo: string,
): boolean {
  if (typeof entry.url === 'string' && sameRepository(entry.url, repo)) return true
  if (typeof entry.owner !== 'string' || typeof entry.name !== 'string' || !URL.canParse(repo)) return false
  return sameRepository(new URL(repo).pathname, `/${entry.owner}/${entry.name}`)
}

async function findListener(
  api: ControlPlane,
  settings: Settings,
  options: CallOptions,
): Promise<Discovered> {
  const listeners = await listListeners(api, options)
  const [only] = listeners
  if (only === undefined) return {}
  const namespaces = only.compute_config?.k8s_namespaces ?? []
  const fits = settings.listenerNamespace !== undefined || namespaces.length <= 1
  if (listeners.length === 1 && fits) return { listenerId: only.id, listenerNamespace: namespaces[0] }
  const list = listeners
    .map(
      ({ id, compute_id, compute_config }) =>
        `${id} (${[compute_id, ...(compute_config?.k8s_namespaces ?? [])].filter(Boolean).join(', ')})`,
    )
    .join('; ')
  throw new InputError([
    {
      input: 'listener-id',
      message: `is needed, because the workspace has more than one listener or namespace: ${list}. Give \`listener-id\` and \`listener-namespace\`.`,
    },
  ])
}
