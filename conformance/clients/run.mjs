/**
 * Official clients, unchanged, against the emulator.
 *   node clients/run.mjs [--emulator <file>]
 */
import { parseArgs } from 'node:util'
import { deployAgent, startEmulator } from '../replay/emulator.mjs'
import { a2aSdk } from './a2a-sdk.mjs'
import { langgraphSdk } from './langgraph-sdk.mjs'

const { values: flags } = parseArgs({ options: { emulator: { type: 'string' } } })

/** @param {string[]} emulatorFlags @param {(target: {agentUrl: string, apiKey: string}) => Promise<unknown>} use */
async function withAgent(emulatorFlags, use) {
  const emulator = await startEmulator({ entry: flags.emulator, flags: emulatorFlags })
  try {
    return await use({ agentUrl: await deployAgent(emulator), apiKey: emulator.apiKey })
  } finally {
    await emulator.close()
  }
}

const done = [
  await withAgent([], (target) => langgraphSdk({ ...target, title: '@langchain/langgraph-sdk' })),
  await withAgent([], (target) => a2aSdk({ ...target, title: '@a2a-js/sdk, A2A 1.0', version: '1.0' })),
  await withAgent(['--a2a', '0.3', '--agent-version', '0.5.23'], (target) =>
    a2aSdk({ ...target, title: '@a2a-js/sdk, A2A 0.3', version: '0.3' }),
  ),
]
const failed = done.reduce((sum, checks) => sum + checks.failed, 0)
const passed = done.reduce((sum, checks) => sum + checks.passed, 0)
console.log(`\nOfficial clients: ${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
