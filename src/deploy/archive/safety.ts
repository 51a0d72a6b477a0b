/** What a path is that never goes into an archive, whatever ignore files say. */
export type Unsafe = 'secret' | 'tool'

const KEEP = new Set(['.env.example', '.env.sample', '.env.template'])
const SECRET_NAMES = new Set([
  '.env',
  'id_rsa',
  'id_dsa',
  'id_ecdsa',
  'id_ed25519',
  '.npmrc',
  '.pypirc',
  '.netrc',
])
const SECRET_ENDINGS = ['.pem', '.key', '.p12', '.pfx', '.jks']
const SECRET_FOLDERS = new Set(['.aws', '.ssh', '.gnupg'])
const TOOL_FOLDERS = new Set(['node_modules', '.venv', 'venv', '__pycache__', '.tox', '.mypy_cache'])

/**
 * Judges one name of a path (design, section 4, "Source `internal_source`"). Letter case does not matter in
 * what holds secrets: `SERVER.PEM` is a key too.
 * @param name the last part of the path
 * @param parent the name of the folder it lies in; empty at the top
 * @param isFolder a link whose target is unknown counts as a folder
 */
export function judgeName(name: string, parent: string, isFolder: boolean): Unsafe | undefined {
  // A worktree or submodule has a file of this name instead of a folder.
  if (name === '.git') return 'tool'
  if (isFolder && TOOL_FOLDERS.has(name)) return 'tool'
  const lower = name.toLowerCase()
  if (KEEP.has(lower)) return undefined
  if (SECRET_NAMES.has(lower) || lower.startsWith('.env.')) return 'secret'
  if (SECRET_ENDINGS.some((ending) => lower.endsWith(ending))) return 'secret'
  if (isFolder && SECRET_FOLDERS.has(lower)) return 'secret'
  if (lower === 'config.json' && parent.toLowerCase() === '.docker') return 'secret'
  return undefined
}

/** Judges every part of a path below the archive's root, for the target of a link. */
export function judgePath(path: string, isFolder: boolean): Unsafe | undefined {
  const parts = path.split('/')
  for (const [at, part] of parts.entries()) {
    const found = judgeName(part, parts[at - 1] ?? '', isFolder || at < parts.length - 1)
    if (found !== undefined) return found
  }
  return undefined
}
