import { runAction, type Story } from '../runner/run-action.ts'

/** What the launchers in dist/ name. Each story is loaded only when it is run: a job pays for one. */
const STORIES = {
  deploy: async () => (await import('./deploy.ts')).deployStory(),
  post: async () => (await import('./post.ts')).postStory(),
  feedback: async () => (await import('./feedback.ts')).feedbackStory(),
  sandbox: async () => (await import('./sandbox.ts')).sandboxStory(),
  delete: async () => (await import('./delete.ts')).deleteStory(),
  verify: async () => (await import('./verify.ts')).verifyStory(),
  emulate: async () => (await import('./emulator.ts')).emulateStory(),
  'emulate-post': async () => (await import('./emulator.ts')).emulatePostStory(),
} satisfies Record<string, () => Promise<Story>>

export type StoryName = keyof typeof STORIES

/** Runs one action in this process, as its launcher asks. Never throws; sets `process.exitCode`. */
export async function run(name: StoryName): Promise<void> {
  let story: Story | undefined
  // Loaded inside, so that a signal in the middle of loading is a cancel like any other.
  await runAction({
    main: async (runner) => {
      story = await STORIES[name]()
      await story.main(runner)
    },
    failed: async (runner, error) => story?.failed?.(runner, error),
  })
}
