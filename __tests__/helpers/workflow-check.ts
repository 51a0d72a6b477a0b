import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseDocument } from 'yaml'

/** The part of an `action.yml` that a workflow can get wrong. */
export interface Manifest {
  readonly inputs: ReadonlyMap<string, { readonly required: boolean; readonly default: string | undefined }>
  readonly outputs: ReadonlySet<string>
}

/** Manifests by what a workflow writes after `uses:`, without the version: `your-org/agent-deploy/verify`. */
export type Actions = ReadonlyMap<string, Manifest>

type Mapping = Record<string, unknown>

/** How docs and examples name this repository. */
export const PLACEHOLDER = 'your-org/agent-deploy'
const VERSION = 'v1'
/** A job's `timeout-minutes` when it has none. */
const GITHUB_LIMIT = 360

/** The manifests of this repository: the root's, and that of each folder that has one. */
export function repositoryActions(root: string): Map<string, Manifest> {
  const actions = new Map<string, Manifest>()
  for (const folder of ['', ...readdirSync(root, { withFileTypes: true }).map((one) => one.name)]) {
    const file = join(root, folder, 'action.yml')
    if (!existsSync(file)) continue
    actions.set(folder === '' ? PLACEHOLDER : `${PLACEHOLDER}/${folder}`, readManifest(file))
  }
  return actions
}

export function readManifest(file: string): Manifest {
  const { inputs, outputs } = parseDocument(readFileSync(file, 'utf8')).toJS() as {
    inputs?: Record<string, { required?: boolean; default?: unknown } | null>
    outputs?: Mapping
  }
  return {
    inputs: new Map(
      Object.entries(inputs ?? {}).map(([name, input]) => [
        name,
        {
          required: input?.required === true,
          default: input?.default === undefined ? undefined : String(input.default),
        },
      ]),
    ),
    outputs: new Set(Object.keys(outputs ?? {})),
  }
}

/**
 * Checks a workflow, a composite action, or a fragment of one (a list of steps, one step): every use of an
 * action that is in `actions` against its inputs and outputs; references to steps, jobs and inputs against
 * what is there; and of a workflow the permissions and the time limits that our inputs need.
 * @param where in front of each fault
 * @returns one line for each fault; none when all is right
 */
export function checkYaml(text: string, where: string, actions: Actions): string[] {
  const document = parseDocument(text, { uniqueKeys: true })
  if (document.errors.length > 0) return document.errors.map((error) => `${where}: ${error.message}`)
  const faults: string[] = []
  const tell = (fault: string): void => {
    faults.push(`${where}: ${fault}`)
  }
  const root: unknown = document.toJS()
  if (isMapping(root) && isMapping(root['jobs'])) {
    for (const [name, job] of Object.entries(root['jobs']))
      checkJob(root, name, job as Mapping, actions, tell)
  } else if (isMapping(root) && isMapping(root['runs'])) checkComposite(root, actions, tell)
  else for (const steps of stepLists(root)) checkSteps(steps, actions, false, tell)
  return faults
}

type Tell = (fault: string) => void

function checkJob(workflow: Mapping, name: string, job: Mapping, actions: Actions, tell: Tell): void {
  const tellJob: Tell = (fault) => tell(`job ${name}: ${fault}`)
  const steps = mappings(job['steps'])
  checkSteps(steps, actions, true, tellJob, job)
  const jobs = workflow['jobs'] as Mapping
  const needs = [job['needs'] ?? []].flat() as string[]
  for (const [other, output] of references(job, /needs\.([\w-]+)\.outputs\.([\w-]+)/g)) {
    const outputs = (jobs[other ?? ''] as Mapping | undefined)?.['outputs']
    if (!needs.includes(other ?? '')) tellJob(`needs.${other} is used, but the job does not need it`)
    else if (!isMapping(outputs) || !((output as string) in outputs))
      tellJob(`job ${other} has no output ${output}`)
  }
  checkInputReferences(job, dispatchInputs(workflow), tellJob)
  checkPermissions(job['permissions'] ?? workflow['permissions'], steps, actions, tellJob)
  checkTime(job['timeout-minutes'] ?? GITHUB_LIMIT, steps, actions, tellJob)
}

function checkComposite(manifest: Mapping, actions: Actions, tell: Tell): void {
  const steps = mappings((manifest['runs'] as Mapping)['steps'])
  checkSteps(steps, actions, true, tell, manifest)
  checkInputReferences(manifest, Object.keys((manifest['inputs'] ?? {}) as Mapping), tell)
}

function checkSteps(steps: Mapping[], actions: Actions, whole: boolean, tell: Tell, scope?: unknown): void {
  const ids = new Map<string, Mapping>()
  for (const step of steps) {
    if (typeof step['id'] === 'string') ids.set(step['id'], step)
    checkUse(step, actions, tell)
  }
  for (const [id, output] of references(scope ?? steps, /steps\.([\w-]+)\.(?:outputs\.)?([\w-]+)/g)) {
    const step = ids.get(id ?? '')
    if (step === undefined) {
      if (whole) tell(`no step has the id ${id}`)
      continue
    }
    const manifest = actionOf(step, actions)
    const known = manifest === undefined || ['outcome', 'conclusion', 'outputs'].includes(output ?? '')
    if (!known && !manifest.outputs.has(output ?? '')) tell(`${step['uses']} has no output ${output}`)
  }
}

