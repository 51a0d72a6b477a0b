import { newApiKey } from './ids.ts'

/** What `startEmulator` takes; every member has a default (design, section 5). */
export interface EmulatorOptions {
  /** TCP port; 0, the default, takes a free one. */
  port?: number
  /** Address to listen on; anything but loopback needs `allowRemote`. */
  host?: string
  allowRemote?: boolean
  profile?: 'python' | 'js'
  /** How many times faster than real ones revisions, sandboxes and deletions walk. */
  speed?: number
  disableA2a?: boolean
  terminalTasks?: 'accept' | 'reject'
  a2a?: '0.3' | '1.0'
  agentVersion?: string
  /** False: agent servers cannot mint feedback URLs. */
  feedback?: boolean
  /** The key that opens it; random when left out. */
  apiKey?: string
  workspaceId?: string
  /** Milliseconds since the epoch; the computer's clock when left out. */
  now?: () => number
}

export type Settings = Required<EmulatorOptions>

export const DEFAULT_WORKSPACE_ID = '5e1f0a52-7c1d-4b8e-9a53-2f6d1c0b7e44'

/** A wrong option: the message names it, quotes what came and says what was expected. */
export class OptionError extends Error {
  override name = 'OptionError'
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/

/** Fills in the defaults. @throws OptionError on a value that cannot be used. */
export function settle(options: EmulatorOptions = {}): Settings {
  const settings: Settings = {
    port: options.port ?? 0,
    host: options.host ?? '127.0.0.1',
    allowRemote: options.allowRemote ?? false,
    profile: options.profile ?? 'python',
    speed: options.speed ?? 10,
    disableA2a: options.disableA2a ?? false,
    terminalTasks: options.terminalTasks ?? 'accept',
    a2a: options.a2a ?? '1.0',
    agentVersion: options.agentVersion ?? '0.16.7',
    feedback: options.feedback ?? true,
    apiKey: options.apiKey ?? newApiKey(),
    workspaceId: options.workspaceId ?? DEFAULT_WORKSPACE_ID,
    now: options.now ?? Date.now,
  }
  if (!Number.isInteger(settings.port) || settings.port < 0 || settings.port > 65535) {
    throw new OptionError(`--port ${settings.port}: expected a whole number from 0 (any free port) to 65535`)
  }
  if (!Number.isFinite(settings.speed) || settings.speed <= 0) {
    throw new OptionError(`--speed ${settings.speed}: expected a number above 0, such as 10`)
  }
  if (!settings.allowRemote && !LOOPBACK.test(settings.host)) {
    throw new OptionError(
      `--host ${settings.host}: is not loopback. The emulator shows every secret it was given to whoever asks; ` +
        'add --allow-remote to listen there all the same',
    )
  }
  if (!/^\d+\.\d+\.\d+/.test(settings.agentVersion)) {
    throw new OptionError(`--agent-version ${settings.agentVersion}: expected a version such as 0.16.7`)
  }
  return settings
}
