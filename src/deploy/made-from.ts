import type { SourceRevisionConfig } from '../clients/control-plane/wire.ts'
import { parseImageName } from './docker/image-uri.ts'
import type { Mapping } from './settings.ts'

/**
 * Whether a revision says that it was made from something else than was sent. Answers may show what was sent as
 * resolved (a tag with its digest, an image that was mirrored, an object's full path): only what contradicts it
 * for certain counts.
 * @param sent `source_revision_config` of the request
 * @param shown the same of the revision's answer
 * @returns what differs, in words; undefined when nothing does for certain
 */
export function madeFromOther(sent: Mapping, shown: SourceRevisionConfig): 'image' | 'archive' | undefined {
  const { image_uri: image, source_tarball_path: path } = shown
  if (otherImage(sent['image_uri'], image)) return 'image'
  return otherPath(sent['source_tarball_path'], path) ? 'archive' : undefined
}

/** Another tag or another digest of the same repository. */
function otherImage(sent: unknown, shown: unknown): boolean {
  const [want, have] = [parse(sent), parse(shown)]
  if (want === undefined || have === undefined || want.repository !== have.repository) return false
  if (want.digest !== undefined && have.digest !== undefined) return want.digest !== have.digest
  return want.tag !== undefined && have.tag !== undefined && want.tag !== have.tag
}

function parse(image: unknown): ReturnType<typeof parseImageName> {
  return typeof image === 'string' ? parseImageName(image) : undefined
}

function otherPath(sent: unknown, shown: unknown): boolean {
  if (typeof sent !== 'string' || typeof shown !== 'string' || shown === '') return false
  return !shown.endsWith(sent) && !sent.endsWith(shown)
}
