/** How much of a text is printed, and what stands in front of each line. */
export interface LogLimits {
  /** Lines; when there are more, the first tenth and the rest from the end are kept. Absent: 2000. */
  readonly lines?: number
  /** Characters of a line. Absent: 4000. */
  readonly columns?: number
  /** Put in front of every line. Absent: nothing, but for lines that would be commands. */
  readonly prefix?: string
}

/** Terminal sequences: colours and cursor moves (CSI), titles and links (OSC). */
const TERMINAL = /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b\n]*(?:\u0007|\u001b\\)?/g

/** Control characters but tab and line feed, Unicode's own line ends, and what turns the reading direction. */
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\p{Bidi_Control}\ufeff]/gu

/**
 * What .NET trims before it looks for `::`, and what it passes over when it compares by culture, as the
 * runner does (actions/runner, src/Runner.Common/ActionCommand.cs: `StartsWith`, `IndexOf` without Ordinal).
 */
const UNSEEN = '[\\s\\u0085\\p{Cc}\\p{Cf}\\p{Zs}\\p{Default_Ignorable_Code_Point}]*'
const IGNORED = '[\\p{Cc}\\p{Cf}\\p{Mn}\\p{Default_Ignorable_Code_Point}]*'
const COMMAND = new RegExp(`^${UNSEEN}:${IGNORED}:`, 'u')
const OLD_COMMAND = new RegExp(`#(${IGNORED})#(${IGNORED})\\[`, 'gu')

/**
 * Text without terminal sequences and control characters; CR, CRLF become line ends, because the runner
 * ends a line at a lone CR too.
 */
export function strip(text: string): string {
  return text.replace(TERMINAL, '').replace(/\r\n?/g, '\n').replace(CONTROL, '')
}

/**
 * Text for the job log in which the runner finds no command: it reads `::name::` at the start of a line and
 * `##[name]` anywhere in one, on stdout and stderr.
 * @param text any text; redact it before, because cutting a secret in two hides it from redaction
 * @returns lines joined by `\n`, never longer than the limits allow
 */
export function neutralise(text: string, limits: LogLimits = {}): string {
  const { lines = 2000, columns = 4000, prefix = '' } = limits
  return within(strip(text).split('\n'), lines)
    .map((line) => {
      const safe = cutLine(line, columns).replace(OLD_COMMAND, '#$1#$2\\[')
      if (prefix !== '') return prefix + safe
      return COMMAND.test(safe) ? `| ${safe}` : safe
    })
    .join('\n')
}

function within(lines: string[], limit: number): string[] {
  if (lines.length <= limit) return lines
  const head = Math.floor(limit / 10)
  const left = lines.length - limit
  return [...lines.slice(0, head), `… (${left} lines left out) …`, ...lines.slice(head + left)]
}

function cutLine(line: string, columns: number): string {
  return line.length <= columns
    ? line
    : `${line.slice(0, columns)} … (${line.length - columns} more characters)`
}
