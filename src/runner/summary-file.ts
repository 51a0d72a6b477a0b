import { summary } from '@actions/core'
import type { SummaryText } from './runner.ts'
import type { Secrets } from './secrets.ts'

/** GitHub refuses a step's summary above 1 MiB as a whole; ours stays far below. In bytes. */
const MAX_BYTES = 512 * 1024
const NOTE = '\n\n_The summary was cut here, at 512 KiB._\n'

/** The job summary: collected, redacted, cut, and written once in the end. */
export class SummaryFile implements SummaryText {
  readonly #secrets: Secrets
  readonly #parts: string[] = []

  constructor(secrets: Secrets) {
    this.#secrets = secrets
  }

  /** Adds a block of Markdown. Remote text in it is escaped by the caller. */
  append(markdown: string): void {
    this.#parts.push(this.#secrets.redact(markdown))
  }

  /** Appends what was collected to GITHUB_STEP_SUMMARY; nothing happens where there is no such file. */
  async write(): Promise<void> {
    if (this.#parts.length === 0 || (process.env['GITHUB_STEP_SUMMARY'] ?? '') === '') return
    const text = cutMarkdown(`${this.#parts.splice(0).join('\n\n')}\n`, MAX_BYTES)
    await summary.addRaw(text).write()
  }
}

/**
 * The first lines of a Markdown text that fit; what they leave open (a code block, a folded part) is closed.
 * @param maxBytes of the result, counted in UTF-8
 */
export function cutMarkdown(markdown: string, maxBytes: number): string {
  if (Buffer.byteLength(markdown) <= maxBytes) return markdown
  // Room for the note and for closing; a fence is as long as it likes, so it is cut to what it was.
  const budget = maxBytes - Buffer.byteLength(NOTE) - 200
  const kept: string[] = []
  let size = 0
  let fence = ''
  let open = 0
  for (const line of markdown.split('\n')) {
    size += Buffer.byteLength(line) + 1
    if (size > budget) break
    kept.push(line)
    const ticks = /^`{3,}/.exec(line)?.[0] ?? ''
    if (fence === '' && ticks !== '' && ticks.length < 100) fence = ticks
    else if (fence !== '' && line === fence) fence = ''
    else if (fence === '' && line.startsWith('<details>')) open++
    else if (fence === '' && line.startsWith('</details>')) open--
  }
  const closing = `${fence === '' ? '' : `\n${fence}`}${'\n\n</details>'.repeat(Math.max(0, open))}`
  return `${kept.join('\n')}${closing}${NOTE}`
}
