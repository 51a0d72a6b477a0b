/** The step's outputs, written at once. */
export interface Outputs {
  /**
   * Writes an output; the last value wins, the same value is not written again.
   * @throws AgentDeployError when the name is not of letters, digits, `-` and `_`
   */
  set(name: string, value: string | number | boolean): void
  /** The value as it was written; undefined when it was not. */
  get(name: string): string | undefined
}
