import { readFile, stat } from 'node:fs/promises'
import { posix, relative, resolve, sep } from 'node:path'
import { InputError, type InputFault } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { isMissing } from './fs-error.ts'
import { isAtOrBelow } from './git-ignore.ts'
import type { Source } from './source.ts'

/** What the rest of a deploy must know of a `langgraph.json`. */
export interface LanggraphJson {
  /** The config's path in the archive, with `/`: `langgraph_config_path` of the request. */
  readonly configPath: string
  readonly graphs: readonly string[]
  /** `http.disable_a2a`. */
  readonly disableA2a: boolean
}

/** What stands before the colon is a file, not a Python module: the official CLI tells them apart by a slash. */
const IS_FILE = /[\\/]|\.(py|[cm]?[jt]sx?)$/

/**
 * Reads the config of an archive and checks it against what the archive holds, before anything is created.
 * @param source the folder and the config's path, as `resolveSource` gives them
 * @param paths the paths of all files that go into the archive
 * @throws InputError naming everything that is wrong: a config that is missing, left out or no JSON, graphs
 *   that point to no file of the archive, dependencies outside the folder
 */
export async function readLanggraphJson(
  source: Source,
  paths: ReadonlySet<string>,
  log: Log,
): Promise<LanggraphJson> {
  const config = parse(await readConfig(source, paths), source)
  const faults: InputFault[] = []
  const check = new Check(source, paths, faults)
  const graphs = await check.graphs(config['graphs'])
  await check.dependencies(config['dependencies'])
  if (faults.length > 0) {
    throw new InputError(faults, {
      hint: `Correct ${source.configPath}, or the inputs source-path and config-path. Paths in it are relative to the folder that it lies in.`,
    })
  }
  const env = config['env']
  if (typeof env === 'string' && !paths.has(check.below(env) ?? '')) {
    log.notice(
      `The env file "${env}" that ${source.configPath} names is not uploaded: give its values as \`secrets\` or \`env-vars\`.`,
    )
  }
  const http = config['http']
  return {
    configPath: source.configPath,
    graphs,
    disableA2a: isObject(http) && http['disable_a2a'] === true,
  }
}

async function readConfig(source: Source, paths: ReadonlySet<string>): Promise<string> {
  const { configPath } = source
  const file = resolve(source.root, configPath)
  let text: string | undefined
  try {
    if ((await stat(file)).isFile()) text = await readFile(file, 'utf8')
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  if (text !== undefined && paths.has(configPath)) return text
  if (text !== undefined) {
    throw configFault(
      `"${configPath}" is there, but is left out of the archive (.gitignore, .dockerignore)`,
      `Add a line \`!${configPath}\` to the .dockerignore of source-path (\`!**\` where git ignores the whole folder): it brings back what git ignores.`,
    )
  }
  const others = [...paths].filter((path) => posix.basename(path) === posix.basename(configPath)).slice(0, 5)
  throw configFault(
    `"${configPath}" is not a file in source-path "${source.shown}"`,
    others.length > 0
      ? `There is ${others.map((path) => `"${path}"`).join(', ')}: config-path is relative to source-path.`
      : 'Give the folder of the agent as source-path and the path of its langgraph.json below that folder as config-path. Does an actions/checkout step run before this one?',
  )
}

function parse(text: string, source: Source): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    // The parser's message quotes the text, which may hold values of `env`.
    throw configFault(
      `"${source.configPath}" is not JSON${placeOf(text, error)}`,
      'Comments and commas after the last member are not JSON.',
    )
  }
  if (isObject(value)) return value
  throw configFault(`"${source.configPath}" is not a JSON object`, 'It begins with { and names the graphs.')
}

/** ` (line 3, column 7)`, where the parser tells the position. */
function placeOf(text: string, error: unknown): string {
  const position = /at position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1]
  if (position === undefined) return ''
  const before = text.slice(0, Number(position)).split('\n')
  return ` (line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1})`
}

function configFault(message: string, hint: string): InputError {
  return new InputError([{ input: 'config-path', message }], { hint })
}

class Check {
  readonly #source: Source
  readonly #paths: ReadonlySet<string>
  readonly #faults: InputFault[]

  constructor(source: Source, paths: ReadonlySet<string>, faults: InputFault[]) {
    this.#source = source
    this.#paths = paths
    this.#faults = faults
  }

