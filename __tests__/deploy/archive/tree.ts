import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach } from '@jest/globals'
import { Parser } from 'tar'
import type { Log } from '../../../src/base/log.ts'

/** A file's text, a link's target, an executable file, or an empty folder. */
export type Leaf = string | { link: string } | { run: string } | { folder: true }

const made: string[] = []

afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A temporary folder without links in its path, removed after the test. */
export function temporary(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agent-deploy-test-')))
  made.push(folder)
  return folder
}

/** Makes files below a folder; the keys are paths. */
export function plant(root: string, leaves: Readonly<Record<string, Leaf>>): string {
  for (const [path, leaf] of Object.entries(leaves)) {
    const file = join(root, path)
    mkdirSync(dirname(file), { recursive: true })
    if (typeof leaf === 'string') writeFileSync(file, leaf)
    else if ('link' in leaf) symlinkSync(leaf.link, file)
    else if ('folder' in leaf) mkdirSync(file, { recursive: true })
    else {
      writeFileSync(file, leaf.run)
      chmodSync(file, 0o755)
    }
  }
  return root
}

export function tree(leaves: Readonly<Record<string, Leaf>>): string {
  return plant(temporary(), leaves)
}

export interface Unpacked {
  readonly path: string
  readonly type: string
  readonly mode: number
  readonly text: string
}

/** Reads a tar archive with the `tar` package, which did not write it. */
export async function untar(archive: Buffer): Promise<Unpacked[]> {
  const found: Unpacked[] = []
  await new Promise<void>((done, fail) => {
    const parser = new Parser({
      strict: true,
      onReadEntry: (entry) => {
        const chunks: Buffer[] = []
        entry.on('data', (chunk) => chunks.push(chunk as Buffer))
        entry.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8')
          found.push({ path: entry.path, type: entry.type, mode: entry.mode ?? 0, text })
        })
      },
    })
    parser.on('end', done)
    parser.on('error', fail)
    parser.end(archive)
  })
  return found
}

export async function unpack(archive: Buffer): Promise<Unpacked[]> {
  return untar(gunzipSync(archive))
}

/** A log that remembers. */
export function memoryLog(): Log & { lines: string[] } {
  const lines: string[] = []
  const say = (level: string) => (message: string) => void lines.push(`${level}: ${message}`)
  return {
    lines,
    info: say('info'),
    debug: say('debug'),
    warning: say('warning'),
    notice: say('notice'),
    group: (title, work) => {
      lines.push(`group: ${title}`)
      return work()
    },
    remote: (title, text) => void lines.push(`remote: ${title}: ${text}`),
  }
}
