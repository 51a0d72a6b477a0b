/** The cloud's control planes; a key of one region is unknown in the others. */
export const REGIONS = {
  US: 'https://api.host.langchain.com',
  EU: 'https://eu.api.host.langchain.com',
  'Asia-Pacific': 'https://apac.api.host.langchain.com',
  'US on AWS': 'https://aws.api.host.langchain.com',
} as const

/** True for the cloud's own control planes; self-hosted ones keep fewer names for themselves. */
export function isCloud(baseUrl: URL): boolean {
  const host = baseUrl.hostname.toLowerCase().replace(/\.$/, '')
  return host === 'api.host.langchain.com' || host.endsWith('.api.host.langchain.com')
}

interface KnownFailure {
  readonly status: number
  /** Found in `detail`, without case; absent: any. */
  readonly words?: RegExp
  hint(facts: { baseUrl: URL; workspaceId: string | undefined }): string
}

const regions = Object.entries(REGIONS)
  .map(([region, url]) => `${region} ${url}`)
  .join(', ')

/** The service's known refusals (reference: recorded bodies of real users) and what to do about each. */
const KNOWN: readonly KnownFailure[] = [
  {
    status: 403,
    words: /workspace specification|tenant-id|tenant id/i,
    hint: ({ workspaceId }) =>
      workspaceId === undefined
        ? 'The key belongs to the organisation, so the service wants to know the workspace: set `workspace-id` (LangSmith, Settings, Workspaces).'
        : 'The key may not use this workspace: look at `workspace-id`, and at the workspaces that the key was given.',
  },
  {
    status: 403,
    words: /not enabled/i,
    hint: () =>
      'LangSmith Deployment is not switched on for this organisation: ask its admin, or look at the plan.',
  },
  {
    status: 401,
    hint: ({ baseUrl }) => keyHint(baseUrl),
  },
  {
    status: 403,
    hint: ({ baseUrl }) => keyHint(baseUrl),
  },
  {
    status: 409,
    words: /tracing project|already exists a project/i,
    hint: () =>
      'A tracing project of this name is left over, probably from a deleted deployment. Choose another `name`, delete that project in LangSmith, or delete deployments with `delete-tracing-project: true` from now on.',
  },
  {
    status: 404,
    hint: ({ baseUrl }) =>
      isCloud(baseUrl)
        ? `Not found in this region or workspace. The regions are: ${regions}.`
        : 'Not found: look at the path of control-plane-url (self-hosted: https://<host>/api-host), at the id, and at workspace-id.',
  },
  {
    status: 400,
    words: /integration_id/i,
    hint: () =>
      'Give `integration-id` (LangSmith, Settings, Integrations), or install the GitHub integration for this repository.',
  },
  {
    status: 400,
    words: /listener_id/i,
    hint: () => 'Give `listener-id` (and `listener-namespace`): this workspace deploys to listeners.',
  },
  {
    status: 400,
    words: /scale to zero/i,
    hint: () => 'Give another `deployment-type`: serverless is not offered there.',
  },
  {
    status: 400,
    words: /reserved/i,
    hint: () => 'Rename that secret: the service keeps the name for itself.',
  },
  {
    status: 402,
    hint: () => 'The plan of this organisation does not cover this deployment: look at billing in LangSmith.',
  },
  {
    status: 422,
    hint: () => 'The service refused these fields: look at the inputs of the same names, and at `request`.',
  },
  {
    status: 429,
    hint: () => 'The service asks to slow down: run the job again later, or run fewer deployments at once.',
  },
]

function keyHint(baseUrl: URL): string {
  const other = isCloud(baseUrl)
    ? ` A key works only in its own region (${regions}): look at control-plane-url.`
    : ''
  return `The key was refused: it may be expired, revoked, or of another workspace. Make a new one (LangSmith, Settings, API Keys) and store it as the repository's secret.${other}`
}

/** What to do about a refusal of the control plane; undefined when nothing better is known than its words. */
export function controlPlaneHint(
  status: number,
  detail: string,
  facts: { baseUrl: URL; workspaceId: string | undefined },
): string | undefined {
  const known = KNOWN.find(
    (entry) => entry.status === status && (entry.words === undefined || entry.words.test(detail)),
  )
  if (known !== undefined) return known.hint(facts)
  return status >= 500
    ? 'The service failed, not this workflow: run the job again, or look at https://status.smith.langchain.com.'
    : undefined
}
