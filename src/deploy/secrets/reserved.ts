import type { InputFault } from '../../base/errors.ts'
import type { Entry, EntryInput } from './entry.ts'

// Names as the official CLIs refuse them (langgraph-cli 0.4.40, @langchain/langgraph-cli 1.5.1).

const EVERYWHERE = new Set([
  'LANGCHAIN_TRACING_V2',
  'LANGSMITH_TRACING_V2',
  'LANGCHAIN_ENDPOINT',
  'LANGCHAIN_PROJECT',
  'LANGSMITH_PROJECT',
  'LANGSMITH_LANGGRAPH_GIT_REPO',
  'LANGGRAPH_GIT_REPO_PATH',
  'LANGCHAIN_API_KEY',
  'LANGGRAPH_HOST_API_KEY',
  'LANGSMITH_CONTROL_PLANE_API_KEY',
  'POSTGRES_URI',
  'POSTGRES_PASSWORD',
  'DATABASE_URI',
  'LANGSMITH_LANGGRAPH_GIT_REF',
  'LANGSMITH_LANGGRAPH_GIT_REF_SHA',
  'LANGGRAPH_AUTH_TYPE',
  'LANGSMITH_AUTH_ENDPOINT',
  'LANGSMITH_TENANT_ID',
  'LANGSMITH_AUTH_VERIFY_TENANT_ID',
  'LANGSMITH_HOST_PROJECT_ID',
  'LANGSMITH_HOST_PROJECT_NAME',
  'LANGSMITH_HOST_REVISION_ID',
  'LOG_JSON',
  'LOG_DICT_TRACEBACKS',
  'REDIS_URI',
  'LANGCHAIN_CALLBACKS_BACKGROUND',
  'DD_TRACE_PSYCOPG_ENABLED',
  'DD_TRACE_REDIS_ENABLED',
  'LANGSMITH_DEPLOYMENT_NAME',
  'LANGGRAPH_CLOUD_LICENSE_KEY',
])

const ON_THE_CLOUD = new Set([
  'LANGSMITH_API_KEY',
  'LANGSMITH_ENDPOINT',
  'POSTGRES_URI_CUSTOM',
  'REDIS_URI_CUSTOM',
  'PATH',
  'PORT',
  'MOUNT_PREFIX',
  'LSD_ENV',
  'LSD_DD_API_KEY',
  'LSD_DD_ENDPOINT',
  'LSD_DEPLOYMENT_TYPE',
])

/**
 * The fault of a name that the service keeps for itself.
 * @param cloud whether the control plane is LangSmith's cloud; see `isCloud`
 * @returns a sentence for an `InputFault`, or nothing where the name is free
 */
export function reservedFault(name: string, cloud: boolean): string | undefined {
  if (EVERYWHERE.has(name))
    return `${name} is a name that the service sets itself and does not take: take it out, or call it otherwise`
  if (cloud && ON_THE_CLOUD.has(name))
    return `${name} is a name that the service sets itself on the cloud and does not take there: take it out, or call it otherwise`
  return undefined
}

/** `reservedFault` over a list. */
export function reservedFaults(
  entries: readonly Entry[],
  input: EntryInput,
  cloud: boolean,
): readonly InputFault[] {
  return entries.flatMap((entry) => {
    const message = reservedFault(entry.name, cloud)
    return message === undefined ? [] : [{ input, message }]
  })
}