function checkUse(step: Mapping, actions: Actions, tell: Tell): void {
  const uses = String(step['uses'] ?? '')
  const manifest = actionOf(step, actions)
  if (manifest === undefined) {
    if (/(^|\/)agent-deploy([/@]|$)/.test(uses)) tell(`${uses} is no action of this repository`)
    return
  }
  if (!uses.startsWith('./') && !uses.endsWith(`@${VERSION}`))
    tell(`${uses}: expected the version @${VERSION}`)
  const given = (step['with'] ?? {}) as Mapping
  for (const [name, value] of Object.entries(given)) {
    const input = manifest.inputs.get(name)
    if (input === undefined) tell(`${uses} has no input ${name}`)
    else if (value === null || typeof value === 'object')
      tell(`${uses}: ${name} must be a text, a number or a boolean`)
    else if (/^(true|false)$/.test(input.default ?? '') && !/^(true|false|.*\$\{\{.*)$/.test(String(value))) {
      tell(`${uses}: ${name} is ${value}, expected true or false`)
    }
  }
  for (const [name, { required, default: fallback }] of manifest.inputs) {
    if (required && fallback === undefined && !(name in given)) tell(`${uses} needs the input ${name}`)
  }
}

/** `environment` and `comment` do nothing but warn where the job's token may not write. */
function checkPermissions(permissions: unknown, steps: Mapping[], actions: Actions, tell: Tell): void {
  // Without any, a job has what the repository's settings give: reading, to be sure of.
  const granted = isMapping(permissions) ? permissions : { contents: 'read' }
  const want = (scope: string, level: string, why: string): void => {
    if (granted[scope] !== level) tell(`${why} needs "permissions: ${scope}: ${level}"`)
  }
  for (const step of steps) {
    if (String(step['uses']).startsWith('actions/checkout@')) want('contents', 'read', 'actions/checkout')
    if (actionOf(step, actions) === undefined) continue
    const given = (step['with'] ?? {}) as Mapping
    if (given['environment'] !== undefined) want('deployments', 'write', 'the input environment')
    if (given['comment'] !== undefined) want('pull-requests', 'write', 'the input comment')
  }
}

/** A job that is cut off before the action's own limit ends `cancelled`, without a reason. */
function checkTime(limit: unknown, steps: Mapping[], actions: Actions, tell: Tell): void {
  const own = steps.map((step) => {
    const fallback = actionOf(step, actions)?.inputs.get('timeout-minutes')?.default ?? '0'
    return Number(((step['with'] ?? {}) as Mapping)['timeout-minutes'] ?? fallback)
  })
  const longest = Math.max(0, ...own)
  if (typeof limit === 'number' && limit <= longest)
    tell(`timeout-minutes is ${limit}, expected more than the ${longest} of its step`)
}

function checkInputReferences(scope: unknown, declared: readonly string[], tell: Tell): void {
  for (const [name] of references(scope, /(?<![\w.])inputs\.([\w-]+)/g)) {
    if (!declared.includes(name ?? '')) tell(`inputs.${name} is used, but not declared`)
  }
}

function dispatchInputs(workflow: Mapping): string[] {
  const on = workflow['on']
  if (!isMapping(on)) return []
  return ['workflow_dispatch', 'workflow_call'].flatMap((event) => {
    const inputs = (on[event] as Mapping | null | undefined)?.['inputs']
    return isMapping(inputs) ? Object.keys(inputs) : []
  })
}

function actionOf(step: Mapping, actions: Actions): Manifest | undefined {
  const uses = String(step['uses'] ?? '')
  return actions.get(uses.startsWith('./') ? uses : uses.replace(/@[^@]*$/, ''))
}

/** The groups of every match inside an expression: `${{ … }}`, or the value of an `if`. */
function references(scope: unknown, pattern: RegExp): (string | undefined)[][] {
  return expressions(scope).flatMap((text) => [...text.matchAll(pattern)].map((match) => match.slice(1)))
}

function expressions(value: unknown, key = ''): string[] {
  if (typeof value === 'string') {
    return key === 'if'
      ? [value]
      : [...value.matchAll(/\$\{\{([\s\S]*?)\}\}/g)].map((match) => match[1] ?? '')
  }
  if (Array.isArray(value)) return value.flatMap((one) => expressions(one))
  if (isMapping(value)) return Object.entries(value).flatMap(([name, one]) => expressions(one, name))
  return []
}

/** Lists of steps in a fragment: a list itself, one step, or what stands under `steps`. */
function stepLists(root: unknown): Mapping[][] {
  if (Array.isArray(root)) return [mappings(root)]
  if (!isMapping(root)) return []
  if ('uses' in root) return [[root]]
  return Object.values(root).flatMap(stepLists)
}

function mappings(value: unknown): Mapping[] {
  return Array.isArray(value) ? value.filter(isMapping) : []
}

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
