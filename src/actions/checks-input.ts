import { readFile, stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { InputError } from '../base/errors.ts'
import type { Runner } from '../runner/runner.ts'
import type { CheckPlan } from '../verify/checks.ts'

/** A file of checks is written by hand; what is larger is another file. */
const MAX_BYTES = 1024 * 1024

/**
 * Reads the checks of `verify` (root action) or `checks` (`verify/`): `off`, `ready`, the text itself when YAML
 * reads it as a mapping, else a file's path, relative to GITHUB_WORKSPACE. Faults go to `runner.inputs`.
 * @returns undefined for `off`, for nothing given, and after a fault
 */
export async function readChecks(runner: Runner, input: string): Promise<CheckPlan | undefined> {
  const text = runner.inputs.text(input)
  if (text === undefined || text === 'off') return undefined
  if (text === 'ready') return { checks: [], ready: true }
  // The parser comes with YAML and schemas, which a deploy without checks does not need.
  const { isChecksText, parseChecks } = await import('../verify/parse.ts')
  try {
    if (isChecksText(text)) return parseChecks(text, input)
    const content = await readChecksFile(runner, input, text)
    return content === undefined ? undefined : parseChecks(content, input, text)
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    for (const fault of error.faults) runner.inputs.fault(fault.input, fault.message)
    return undefined
  }
}

async function readChecksFile(runner: Runner, input: string, path: string): Promise<string | undefined> {
  const expected =
    'expected off, ready, checks as YAML (a mapping with `checks:`), or the path of a file with them, relative to the workspace'
  if (/[\r\n\0]/.test(path)) {
    runner.inputs.fault(input, `is several lines that YAML does not read as a mapping, ${expected}`)
    return undefined
  }
  const file = isAbsolute(path) ? path : join(runner.env['GITHUB_WORKSPACE'] ?? process.cwd(), path)
  try {
    const { size } = await stat(file)
    if (size <= MAX_BYTES) return await readFile(file, 'utf8')
    runner.inputs.fault(input, `names "${path}", which has ${size} bytes, expected ${MAX_BYTES} at most`)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unreadable'
    runner.inputs.fault(
      input,
      `is "${path}", and no such file can be read (${code}), ${expected}. Is there an actions/checkout step before?`,
    )
  }
  return undefined
}
