/** The parts of an image's name, as Docker reads it. */
export interface ImageName {
  /** Registry and path: `registry.example.com:5000/team/agent`. */
  readonly repository: string
  readonly tag: string | undefined
  /** `sha256:…`. */
  readonly digest: string | undefined
}

const REPOSITORY =
  /^([A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\d+)?\/|\[[0-9A-Fa-f:]+\](?::\d+)?\/)?[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$/
const TAG = /^\w[\w.-]{0,127}$/
const DIGEST = /^[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[0-9a-fA-F]{32,}$/

/**
 * Splits an image's name by the grammar of references (distribution/reference).
 * @returns nothing when it is not one
 */
export function parseImageName(text: string): ImageName | undefined {
  const at = text.indexOf('@')
  const digest = at < 0 ? undefined : text.slice(at + 1)
  const name = at < 0 ? text : text.slice(0, at)
  const colon = name.indexOf(':', name.lastIndexOf('/') + 1)
  const tag = colon < 0 ? undefined : name.slice(colon + 1)
  const repository = colon < 0 ? name : name.slice(0, colon)
  if (!REPOSITORY.test(repository)) return undefined
  if (tag !== undefined && !TAG.test(tag)) return undefined
  if (digest !== undefined && !DIGEST.test(digest)) return undefined
  return { repository, tag, digest }
}

/**
 * Judges the input `image-uri`: a name without tag and digest would mean `latest` without saying so.
 * @returns a sentence for an `InputFault`, or nothing where it is right
 */
export function checkImageUri(text: string): string | undefined {
  const shown = JSON.stringify(text)
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text))
    return `${shown} begins with a scheme: expected registry/path:tag or registry/path@sha256:…, without it`
  const name = parseImageName(text)
  if (name === undefined)
    return `${shown} is not the name of an image: expected registry/path:tag or registry/path@sha256:… (lower case)`
  if (name.tag === undefined && name.digest === undefined)
    return `${shown} has neither tag nor digest: add the tag or, better, the digest (@sha256:…) that the build step printed`
  return undefined
}

/**
 * What to warn of in an `image-uri` that is right.
 * @returns a sentence, or nothing where the image is pinned by its digest
 */
export function imageUriWarning(text: string): string | undefined {
  const name = parseImageName(text)
  if (name === undefined || name.digest !== undefined) return undefined
  if (name.tag === 'latest')
    return `image-uri ${text} is a moving tag: another push changes what a restart or a rollback runs. Give its digest (@sha256:…).`
  return `image-uri ${text} is not pinned by digest: a push to the same tag changes what a restart or a rollback runs. Give its digest (@sha256:…).`
}
