/**
 * Ends every text that was cut. `runner/` looks for it when it redacts: in front of it may stand the first
 * half of a secret.
 */
export const CUT_MARK = ' … (cut, '

/**
 * The text, or its first part with a note of the whole length.
 * @param max characters (UTF-16 units) to keep
 */
export function shorten(text: string, max: number): string {
  if (text.length <= max) return text
  // Half of a surrogate pair is no character.
  const end = /[\ud800-\udbff]/.test(text.charAt(max - 1)) ? max - 1 : max
  return `${text.slice(0, end)}${CUT_MARK}${text.length} characters)`
}
