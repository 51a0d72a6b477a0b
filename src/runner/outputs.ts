import { setOutput } from '@actions/core'
import { AgentDeployError } from '../base/errors.ts'
import type { Secrets } from './secrets.ts'

/** The step's outputs. */
export interface Outputs {
  /**
   * Writes an output; the last value wins, the same value is not written again. Ids, URLs and words that
   * were put out are ours: they stay whole where we write them.
   * @throws AgentDeployError when the name is not of letters, digits, `-` and `_`, or the file is not there
   */
  set(name: string, value: string | number | boolean): void
  /** The value as it was written; undefined when it was not. */
  get(name: string): string | undefined
}

/** Outputs through the toolkit, written at once: they count also when the step fails or is killed. */
export class StepOutputs implements Outputs {
  readonly #values = new Map<string, string>()
  readonly #secrets: Secrets
  readonly #warn: (message: string) => void
  #warned = false

  constructor(secrets: Secrets, warn: (message: string) => void) {
    this.#secrets = secrets
    this.#warn = warn
  }

  set(name: string, value: string | number | boolean): void {
    if (!/^[A-Za-z_][\w-]*$/.test(name)) {
      throw new AgentDeployError(
        `An output has the name ${JSON.stringify(name)}, expected letters, digits, - and _`,
      )
    }
    const text = String(value)
    if (this.#values.get(name) === text) return
    this.#values.set(name, text)
    if (text.length <= 300 && !/[\n{[]/.test(text)) this.#secrets.keep(text)
    try {
      setOutput(name, text)
    } catch (error) {
      throw new AgentDeployError(`The output ${name} cannot be written`, {
        cause: error,
        hint: 'The file that GITHUB_OUTPUT names is missing or read-only: look at what earlier steps of the job did to it.',
      })
    }
    if (!this.#warned && this.#secrets.contains(text)) {
      this.#warned = true
      this.#warn(
        `${named(this.#secrets.nameIn(text))} is part of the output ${name}: GitHub blanks it in the log and drops it as an output of the job. If it is no secret, give it in env-vars.`,
      )
    }
  }

  get(name: string): string | undefined {
    return this.#values.get(name)
  }
}

function named(secret: string | undefined): string {
  return secret === undefined ? 'A secret' : `The value of ${secret}`
}
