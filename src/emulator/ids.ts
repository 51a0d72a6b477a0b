import { createHash, randomBytes, randomUUID } from 'node:crypto'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function newId(): string {
  return randomUUID()
}

export function isUuid(text: string): boolean {
  return UUID.test(text)
}

/** A key that looks like a service's personal token, so that redaction is tried on the real shape. */
export function newApiKey(): string {
  return `lsv2_pt_${randomBytes(16).toString('hex')}_${randomBytes(5).toString('hex')}`
}

/** An unguessable token of so many bytes, base64url: signatures and push tokens. */
export function newToken(bytes = 24): string {
  return randomBytes(bytes).toString('base64url')
}

/** 40 hex digits that are always the same for the same text: the head of a branch that nobody has scripted. */
export function stableSha(text: string): string {
  return createHash('sha1').update(text).digest('hex')
}

/** 64 hex digits of the same kind, for image digests. */
export function stableDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
