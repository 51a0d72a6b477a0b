import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, posix, relative, resolve, sep } from 'node:path'
import { InputError } from '../../base/errors.ts'
import { isMissing } from './fs-error.ts'

/** The folder to upload and where its config is. */
export interface Source {
  /** The archive's root, absolute and without links. */
  readonly root: string
  /** `GITHUB_WORKSPACE`, absolute and without links. */
  readonly workspace: string
  /** Below the root, with `/`, without `.` and `..`. */
  readonly configPath: string
  /** The input `source-path` for messages: relative to the workspace where it lies in it. */
  readonly shown: string
}

/**
 * Finds the folder that `source-path` names.
 * @param options.sourcePath relative to the workspace, or absolute
 * @param options.configPath relative to `sourcePath`
 * @throws InputError when the folder is not there, or the config lies outside of it
 */
export async function resolveSource(options: {
  sourcePath: string
  configPath: string
  workspace: string
}): Promise<Source> {
  const { sourcePath, workspace } = options
  const folder = resolve(workspace, sourcePath)
  const way = relative(resolve(workspace), folder).split(sep).join('/')
  const shown = way === '' ? '.' : way.startsWith('../') || isAbsolute(way) ? sourcePath : way
  const root = await realFolder(folder)
  if (root === undefined) {
    throw new InputError(
      [
        {
          input: 'source-path',
          message: `"${shown}" is not a folder in the workspace (${resolve(workspace)})`,
        },
      ],
      { hint: 'Paths are relative to the workspace. Does an actions/checkout step run before this one?' },
    )
  }
  const configPath = posix.normalize(options.configPath.replaceAll('\\', '/')).replace(/(?<=.)\/$/, '')
  if (/^(\/|[A-Za-z]:\/|\.\.(\/|$))/.test(configPath)) {
    throw new InputError(
      [
        {
          input: 'config-path',
          message: `"${options.configPath}" lies outside source-path "${shown}": expected a path relative to it`,
        },
      ],
      { hint: 'Choose a source-path that holds the langgraph.json: the archive is made from that folder.' },
    )
  }
  return { root, workspace: (await realFolder(workspace)) ?? root, configPath, shown }
}

async function realFolder(path: string): Promise<string | undefined> {
  try {
    const real = await realpath(path)
    return (await stat(real)).isDirectory() ? real : undefined
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
