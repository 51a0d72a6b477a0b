import { join } from '../../http/url.ts'
import { isObject } from './dialect.ts'
import type { A2aConnection, CallOptions } from './types.ts'

/** What tells why a server has no A2A. */
export interface ServerKind {
  /** Numbers of `version` in `/info`; undefined when it is not told (`http.disable_meta`). */
  readonly version: readonly number[] | undefined
  /** The JavaScript server says so by `langgraph_js_version`, where it finds that out, and by `context: js`. */
  readonly javascript: boolean
}

/** Reads `/info`; a server that does not answer there is of unknown kind. Throws only when cancelled. */
export async function getServerKind(connection: A2aConnection, options: CallOptions): Promise<ServerKind> {
  const info = await tryGet(connection, '/info', options)
  const text = typeof info?.['version'] === 'string' ? info['version'] : ''
  const numbers = /^(\d+)\.(\d+)\.(\d+)/.exec(text)
  return {
    version: numbers === null ? undefined : numbers.slice(1).map(Number),
    javascript:
      info?.['langgraph_py_version'] === undefined &&
      (typeof info?.['langgraph_js_version'] === 'string' || info?.['context'] === 'js'),
  }
}

/**
 * Names of an assistant's input fields (`GET /assistants/{id}/schemas`, `input_schema.properties`).
 * @returns an empty list when the graph has no input schema, undefined when the server does not answer
 */
export async function getInputKeys(
  connection: A2aConnection,
  assistantId: string,
  options: CallOptions,
): Promise<string[] | undefined> {
  const schemas = await tryGet(connection, `/assistants/${encodeURIComponent(assistantId)}/schemas`, options)
  if (schemas === undefined || !('input_schema' in schemas)) return undefined
  const input = schemas['input_schema']
  return isObject(input) && isObject(input['properties']) ? Object.keys(input['properties']) : []
}

async function tryGet(
  connection: A2aConnection,
  path: string,
  options: CallOptions,
): Promise<Record<string, unknown> | undefined> {
  const { transport } = connection
  try {
    const response = await transport.send({
      method: 'GET',
      url: join(connection.url, path),
      headers: connection.headers,
      timeoutMs: Math.max(1, options.deadline - transport.clock.now()),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    })
    const body = response.json()
    return isObject(body) ? { ...body } : undefined
  } catch (error) {
    // It is asked only to explain a failure that is known already.
    if (transport.signal.aborted || options.signal?.aborted === true) throw error
    return undefined
  }
}
