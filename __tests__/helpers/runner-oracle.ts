/**
 * What the job's runner makes of a step's streams and files: a port of its own parsers (actions/runner at
 * 2.336: src/Runner.Common/ActionCommand.cs, src/Runner.Worker/ActionCommandManager.cs and
 * FileCommandManager.cs, src/Sdk/DTLogging/Logging/*.cs). Written from these, not from `src/runner/`, so that
 * one wrong belief cannot hide in both.
 */

/** Limits of the real thing. */
export const LIMITS = {
  /** Annotations of one type per step; more stay in the log only. */
  annotations: 10,
  /** Characters of an annotation's message. */
  message: 4096,
  /** Bytes of a step's summary; above, none of it is shown. */
  summary: 1024 * 1024,
}

const COMMANDS = [
  'set-env',
  'set-output',
  'save-state',
  'add-mask',
  'add-path',
  'add-matcher',
  'remove-matcher',
  'debug',
  'warning',
  'error',
  'notice',
  'group',
  'endgroup',
  'echo',
  'internal-set-repo-path',
  'stop-commands',
]

export interface Command {
  readonly name: string
  readonly properties: Readonly<Record<string, string>>
  readonly data: string
}

export interface Annotation {
  readonly type: 'error' | 'warning' | 'notice'
  readonly title: string
  readonly message: string
}

export interface StepLog {
  /** Every command that the runner would run, in order: what we meant, and what a hostile text managed. */
  readonly executed: readonly Command[]
  readonly annotations: readonly Annotation[]
  /** What a person sees: lines that are no command, annotations and groups, all masked from registration on. */
  readonly visible: string
  readonly masker: Masker
}

/**
 * Reads what a process printed. stdout and stderr are read alike, line by line.
 * @param secrets values that the job knows already (`secrets.X`)
 */
export function readLog(stdout: string, stderr: string, secrets: readonly string[] = []): StepLog {
  const executed: Command[] = []
  const annotations: Annotation[] = []
  const visible: string[] = []
  const masker = new Masker(secrets)
  const names = new Set(COMMANDS)
  let stopped: string | undefined
  for (const line of [...splitLines(stdout), ...splitLines(stderr)]) {
    const command = parseCommand(line, names)
    if (command === undefined || (stopped !== undefined && command.name !== stopped)) {
      visible.push(masker.mask(line))
      continue
    }
    executed.push(command)
    if (command.name === stopped) {
      names.delete(stopped)
      stopped = undefined
    } else if (command.name === 'stop-commands') {
      stopped = command.data.toLowerCase()
      names.add(stopped)
    } else if (command.name === 'add-mask') masker.add(command.data)
    else if (command.name === 'group') visible.push(`▾ ${masker.mask(command.data)}`)
    else if (isAnnotation(command.name)) {
      const message = masker.mask(command.data)
      visible.push(`##[${command.name}]${message}`)
      if (annotations.filter((one) => one.type === command.name).length < LIMITS.annotations) {
        annotations.push({
          type: command.name,
          title: masker.mask(command.properties['title'] ?? ''),
          message: message.slice(0, LIMITS.message),
        })
      }
    } else if (command.name === 'debug') visible.push(`##[debug]${masker.mask(command.data)}`)
  }
  return { executed, annotations, visible: visible.join('\n'), masker }
}

function isAnnotation(name: string): name is Annotation['type'] {
  return name === 'error' || name === 'warning' || name === 'notice'
}

