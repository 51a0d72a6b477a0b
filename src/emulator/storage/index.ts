/**
 * Object storage for uploaded archives: a signed URL, a PUT, no key. Answers as Google's storage does
 * (XML errors, `411` without a length), because that is where the real upload URLs lead.
 */
import type { IncomingMessage } from 'node:http'
import { newId, newToken } from '../ids.ts'

/** 200 MB, the service's limit (`X-Goog-Content-Length-Range`). */
export const UPLOAD_LIMIT = 209_715_200
export const LENGTH_RANGE = `0,${UPLOAD_LIMIT}`
export const STORAGE_PREFIX = '/storage/agent-sources/'
const CONTENT_TYPE = 'application/gzip'

export interface Upload {
  id: string
  deploymentId: string
  objectPath: string
  signature: string
  /** The archive; undefined until it was put there. */
  content: Buffer | undefined
}

function xmlError(status: number, code: string, message: string): Response {
  const body = `<?xml version='1.0' encoding='UTF-8'?><Error><Code>${code}</Code><Message>${message}</Message></Error>`
  return new Response(body, { status, headers: { 'content-type': 'application/xml; charset=UTF-8' } })
}

async function readAll(request: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > limit) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

export class Uploads {
  readonly #uploads: Upload[] = []

  /** A new place for an archive of this deployment, and where to put it. */
  open(deploymentId: string, baseUrl: string): { uploadUrl: string; objectPath: string } {
    const id = newId()
    const upload: Upload = {
      id,
      deploymentId,
      objectPath: `${deploymentId}/${id}/source.tar.gz`,
      signature: newToken(32),
      content: undefined,
    }
    this.#uploads.push(upload)
    const query = `X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Expires=900&X-Goog-Signature=${upload.signature}`
    return {
      uploadUrl: `${baseUrl}${STORAGE_PREFIX}${upload.objectPath}?${query}`,
      objectPath: upload.objectPath,
    }
  }

  /** The upload behind an object path of this deployment, whether or not anything was put there. */
  find(deploymentId: string, objectPath: string): Upload | undefined {
    return this.#uploads.find(
      (upload) => upload.deploymentId === deploymentId && upload.objectPath === objectPath,
    )
  }

  byId(id: string): Upload | undefined {
    return this.#uploads.find((upload) => upload.id === id)
  }

  entries(): object[] {
    return this.#uploads.map(({ id, deploymentId, objectPath, content }) => ({
      id,
      deployment_id: deploymentId,
      object_path: objectPath,
      size: content?.length ?? null,
    }))
  }

  /** Drops the archives of a deployment that is gone. */
  forget(deploymentId: string): void {
    for (const upload of this.#uploads) if (upload.deploymentId === deploymentId) upload.content = undefined
  }

  clear(): void {
    this.#uploads.length = 0
  }

  /** Answers a request whose path begins with STORAGE_PREFIX. */
  async handle(request: IncomingMessage, url: URL): Promise<Response> {
    // Object paths are letters, digits, dashes, dots and slashes, so nobody has to escape them.
    const objectPath = url.pathname.slice(STORAGE_PREFIX.length)
    const upload = this.#uploads.find((candidate) => candidate.objectPath === objectPath)
    if (!upload) return xmlError(404, 'NoSuchKey', 'The specified key does not exist.')
    if (request.method !== 'PUT') {
      return xmlError(405, 'MethodNotAllowed', 'The specified method is not allowed against this resource.')
    }
    const signed =
      url.searchParams.get('X-Goog-Signature') === upload.signature &&
      request.headers['content-type'] === CONTENT_TYPE &&
      request.headers['x-goog-content-length-range'] === LENGTH_RANGE
    if (!signed) {
      const message =
        'Access denied. The signature covers the query, Content-Type and x-goog-content-length-range.'
      return xmlError(403, 'SignatureDoesNotMatch', message)
    }
    const length = request.headers['content-length']
    if (length === undefined) {
      return xmlError(411, 'MissingContentLength', 'You must provide the Content-Length HTTP header.')
    }
    const content = Number(length) > UPLOAD_LIMIT ? undefined : await readAll(request, UPLOAD_LIMIT)
    if (content === undefined) {
      return xmlError(400, 'EntityTooLarge', 'Your proposed upload exceeds the maximum allowed object size.')
    }
    upload.content = content
    return new Response(null, { status: 200, headers: { etag: `"${newToken(12)}"` } })
  }
}
