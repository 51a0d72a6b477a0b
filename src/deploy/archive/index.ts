export {
  type Archive,
  type ArchiveOptions,
  ArchiveTooLargeError,
  createArchive,
  LARGE_ARCHIVE_BYTES,
  MAX_ARCHIVE_BYTES,
} from './create.ts'
