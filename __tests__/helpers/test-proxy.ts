/** A small real proxy: CONNECT tunnels and plain http, with a password where one is wanted. */
import { createServer, request as httpRequest } from 'node:http'
import { type AddressInfo, connect } from 'node:net'

export interface TestProxy {
  readonly port: number
  /** What was asked: `CONNECT host:port`, or `GET http://host/path`. */
  readonly asked: readonly string[]
  /** Headers that came with each, by lower-case name. */
  readonly headers: readonly Readonly<Record<string, string | string[] | undefined>>[]
  close(): Promise<void>
}

/**
 * @param target port on 127.0.0.1 that every name leads to
 * @param options `login`: `user:password` that is asked for; `refuse`: a status to refuse everything with
 */
export async function startTestProxy(
  target: number,
  options: { readonly login?: string; readonly refuse?: number } = {},
): Promise<TestProxy> {
  const asked: string[] = []
  const headers: Record<string, string | string[] | undefined>[] = []
  const refusal = (given: string | undefined): number | undefined => {
    if (options.refuse !== undefined) return options.refuse
    const wanted =
      options.login === undefined ? undefined : `Basic ${Buffer.from(options.login).toString('base64')}`
    return wanted === undefined || given === wanted ? undefined : 407
  }
  const server = createServer((incoming, response) => {
    asked.push(`${incoming.method} ${incoming.url}`)
    headers.push(incoming.headers)
    const status = refusal(incoming.headers['proxy-authorization'])
    if (status !== undefined) {
      response.writeHead(status, { 'proxy-authenticate': 'Basic realm="test"' }).end('refused by the proxy')
      return
    }
    const { pathname, search } = new URL(incoming.url ?? '/')
    const onward = httpRequest(
      {
        host: '127.0.0.1',
        port: target,
        path: pathname + search,
        method: incoming.method,
        headers: incoming.headers,
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      },
    )
    onward.on('error', () => response.destroy())
    incoming.pipe(onward)
  })
  server.on('connect', (incoming, socket) => {
    asked.push(`CONNECT ${incoming.url}`)
    headers.push(incoming.headers)
    socket.on('error', () => {})
    const status = refusal(incoming.headers['proxy-authorization'])
    if (status !== undefined) {
      socket.end(
        `HTTP/1.1 ${status} No\r\nproxy-authenticate: Basic realm="test"\r\ncontent-length: 0\r\n\r\n`,
      )
      return
    }
    const onward = connect(target, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      onward.pipe(socket)
      socket.pipe(onward)
    })
    onward.on('error', () => socket.destroy())
    socket.on('close', () => onward.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    headers,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
