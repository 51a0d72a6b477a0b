import { afterAll, beforeAll, beforeEach } from '@jest/globals'
import { type RunOptions, type RunResult, runBundle } from '../../helpers/action.ts'
import { StoppableClock, startTestEmulator, type TestEmulator } from '../../helpers/emulator.ts'

export { onceAsked, requestsOf } from '../../helpers/emulator.ts'

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

/**
 * One emulator for all tests of a file; before each of them it has no faults, and its clock goes.
 * @param prefix of the names of deployments
 * @param give told of the emulator and of a name that no other test has, before each test; once before all,
 *   with the prefix alone, for the `beforeAll` of the file
 */
export function withEmulator(
  prefix: string,
  give: (emulator: TestEmulator, name: string, clock: StoppableClock) => void,
): void {
  const clock = new StoppableClock()
  let emulator: TestEmulator
  let count = 0
  beforeAll(async () => {
    emulator = await startTestEmulator({ now: clock.now })
    give(emulator, prefix, clock)
  })
  afterAll(() => emulator.close())
  beforeEach(async () => {
    clock.go()
    await emulator.clearFaults()
    give(emulator, `${prefix}-${++count}`, clock)
  })
}