  /** A path of the config as a path in the archive; absent when it lies outside. */
  below(path: string): string | undefined {
    if (/^([\\/]|[A-Za-z]:[\\/])/.test(path)) return undefined
    const joined = posix.join(posix.dirname(this.#source.configPath), path.replaceAll('\\', '/'))
    const clean = joined.replace(/(?<=.)\/$/, '')
    return clean === '..' || clean.startsWith('../') ? undefined : clean
  }

  async graphs(graphs: unknown): Promise<readonly string[]> {
    if (!isObject(graphs) || Object.keys(graphs).length === 0) {
      this.#fault('has no "graphs": expected an object such as {"agent": "./agent.py:graph"}')
      return []
    }
    for (const [name, graph] of Object.entries(graphs)) {
      const path = isObject(graph) ? graph['path'] : graph
      const written = typeof path === 'string' ? /^(.+?):([^:\\/]+)$/.exec(path) : null
      if (typeof path !== 'string') {
        this.#fault(`graph ${show(name)}: expected "./file.py:variable", or an object with such a "path"`)
      } else if (written?.[1] === undefined) {
        this.#fault(`graph ${show(name)} is ${show(path)}: expected "./file.py:variable"`)
      } else if (IS_FILE.test(written[1])) {
        await this.#file(`graph ${show(name)}`, written[1])
      }
    }
    return Object.keys(graphs)
  }

  /** Local ones begin with a dot; the official CLI takes all others for packages. */
  async dependencies(dependencies: unknown): Promise<void> {
    if (!Array.isArray(dependencies)) return
    const outside: string[] = []
    for (const dependency of dependencies as unknown[]) {
      if (typeof dependency !== 'string' || !dependency.startsWith('.')) continue
      const below = this.below(dependency)
      if (below === undefined) outside.push(dependency)
      else await this.#folder(dependency, below)
    }
    if (outside.length > 0) this.#outside(outside)
  }

  async #file(what: string, written: string): Promise<void> {
    const path = this.below(written)
    if (path === undefined) {
      this.#fault(`${what} points out of source-path: ${show(written)}`)
    } else if (!this.#paths.has(path)) {
      const found = await kindOf(resolve(this.#source.root, path))
      const why =
        found === 'file'
          ? 'a file that is left out of the archive (.gitignore, .dockerignore, or what looks like a secret)'
          : found === 'folder'
            ? 'a folder, not a file'
            : 'nothing: no such file'
      this.#fault(`${what} points to ${show(path)}, which is ${why}`)
    }
  }

  async #folder(written: string, path: string): Promise<void> {
    const found = await kindOf(resolve(this.#source.root, path))
    if (found !== 'folder') {
      const why = found === 'file' ? 'is a file, not a folder' : 'is not there'
      this.#fault(`dependency ${show(written)} ${why}`)
    } else if (path !== '.' && ![...this.#paths].some((each) => each.startsWith(`${path}/`))) {
      this.#fault(`dependency ${show(written)} has no file in the archive (.gitignore, .dockerignore)`)
    }
  }

  /** Says which inputs would hold the dependencies too. */
  #outside(dependencies: readonly string[]): void {
    const { root, workspace, configPath } = this.#source
    const config = resolve(root, configPath)
    const folders = dependencies.map((each) => resolve(config, '..', each))
    let common = root
    while (!folders.every((folder) => isAtOrBelow(folder, common))) common = resolve(common, '..')
    const names = dependencies.map(show).join(', ')
    if (!isAtOrBelow(common, workspace)) {
      this.#fault(
        `dependency ${names} lies outside the workspace: check out what it belongs to below it, or publish it as a package`,
      )
      return
    }
    const slashes = (path: string): string => (path === '' ? '.' : path.split(sep).join('/'))
    this.#fault(
      `dependency ${names} lies outside source-path "${this.#source.shown}" and would be missing: use source-path: ${slashes(relative(workspace, common))} and config-path: ${slashes(relative(common, config))}`,
    )
  }

  #fault(message: string): void {
    this.#faults.push({ input: 'config-path', message: `"${this.#source.configPath}": ${message}` })
  }
}

function show(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text)
}

async function kindOf(path: string): Promise<'file' | 'folder' | 'nothing'> {
  try {
    const found = await stat(path)
    return found.isDirectory() ? 'folder' : 'file'
  } catch (error) {
    if (isMissing(error)) return 'nothing'
    throw error
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
