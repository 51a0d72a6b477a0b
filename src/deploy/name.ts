/** Longer names make Kubernetes objects of more than 63 characters, and such revisions never get ready (measured by users). */
export const SELF_HOSTED_NAME_LIMIT = 21

/**
 * The service's rule for names: lower-case letters, digits, dashes, first a letter.
 * @returns what is wrong, to follow the input's name; undefined when nothing is
 */
export function nameFault(name: string): string | undefined {
  if (/^[a-z][a-z0-9-]*$/.test(name)) return undefined
  return `expected lower-case letters, digits and dashes, first a letter (such as my-agent), got "${name}". Other names fail late, after the build.`
}
