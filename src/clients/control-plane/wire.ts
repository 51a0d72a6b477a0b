import * as z from 'zod/mini'

/**
 * Answers of the control plane, as far as this project reads them (control-plane-openapi.json,
 * service-interface.md). Only ids and statuses must be there: older and newer services differ in the rest.
 */

const text = z.nullish(z.string())
const mapping = z.nullish(z.record(z.string(), z.unknown()))

/** Read where it is shown, and never worth failing for: a value of another type counts as absent. */
const aside = z.catch(text, undefined)

/** An id goes into paths and outputs: letters, digits and a few signs, never a slash, a space or a quote. */
export const Id = z.string().check(z.regex(/^[A-Za-z0-9][\w.:~-]{0,199}$/))

export const Secret = z.looseObject({ name: z.string(), value: text })
export type Secret = z.output<typeof Secret>

export const SourceConfig = z.looseObject({
  integration_id: text,
  repo_url: text,
  repo_branch: text,
  deployment_type: text,
  build_on_push: z.nullish(z.boolean()),
  custom_url: text,
  resource_spec: mapping,
  listener_id: text,
  listener_config: mapping,
})

export const SourceRevisionConfig = z.looseObject({
  repo_ref: text,
  langgraph_config_path: text,
  image_uri: text,
  source_tarball_path: text,
  repo_commit_sha: text,
})
export type SourceRevisionConfig = z.output<typeof SourceRevisionConfig>

export const Deployment = z.looseObject({
  id: Id,
  name: text,
  tenant_id: aside,
  source: text,
  status: text,
  source_config: z.nullish(SourceConfig),
  source_revision_config: z.nullish(SourceRevisionConfig),
  secrets: z.nullish(z.array(Secret)),
  latest_revision_id: z.nullish(Id),
  active_revision_id: z.nullish(Id),
  agent: z.nullish(z.looseObject({ agent_id: text, environment: text })),
})
export type Deployment = z.output<typeof Deployment>

/**
 * One deployment of a list: as much as finds the wanted one, which is then read by itself. An odd neighbour of
 * it must not keep it from being found.
 */
export const ListedDeployment = z.looseObject({
  id: Id,
  name: aside,
  status: aside,
  agent: z.catch(z.nullish(z.looseObject({ agent_id: aside, environment: aside })), undefined),
  is_preview: z.catch(z.nullish(z.boolean()), undefined),
})
export type ListedDeployment = z.output<typeof ListedDeployment>

/** The interface document promises `status` alone; `id` is that of the request where the answer has none. */
export const RevisionAnswer = z.looseObject({
  id: z.nullish(Id),
  status: z.string().check(z.minLength(1)),
  created_at: aside,
  source: text,
  source_revision_config: z.nullish(SourceRevisionConfig),
})
export type Revision = z.output<typeof RevisionAnswer> & { readonly id: string }

/** What `redeploy` answers: the deployment, in older notes a revision, or nothing of use. */
export const RedeployAnswer = z.looseObject({ id: z.nullish(Id), latest_revision_id: z.nullish(Id) })

export function page<T extends z.ZodMiniType>(item: T) {
  return z.looseObject({ resources: z.array(item), offset: z.nullish(z.number()) })
}

export const OAuthProvider = z.looseObject({
  id: Id,
  provider_id: z.string(),
  name: text,
  client_id: text,
  auth_url: text,
  token_url: text,
  uses_pkce: z.nullish(z.boolean()),
  code_challenge_method: text,
  provider_type: text,
  token_endpoint_auth_method: text,
})
export type OAuthProvider = z.output<typeof OAuthProvider>

export const Listener = z.looseObject({
  id: Id,
  compute_id: text,
  compute_config: z.nullish(z.looseObject({ k8s_namespaces: z.nullish(z.array(z.string())) })),
})
export type Listener = z.output<typeof Listener>

export const GithubIntegration = z.looseObject({ id: Id, name: text })
export type GithubIntegration = z.output<typeof GithubIntegration>

export const GithubRepository = z.looseObject({ name: text, owner: text, url: text })
export type GithubRepository = z.output<typeof GithubRepository>

export const UploadUrl = z.looseObject({
  upload_url: z.string(),
  object_path: z.string().check(z.minLength(1)),
  upload_headers: z.nullish(z.record(z.string(), z.string())),
})

export const PushToken = z.looseObject({
  token: z.string().check(z.minLength(1)),
  registry_url: z.string().check(z.minLength(1)),
  username: text,
  repository_url: text,
})

export const Logs = z.looseObject({
  logs: z.array(z.looseObject({ id: z.nullish(z.string()), message: text, level: text })),
  next_offset: z.nullish(z.union([z.string(), z.number()])),
})
