import { HttpError } from '../errors.ts'
import { json } from '../profile.ts'
import type { Router } from '../router.ts'
import { LANGGRAPH_VERSION } from '../runconfig.ts'
import type { AgentServerOptions } from '../types.ts'

const DOCS = '<!doctype html><html><head><title>Agent server (emulated)</title></head><body></body></html>'
const HTML = { 'content-type': 'text/html; charset=utf-8' }
const METRICS = { 'content-type': 'text/plain; version=1.0.0; charset=utf-8' }

/** `/ok`, `/`, `/info`, `/metrics`, `/docs`, `/openapi.json`: the routes that need no key. */
export function metaRoutes(
  router: Router,
  options: AgentServerOptions,
  paths: () => readonly string[],
): void {
  const js = options.profile === 'js'
  const ok = (query: string | undefined): Response => {
    if (query !== undefined && !js && !/^\s*[+-]?\d+\s*$/.test(query)) {
      throw new HttpError(400, `invalid literal for int() with base 10: '${query}'`)
    }
    return json(200, js ? { ok: true } : { ok: true, services: {} })
  }
  router.addMeta('/ok', (context) => ok(context.req.query('check_db')))
  router.addMeta('/info', () => json(200, js ? jsInfo() : info(options)))
  if (js) return
  router.addMeta('/', (context) => ok(context.req.query('check_db')))
  router.addMeta(
    '/metrics',
    () => new Response('# HELP lg_api_num_pending_runs Runs that wait.\n', { headers: METRICS }),
  )
  router.addMeta('/docs', () => new Response(DOCS, { headers: HTML }))
  router.addMeta('/openapi.json', () => {
    const listed = Object.fromEntries(paths().map((path) => [path, {}]))
    return json(200, {
      openapi: '3.1.0',
      info: { title: 'LangSmith Deployment', version: '0.1.0' },
      paths: listed,
    })
  })
}

function info(options: AgentServerOptions): unknown {
  const host = options.host()
  return {
    version: options.agentVersion,
    langgraph_py_version: LANGGRAPH_VERSION,
    flags: {
      assistants: true,
      crons: true,
      langsmith: false,
      langsmith_tracing_replicas: true,
      langsmith_tracing_session_on_runs: true,
    },
    host: {
      kind: 'self-hosted',
      project_id: host.projectId,
      host_revision_id: host.hostRevisionId,
      revision_id: host.revisionId,
      tenant_id: host.tenantId,
    },
  }
}

/** Recorded from `@langchain/langgraph-api` 1.5.0. */
function jsInfo(): unknown {
  return {
    version: '1.5.0',
    langgraph_js_version: '1.4.18',
    context: 'js',
    flags: { assistants: true, crons: false, langsmith: false, langsmith_tracing_replicas: true },
  }
}