/** .NET's StreamReader.ReadLine: LF, CRLF and a lone CR end a line. */
export function splitLines(text: string): string[] {
  const lines = text.split(/\r\n|\n|\r/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** ActionCommandManager.TryProcessCommand: the new form first, then the old one. */
export function parseCommand(
  line: string,
  names: ReadonlySet<string> = new Set(COMMANDS),
): Command | undefined {
  return (
    parseV2(line, names, ordinal) ??
    parseV1(line, names, ordinal) ??
    parseV2(line, names, byCulture) ??
    parseV1(line, names, byCulture)
  )
}

type IndexOf = (text: string, part: string, from: number) => number

const ordinal: IndexOf = (text, part, from) => text.indexOf(part, from)

/** `IndexOf(string)` without StringComparison.Ordinal passes over characters that have no weight. */
const byCulture: IndexOf = (text, part, from) => {
  const between = '[\\p{Cc}\\p{Cf}\\p{Mn}\\p{Default_Ignorable_Code_Point}]*'
  const escaped = [...part].map((char) => `\\${char}`.replace('\\#', '#').replace('\\:', ':'))
  const match = new RegExp(escaped.join(between), 'u').exec(text.slice(from))
  return match === null ? -1 : from + match.index
}

/** Char.IsWhiteSpace, which TrimStart takes away. U+200B and U+FEFF are not among them; U+0085 is. */
const DOTNET_SPACE = /^[\t-\r\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/

/** `::name key=value,key=value::data` */
function parseV2(text: string, names: ReadonlySet<string>, indexOf: IndexOf): Command | undefined {
  const message = text.replace(DOTNET_SPACE, '')
  const ignored = indexOf === byCulture ? /^[\p{Cc}\p{Cf}\p{Mn}\p{Default_Ignorable_Code_Point}]*/u : /^/
  const start = ignored.exec(message)?.[0].length ?? 0
  if (indexOf(message, '::', 0) !== start) return undefined
  const end = indexOf(message, '::', 2)
  if (end < 0) return undefined
  const info = message.slice(2, end)
  const space = info.indexOf(' ')
  const name = (space < 0 ? info : info.slice(0, space)).toLowerCase()
  if (!names.has(name)) return undefined
  return {
    name,
    properties: space > 0 ? readProperties(info.slice(space + 1).trim(), ',', unescapeProperty) : {},
    data: unescapeData(message.slice(end + 2)),
  }
}

/** `##[name key=value;key=value]data`, anywhere in the line */
function parseV1(message: string, names: ReadonlySet<string>, indexOf: IndexOf): Command | undefined {
  const prefix = indexOf(message, '##[', 0)
  if (prefix < 0) return undefined
  const end = message.indexOf(']', prefix)
  if (end < 0 || end < prefix + 3) return undefined
  const info = message.slice(prefix + 3, end)
  const space = info.indexOf(' ')
  const name = (space < 0 ? info : info.slice(0, space)).toLowerCase()
  if (!names.has(name)) return undefined
  return {
    name,
    properties: space > 0 ? readProperties(info.slice(space + 1), ';', unescapeOld) : {},
    data: unescapeOld(message.slice(end + 1)),
  }
}

function readProperties(
  text: string,
  separator: string,
  decode: (text: string) => string,
): Record<string, string> {
  const properties: Record<string, string> = {}
  for (const pair of text.split(separator)) {
    const at = pair.indexOf('=')
    if (at > 0 && at < pair.length - 1) properties[pair.slice(0, at)] = decode(pair.slice(at + 1))
  }
  return properties
}

function replacer(pairs: readonly (readonly [string, string])[]): (text: string) => string {
  return (text) => pairs.reduce((out, [from, to]) => out.replaceAll(from, to), text)
}

const LINE_ENDS = [
  ['%0D', '\r'],
  ['%0A', '\n'],
] as const
const unescapeData = replacer([...LINE_ENDS, ['%25', '%']])
const unescapeProperty = replacer([...LINE_ENDS, ['%3A', ':'], ['%2C', ','], ['%25', '%']])
const unescapeOld = replacer([['%3B', ';'], ...LINE_ENDS, ['%5D', ']'], ['%25', '%']])

/**
 * EnvFileKeyValuePairs: GITHUB_OUTPUT, GITHUB_STATE, GITHUB_ENV.
 * @throws Error where the real one fails the step
 */
export function readKeyValues(text: string, windows = process.platform === 'win32'): Record<string, string> {
  const pairs: Record<string, string> = {}
  let index = 0
  const readLine = (): { line: string; newline: string } | undefined => {
    if (index >= text.length) return undefined
    const start = index
    const end = text.indexOf('\n', index)
    if (end < 0) {
      index = text.length
      return { line: text.slice(start), newline: '' }
    }
    index = end + 1
    if (windows && end > start && text[end - 1] === '\r')
      return { line: text.slice(start, end - 1), newline: '\r\n' }
    return { line: text.slice(start, end), newline: '\n' }
  }
  for (let read = readLine(); read !== undefined; read = readLine()) {
    const { line } = read
    if (line === '') continue
    const equals = line.indexOf('=')
    const heredoc = line.indexOf('<<')
    if (equals >= 0 && (heredoc < 0 || equals < heredoc)) {
      pairs[line.slice(0, equals)] = line.slice(equals + 1)
    } else if (heredoc >= 0) {
      const name = line.slice(0, heredoc)
      const delimiter = line.slice(heredoc + 2)
      if (name === '' || delimiter === '') throw new Error(`Invalid format '${line}'`)
      const start = index
      let end = index
      for (let next = readLine(); next?.line !== delimiter; next = readLine()) {
        if (next === undefined) throw new Error(`Invalid value. Matching delimiter not found '${delimiter}'`)
        if (next.newline === '') throw new Error('Invalid value. EOF marker missing new line.')
        end = index - next.newline.length
      }
      pairs[name] = text.slice(start, Math.max(start, end))
    } else throw new Error(`Invalid format '${line}'`)
  }
  return pairs
}

/** SecretMasker with the encoders that HostContext adds. */
export class Masker {
  readonly #values = new Set<string>()
  /** What was registered, without what was derived from it. */
  readonly registered: string[] = []

  constructor(secrets: readonly string[] = []) {
    for (const secret of secrets) this.add(secret)
  }

  add(value: string): void {
    if (value.trim() === '') return
    this.registered.push(value)
    const lines = value
      .split(/[\r\n]/)
      .map((line) => line.trim())
      .filter((line) => line !== '')
    for (const one of [value, ...lines])
      for (const form of derived(one)) if (form !== '') this.#values.add(form)
  }

  mask(text: string): string {
    const ranges: [number, number][] = []
    for (const value of this.#values) {
      for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1))
        ranges.push([at, at + value.length])
    }
    ranges.sort(([a], [b]) => a - b)
    let out = ''
    let done = 0
    let open: [number, number] | undefined
    for (const range of [...ranges, [Number.POSITIVE_INFINITY, 0] as [number, number]]) {
      if (open !== undefined && range[0] <= open[1]) {
        open[1] = Math.max(open[1], range[1])
        continue
      }
      if (open !== undefined) {
        out += `${text.slice(done, open[0])}***`
        done = open[1]
      }
      open = [...range]
    }
    return out + text.slice(done)
  }
}

function derived(value: string): string[] {
  const bytes = Buffer.from(value)
  const shifted = (by: number): string => (bytes.length > by ? bytes.subarray(by) : bytes).toString('base64')
  const xml = { '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;', '&': '&amp;' }
  return [
    value,
    shifted(0),
    shifted(1),
    shifted(2),
    value.replaceAll('"', '\\"'),
    value.replaceAll("'", "''"),
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value.toWellFormed()).replace(
      /[!'()*]/g,
      (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
    ),
    value.replace(/[<>"'&]/g, (char) => xml[char as keyof typeof xml]),
    value.length > 8 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : '',
  ]
}

/** Texts that run a command, or fail the step, when they are printed as they are. */
export const HOSTILE = [
  '::add-mask::pwned',
  '  \t::set-output name=pwned::1',
  '\u00a0\u2003::error::pwned',
  '\u0085::warning::pwned',
  '\u2028::notice::pwned',
  'a\r::add-mask::pwned',
  'a\r\n::stop-commands::pwned-token',
  'progress 5%\r##[add-mask]pwned',
  'text ##[set-output name=pwned]1',
  '> ##[error]pwned',
  '##[add-matcher]pwned',
  '##[set-env name=PWNED]1',
  '\u001b[31m::add-mask::pwned\u001b[0m',
  '\u0000::add-mask::pwned',
  ':\u0000:add-mask::pwned',
  '#\u001b[0m#[add-mask]pwned',
  '#\u0000#[add-mask]pwned',
  '\u200b::add-mask::pwned',
  '\ufeff::group::pwned',
  '::Add-Mask::pwned',
  '::echo::on',
  '::save-state name=pwned::1',
] as const
