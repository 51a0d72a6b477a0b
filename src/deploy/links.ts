import type { ControlPlane } from '../clients/control-plane/api.ts'
import type { Deployment } from '../clients/control-plane/wire.ts'
import { readUrl, URL_EXPECTATION } from '../http/url.ts'
import { DeployError } from './errors.ts'

/**
 * The page of a deployment in LangSmith (recorded from the official CLI: host mapping and path).
 * @returns undefined where the dashboard's host cannot be told from the control plane's
 */
export function dashboardUrl(api: ControlPlane, deployment: Deployment): string | undefined {
  const host = dashboardHost(api.baseUrl)
  const tenant = deployment.tenant_id ?? api.workspaceId
  if (host === undefined || tenant == null || !/^[A-Za-z0-9-]+$/.test(tenant)) return undefined
  return `${host}/o/${tenant}/host/deployments/${encodeURIComponent(deployment.id)}`
}

function dashboardHost(baseUrl: URL): string | undefined {
  const cloud = /^((?:[a-z0-9-]+\.)?)api\.host\.langchain\.com$/.exec(baseUrl.hostname)
  if (cloud !== null) return `https://${cloud[1]}smith.langchain.com`
  return baseUrl.pathname.endsWith('/api-host')
    ? `${baseUrl.origin}${baseUrl.pathname.slice(0, -'/api-host'.length)}`
    : undefined
}

/**
 * The URL of the live agent: `source_config.custom_url`.
 * @returns undefined when the service gives none (yet)
 * @throws DeployError when it is not a plain https: URL, or carries a user name: the key would go there
 */
export function deploymentUrl(deployment: Deployment, allowHttp: boolean): URL | undefined {
  const text = deployment.source_config?.custom_url
  if (text == null || text === '') return undefined
  const url = readUrl(text, allowHttp)
  const fault = typeof url === 'string' ? url : url.search !== '' || url.hash !== '' ? 'query' : undefined
  if (fault === undefined) return url as URL
  throw new DeployError(
    'error',
    `The service gave a deployment URL that no key is sent to: expected ${URL_EXPECTATION[fault]}`,
    {
      hint: 'Look at the deployment in LangSmith; for a self-hosted service without TLS set `allow-http: true`.',
    },
  )
}
