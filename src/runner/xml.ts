import { strip } from './neutralise.ts'

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/**
 * Any text as the content of an XML 1.0 element or a quoted attribute: well-formed whatever came, because
 * characters that XML does not have are taken out.
 */
export function escapeXml(text: string): string {
  return strip(text)
    .toWellFormed()
    .replace(/[\ufffe\uffff]/g, '')
    .replace(/[&<>"']/g, (char) => ENTITIES[char] ?? '')
}

/** As `escapeXml`, with line ends and tabs kept through attribute normalisation. */
export function escapeAttribute(text: string): string {
  return escapeXml(text).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;')
}
