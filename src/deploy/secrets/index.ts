export type { Entry, EntryInput } from './entry.ts'
export {
  type MergedSecrets,
  mergeSecrets,
  type PresentEntry,
  RedactedSecretsError,
  type SecretsMode,
} from './merge.ts'
export { clashFaults, type ParsedEntries, parseSecrets } from './parse.ts'
export { reservedFault, reservedFaults } from './reserved.ts'
