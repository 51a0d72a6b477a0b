#!/usr/bin/env node
/** `dist/emulator/index.js`: flags in, one line out when it is ready, the end at SIGINT or SIGTERM. */
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { type EmulatorOptions, OptionError } from './options.ts'
import { startEmulator } from './server.ts'

const HELP = `Usage: agent-deploy-emulator [flags]

Serves an agent deployment service on one port: control plane, agent servers, feedback, A2A, sandboxes.
Prints its URLs and its API key in one line when it is ready.

  --port N                      port to listen on; 0: any free one (default 0)
  --host ADDRESS                address to listen on; loopback only (default 127.0.0.1)
  --allow-remote                let --host be an address that is not loopback
  --profile python|js           which agent server to be like (default python)
  --speed N                     how many times faster revisions, sandboxes and deletions walk (default 10)
  --disable-a2a                 agent servers without A2A
  --terminal-tasks accept|reject
                                a message that names a finished task (default accept)
  --a2a 0.3|1.0                 dialect of the agent card and its shapes (default 1.0)
  --agent-version X.Y.Z         told by /info; below 0.4.21 there is no A2A (default 0.16.7)
  --no-feedback                 agent servers cannot mint feedback URLs
  --json                        the ready line is JSON
  --help                        this text
`

const FLAGS = {
  port: { type: 'string' },
  host: { type: 'string' },
  'allow-remote': { type: 'boolean' },
  profile: { type: 'string' },
  speed: { type: 'string' },
  'disable-a2a': { type: 'boolean' },
  'terminal-tasks': { type: 'string' },
  a2a: { type: 'string' },
  'agent-version': { type: 'string' },
  'no-feedback': { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const satisfies ParseArgsConfig['options']

type Flags = { [K in keyof typeof FLAGS]?: (typeof FLAGS)[K]['type'] extends 'string' ? string : boolean }

function numberFlag(flag: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value)
  throw new OptionError(`--${flag} ${value}: expected a number`)
}

function wordFlag<T extends string>(
  flag: string,
  value: string | undefined,
  words: readonly T[],
): T | undefined {
  if (value === undefined || (words as readonly string[]).includes(value)) return value as T | undefined
  throw new OptionError(`--${flag} ${value}: expected ${words.join(' or ')}`)
}

function readFlags(args: readonly string[]): Flags {
  try {
    return parseArgs({ args: [...args], options: FLAGS, strict: true, allowPositionals: false }).values
  } catch (error) {
    throw new OptionError((error as Error).message, { cause: error })
  }
}

/** Only what was given: defaults are those of `startEmulator`. */
function optionsOf(flags: Flags): EmulatorOptions {
  const given = {
    port: numberFlag('port', flags.port),
    host: flags.host,
    allowRemote: flags['allow-remote'],
    profile: wordFlag('profile', flags.profile, ['python', 'js'] as const),
    speed: numberFlag('speed', flags.speed),
    disableA2a: flags['disable-a2a'],
    terminalTasks: wordFlag('terminal-tasks', flags['terminal-tasks'], ['accept', 'reject'] as const),
    a2a: wordFlag('a2a', flags.a2a, ['0.3', '1.0'] as const),
    agentVersion: flags['agent-version'],
    feedback: flags['no-feedback'] ? false : undefined,
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

async function main(args: readonly string[]): Promise<void> {
  const flags = readFlags(args)
  if (flags.help) {
    process.stdout.write(HELP)
    return
  }
  const emulator = await startEmulator(optionsOf(flags))
  const { controlPlaneUrl, apiKey, workspaceId, sandboxUrl } = emulator
  // Whoever reads the line may signal at once, so the handlers come before it.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0))
  const line = flags.json
    ? JSON.stringify({ controlPlaneUrl, apiKey, workspaceId, sandboxUrl })
    : `Emulator is ready: control plane ${controlPlaneUrl}, sandboxes ${sandboxUrl}, API key ${apiKey}, workspace ${workspaceId}`
  process.stdout.write(`${line}\n`)
}

main(process.argv.slice(2)).catch((error: Error & { code?: string }) => {
  if (error instanceof OptionError) {
    process.stderr.write(`${error.message}\nRun with --help for the flags.\n`)
    process.exit(2)
  }
  const hint = error.code === 'EADDRINUSE' ? ' Choose another --port, or 0 for a free one.' : ''
  process.stderr.write(`The emulator did not start: ${error.message}.${hint}\n`)
  process.exit(1)
})
