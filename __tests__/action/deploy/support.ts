import { type RunOptions, type RunResult, runBundle } from '../../helpers/action.ts'
import type { TestEmulator } from '../../helpers/emulator.ts'

export const IMAGE = 'registry.example/agent:1.0.0'

/** Inputs that every deploy of these tests has; polls are quick, because the emulator is. */
export function inputsFor(
  emulator: Pick<TestEmulator, 'apiKey' | 'controlPlaneUrl'>,
): Record<string, string> {
  return {
    'api-key': emulator.apiKey,
    'control-plane-url': emulator.controlPlaneUrl,
    name: 'my-agent',
    'image-uri': IMAGE,
    'poll-interval-seconds': '0.1',
    'poll-max-interval-seconds': '0.2',
  }
}

/** Runs the root action against an emulator (or a server that plays one). */
export function deploy(
  emulator: Pick<TestEmulator, 'apiKey' | 'controlPlaneUrl'>,
  inputs: Record<string, string> = {},
  options: Partial<RunOptions> = {},
): Promise<RunResult> {
  return runBundle({ ...options, action: 'deploy', inputs: { ...inputsFor(emulator), ...inputs } })
}

/** Requests of one method to paths that match, in order. */
export async function requestsOf(emulator: TestEmulator, method: string, path: RegExp) {
  const { requests } = await emulator.state()
  return requests.filter((request) => request.method === method && path.test(request.path))
}
