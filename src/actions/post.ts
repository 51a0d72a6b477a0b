import { closeOpenDeployment } from '../runner/github/deployments.ts'
import type { Story } from '../runner/run-action.ts'

/** The root action's `post`: closes a GitHub Deployment that a killed step left `in_progress`. */
export function postStory(): Story {
  return {
    main: async (runner) => {
      const token = runner.inputs.text('github-token') ?? ''
      if (token !== '') runner.secrets.mask(token, 'github-token')
      await closeOpenDeployment(runner, token)
    },
  }
}
