import type { Runner } from './runner.ts'

/** What one action does. */
export interface Story {
  /** The work. Throwing makes the step red. */
  main(runner: Runner): Promise<void>
  /**
   * Called when `main` threw, before the error is annotated: the place for outputs and summary.
   * At most 4 s when the job was cancelled.
   */
  failed?(runner: Runner, error: unknown): Promise<void>
}

export declare function runAction(story: Story): Promise<void>
