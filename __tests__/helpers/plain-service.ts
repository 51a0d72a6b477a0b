/**
 * A control plane that answers with what the interface document promises and nothing else: `id` and
 * `latest_revision_id` of a deployment, `status` of a revision. No active revision, no URL, no source, no
 * secrets, no list of OAuth providers. The list of deployments, which the document lacks, shows id and name.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Revision {
  id: string
  statuses: string[]
}

interface Deployment {
  id: string
  name: string
  revisions: Revision[]
}

export interface PlainService {
  readonly apiKey: string
  readonly controlPlaneUrl: string
  readonly deployments: Deployment[]
  readonly providers: unknown[]
  /** `POST /v2/deployments`, in order. */
  readonly requests: string[]
  readonly bodies: Record<string, unknown>[]
  /** Statuses that the revisions to come show, one a poll; the last one stays. */
  readonly walks: string[][]
  /** Shapes the answer of a PATCH or a redeploy. Absent: the documented fields. */
  answer: ((deployment: Deployment) => unknown) | undefined
  /** Told of each request after it was served. */
  onRequest: ((line: string) => void) | undefined
  addRevision(deployment: Deployment): Revision
  close(): Promise<void>
}

const WALK = ['CREATING', 'DEPLOYING', 'DEPLOYED']

export async function startPlainService(): Promise<PlainService> {
  let ids = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const path = (request.url ?? '').split('?')[0] ?? ''
      const line = `${request.method} ${path}`
      service.requests.push(line)
      const text = Buffer.concat(chunks).toString()
      const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
      service.bodies.push(body)
      const [status, answer] =
        request.headers['x-api-key'] === service.apiKey ? serve(line, body) : [401, { detail: 'no key' }]
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(answer))
      service.onRequest?.(line)
    })
  })

  function view({ id, revisions }: Deployment): Record<string, unknown> {
    return { id, latest_revision_id: revisions.at(-1)?.id }
  }

  function serve(line: string, body: Record<string, unknown>): [number, unknown] {
    const [method, ...parts] = line.split(/ \/|\//)
    if (line === 'GET /v2/deployments')
      return [200, { resources: service.deployments.map(({ id, name }) => ({ id, name })) }]
    if (line === 'POST /v2/deployments') {
      const deployment = { id: `dep_${++ids}`, name: String(body['name']), revisions: [] }
      service.deployments.push(deployment)
      service.addRevision(deployment)
      return [200, view(deployment)]
    }
    if (line === 'POST /v2/auth/providers') {
      service.providers.push(body)
      return [200, { ...body, client_secret: undefined, id: `prov_${++ids}`, organization_id: 'org_1' }]
    }
    if (parts[1] === 'auth') return [405, { detail: 'Method Not Allowed' }]
    const deployment = service.deployments.find(({ id }) => id === parts[2])
    if (deployment === undefined) return [404, { detail: 'Not Found' }]
    const revision = deployment.revisions.find(({ id }) => id === parts[4])
    if (method === 'GET' && parts.length === 3) return [200, view(deployment)]
    if (method === 'PATCH' && parts.length === 3) return changed(deployment)
    if (method === 'GET' && parts.length === 5 && revision !== undefined) {
      const [first, ...rest] = revision.statuses
      if (rest.length > 0) revision.statuses = rest
      return [200, { status: first }]
    }
    if (method === 'POST' && parts[5] === 'redeploy' && revision !== undefined) return changed(deployment)
    return [404, { detail: 'Not Found' }]
  }

  function changed(deployment: Deployment): [number, unknown] {
    service.addRevision(deployment)
    return [200, service.answer === undefined ? view(deployment) : service.answer(deployment)]
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const service: PlainService = {
    apiKey: 'plain-service-key',
    controlPlaneUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    deployments: [],
    providers: [],
    requests: [],
    bodies: [],
    walks: [],
    answer: undefined,
    onRequest: undefined,
    addRevision(deployment) {
      const revision = { id: `rev_${++ids}`, statuses: service.walks.shift() ?? WALK }
      deployment.revisions.push(revision)
      return revision
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return service
}
