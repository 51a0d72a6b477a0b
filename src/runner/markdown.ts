import { strip } from './neutralise.ts'

/** What GitHub turns into a link by itself; shown as code instead, whole and dead. */
const URLS = /(?:\b[a-z][a-z0-9+.-]{0,30}:\/\/|\bwww\.)[\w\-.~:/?#@!$&'()*+,;=%]*[\w\-~/#=%&+]/gi

/**
 * Any text as one inert line of GitHub's Markdown: no markup, no HTML, no image, no link, no mention, no
 * cell border. Line ends become `<br>`. Words with inner underscores (`BUILD_FAILED`) stay as they are.
 */
function escapeMarkdown(text: string): string {
  const clean = strip(text).toWellFormed().trim()
  let out = ''
  let at = 0
  for (const match of clean.matchAll(URLS)) {
    out += `${escapeWords(clean.slice(at, match.index))}\`${match[0]}\``
    at = match.index + match[0].length
  }
  return (out + escapeWords(clean.slice(at))).replaceAll('\n', '<br>')
}

export { escapeMarkdown, escapeMarkdown as escape }

function escapeWords(text: string): string {
  return (
    text
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('`', '&#x60;')
      .replace(/[\\*[\]|~]/g, '\\$&')
      .replace(/(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, '\\_')
      // Formulas, mentions and issue numbers are found after the Markdown was read: an escape does not hide them.
      .replaceAll('$', '<span>$</span>')
      .replace(/@(?=\w)/g, '@\u200b')
      .replace(/#(?=\d)/g, '#\u200b')
      // Headings, lists and rules at the start of a line.
      .replace(/(^|\n)([ \t]*)([#+\-=]|\d+(?=[.)]))/g, (_, start: string, space: string, mark: string) =>
        /\d/.test(mark) ? `${start}${space}${mark}\u200b` : `${start}${space}\\${mark}`,
      )
  )
}

/** A sentence of ours: as `escape`, but what stands between backticks is code, and as inert as the rest. */
export function sentence(text: string): string {
  return text
    .split(/`([^`\n]+)`/)
    .map((part, index) => (index % 2 === 1 ? code(part) : escapeKeepingEnds(part)))
    .join('')
}

/** `escape` trims, which would glue the words to the code beside them. */
function escapeKeepingEnds(text: string): string {
  const before = /^\s/.test(text) ? ' ' : ''
  const after = text.trim() !== '' && /\s$/.test(text) ? ' ' : ''
  return `${before}${escapeMarkdown(text)}${after}`
}

/** A cell of a table: as `escape`; never empty, so that the table keeps its shape. */
export function cell(text: string): string {
  const escaped = escapeMarkdown(text)
  return escaped === '' ? '–' : escaped
}

/** One line of code, for an id or a word; in a table too. */
export function code(text: string): string {
  const clean = strip(text).toWellFormed().replace(/\s+/g, ' ').trim().replaceAll('|', '\\|')
  if (clean === '') return '–'
  const ticks = '`'.repeat(longestRun(clean) + 1)
  return ticks === '`' ? `\`${clean}\`` : `${ticks} ${clean} ${ticks}`
}

/** A code block that the text cannot end. */
export function fence(text: string, language = ''): string {
  const clean = strip(text).toWellFormed().replace(/\n+$/, '')
  const ticks = '`'.repeat(Math.max(3, longestRun(clean) + 1))
  return `${ticks}${language}\n${clean}\n${ticks}`
}

/** A link; only to `https:` and `http:`, anything else stays text. */
export function link(text: string, url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return escapeMarkdown(text)
  const target = new URL(url).href.replace(
    /[()<>|`\\*_\s]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )
  // A URL as its own text would become code in a link: the same characters, without the code.
  const label = escapeMarkdown(text).replace(/`/g, '')
  return `[${label}](${target})`
}

/** A table of cells that are Markdown already (`cell`, `code`, `link`). */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/** A part that opens on a click. */
export function details(title: string, markdown: string): string {
  return `<details><summary>${escapeMarkdown(title)}</summary>\n\n${markdown}\n\n</details>`
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length))
}
