import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from '@jest/globals'
import { checkYaml, repositoryActions } from './helpers/workflow-check.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const actions = repositoryActions(root)

/** Every YAML block of a page, with the line that it begins on. */
function yamlBlocks(file: string): { where: string; text: string }[] {
  const page = readFileSync(root + file, 'utf8')
  return [...page.matchAll(/^( *)```ya?ml\n([\s\S]*?)^\1```/gm)].map((match) => ({
    where: `${file}:${page.slice(0, match.index).split('\n').length + 1}`,
    text: (match[2] ?? '').replaceAll(new RegExp(`^${match[1]}`, 'gm'), ''),
  }))
}

describe('README', () => {
  const pages = ['README.md', 'examples/README.md', 'docs/troubleshooting.md', 'docs/emulator.md'].filter(
    (file) => existsSync(root + file),
  )
  const blocks = pages.flatMap(yamlBlocks)

  it('has a workflow to copy', () => {
    expect(blocks.filter((block) => block.text.includes('uses: your-org/agent-deploy@v1'))).not.toEqual([])
  })

  it.each(blocks.map((block) => [block.where, block.text]))('%s is right', (where, text) => {
    expect(checkYaml(text, where, actions)).toEqual([])
  })
})
