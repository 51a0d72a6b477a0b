/** A stretch of time in one status, in milliseconds since 1970. */
export interface Stretch {
  readonly status: string
  readonly startMs: number
  readonly endMs: number
}

/** More rows than this say nothing to a reader. */
const MAX_ROWS = 40

/** Statements of Mermaid's gantt grammar and its task tags: a row must not begin with one. */
const KEYWORD =
  /^(acc|active|axis|call|click|comment|crit|date|done|excludes|gantt|href|inclusive|includes|milestone|section|tick|title|today|top|vert|week)/i

/**
 * A Mermaid gantt of the statuses one after the other, each row with the time spent in it, counted from the
 * first start. Statuses are remote text: only letters, digits, `-` and `_` are left of them.
 * @returns the diagram's source; '' when there is nothing to draw
 */
export function gantt(title: string, timeline: readonly Stretch[]): string {
  const first = timeline[0]
  if (first === undefined) return ''
  const zero = first.startMs
  const end = Math.max(...timeline.map((stretch) => stretch.endMs))
  const rows = timeline.slice(0, MAX_ROWS).map((stretch, index) => {
    const start = Math.max(0, Math.round(stretch.startMs - zero))
    const stop = Math.max(start + 1, Math.round(stretch.endMs - zero))
    const tag = /FAIL|SKIPPED|INTERRUPTED/.test(stretch.status) ? 'crit' : 'done'
    return `    ${rowName(stretch.status)} ${duration(stretch.endMs - stretch.startMs)} :${tag}, s${index}, ${start}, ${stop}`
  })
  return [
    'gantt',
    `    title ${plain(title)}`,
    '    dateFormat x',
    // Ticks of minutes and seconds would all read 00:00 in a timeline of a few seconds.
    `    axisFormat ${end - zero < 10_000 ? '%S.%L' : '%M:%S'}`,
    '    todayMarker off',
    ...rows,
  ].join('\n')
}

/** Milliseconds for a reader: `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return `${minutes} min${whole % 60 === 0 ? '' : ` ${whole % 60} s`}`
  return `${Math.floor(minutes / 60)} h${minutes % 60 === 0 ? '' : ` ${minutes % 60} min`}`
}

function rowName(status: string): string {
  const name = status
    .replace(/[^\w-]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 40)
  return name === '' || KEYWORD.test(name) ? `status ${name}`.trim() : name
}

function plain(text: string): string {
  return text
    .replace(/[^\w .-]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 80)
}
