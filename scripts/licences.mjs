/** The licence texts of every package that is bundled: ncc's own list loses entries when there are chunks. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @param {string} root folder of package.json and package-lock.json
 * @param {typeof import('node:fs').readFileSync} read
 * @returns {string} one block for each package that is not a dev dependency, sorted by its path
 */
export function licences(root, read) {
  const lock = JSON.parse(read(join(root, 'package-lock.json'), 'utf8'))
  const blocks = []
  for (const [path, entry] of Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (path === '' || entry.dev || entry.optional || !existsSync(join(root, path))) continue
    const file = readdirSync(join(root, path)).find((name) => /^licen[cs]e/i.test(name))
    const text = file
      ? read(join(root, path, file), 'utf8').trim()
      : `(no licence file; package.json says ${entry.license})`
    blocks.push(
      `${path.replace(/^.*node_modules\//, '')} ${entry.version}\n${entry.license ?? ''}\n\n${text}\n`,
    )
  }
  return `${blocks.join(`\n${'-'.repeat(72)}\n\n`)}`
}
