import { AgentDeployError } from '../base/errors.ts'
import { NetworkError, type RequestFacts, TimeoutError } from './errors.ts'

/** The connection was never made, so the service cannot have taken the request. */
const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

const UNKNOWN_CA = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
])

/**
 * The typed error for what undici, a stream or an aborted signal threw.
 * @param error what was thrown
 * @param limits the request's deadlines in milliseconds, for the message
 * @returns the error itself when it is one of ours already (a cancel, a passed deadline)
 */
export function toRequestError(
  request: RequestFacts,
  error: unknown,
  limits: { headersMs: number; idleMs: number },
): Error {
  if (error instanceof AgentDeployError) return error
  const code = codeOf(error)
  if (code === 'UND_ERR_HEADERS_TIMEOUT')
    return new TimeoutError(request, limits.headersMs, 'no answer began')
  if (code === 'UND_ERR_BODY_TIMEOUT')
    return new TimeoutError(request, limits.idleMs, 'the answer stopped, no byte came')
  // undici's own words (lib/dispatcher/proxy-agent.js): of a tunnel, and of plain http through a proxy.
  const proxy = /Proxy (?:response|Authentication Required) \((\d+)\)/.exec(
    error instanceof Error ? error.message : '',
  )
  if (proxy !== null) return proxyError(request, Number(proxy[1]), error)
  const tls = isTls(code)
  return new NetworkError(request, code, error, {
    neverSent: NEVER_SENT.has(code) || tls,
    hint: hintFor(code, tls),
  })
}

/** The proxy, not the service, refused: 407 wants a password. */
export function proxyError(request: RequestFacts, status: number, cause?: unknown): NetworkError {
  return new NetworkError(request, `proxy answered ${status}`, cause, {
    neverSent: true,
    hint:
      status === 407
        ? 'The proxy (HTTPS_PROXY or HTTP_PROXY), not the service, asks for credentials: put user name and password into the proxy URL.'
        : 'The proxy (HTTPS_PROXY or HTTP_PROXY), not the service, refused the connection: ask who runs it, or list the host in NO_PROXY.',
  })
}

/** A fault that trying again cannot mend: a certificate, or a proxy that refuses us. */
export function isPermanent(error: NetworkError): boolean {
  return isTls(error.code) || error.code.startsWith('proxy answered 4')
}

function hintFor(code: string, tls: boolean): string {
  if (UNKNOWN_CA.has(code)) {
    return 'The certificate is signed by an authority that Node does not know. Set NODE_EXTRA_CA_CERTS to its PEM file, in `env:` of the job (not of the step: Node reads it when it starts).'
  }
  if (tls)
    return 'The TLS handshake failed: look at the host name and the certificate of the server, and at a proxy in between.'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return 'The host name was not found: look at the URL for a typing mistake, and at DNS or HTTPS_PROXY on a self-hosted runner.'
  if (code === 'ECONNREFUSED')
    return 'Nothing listens there: look at host and port of the URL, and whether the service is up.'
  return 'The connection broke: look at the network between runner and service (firewall, VPN, HTTPS_PROXY), then run the job again.'
}

function isTls(code: string): boolean {
  return UNKNOWN_CA.has(code) || /^(CERT_|ERR_TLS_|ERR_SSL_|HOSTNAME_MISMATCH|EPROTO)/.test(code)
}

/** By shape, not by class: an error of Node's own can come from another realm (a worker, a test's sandbox). */
function codeOf(error: unknown): string {
  let at = error as { code?: unknown; errors?: unknown; cause?: unknown } | null | undefined
  for (let depth = 0; typeof at === 'object' && at !== null && depth < 5; depth++) {
    const { code } = at
    if (typeof code === 'string' && code !== '') return code
    at = (Array.isArray(at.errors) ? at.errors[0] : at.cause) as typeof at
  }
  return ''
}
