/** Serves a `fetch` handler on a socket of its own, through the bridge that the emulator uses. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { BODY_LIMIT, readBytes, send, toRequest } from '../../src/emulator/wire/bridge.ts'

export interface Served {
  /** `http://127.0.0.1:<port>` */
  url: string
  close(): Promise<void>
}

export async function serveFetch(
  handler: (request: Request) => Response | Promise<Response>,
): Promise<Served> {
  let url = ''
  const server = createServer(async (request, out) => {
    const gone = new AbortController()
    out.once('close', () => gone.abort())
    const body = (await readBytes(request, BODY_LIMIT)) ?? Buffer.alloc(0)
    const asked = toRequest(request, `${url}${request.url}`, body, gone.signal)
    await send(await handler(asked), out, request.method === 'HEAD')
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}
