import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'

const root = fileURLToPath(new URL('..', import.meta.url))
const FOLDERS = ['.', 'verify', 'feedback', 'sandbox', 'delete', 'emulator']

interface ActionFile {
  inputs?: Record<string, { description?: string; default?: string; required?: boolean }>
  outputs?: Record<string, { description?: string }>
  runs: { using: string; main: string; post?: string }
}

/** All TypeScript of the rooms that may read an input or write an output. */
const source = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => /^(actions|runner)\b.*\.ts$/.test(file))
  .map((file) => readFileSync(join(root, 'src', file), 'utf8'))
  .join('\n')

describe.each(FOLDERS)('%s/action.yml', (folder) => {
  const file = parse(readFileSync(join(root, folder, 'action.yml'), 'utf8')) as ActionFile
  const inputs = Object.entries(file.inputs ?? {})
  const outputs = Object.entries(file.outputs ?? {})

  it('runs on Node 24 what is in dist/', () => {
    expect(file.runs.using).toBe('node24')
    for (const script of [file.runs.main, file.runs.post].filter((path) => path !== undefined)) {
      expect(existsSync(resolve(root, folder, script))).toBe(true)
    }
  })

  it('describes every input and output, and the code knows each', () => {
    for (const [name, { description }] of [...inputs, ...outputs]) {
      expect(description ?? '').not.toBe('')
      expect(source.includes(`'${name}'`) ? name : `${name} is in no source`).toBe(name)
    }
  })

  it('has no expression among its defaults but the token, and none beside required', () => {
    for (const [, { default: fallback, required }] of inputs) {
      if (String(fallback ?? '').includes('${{')) expect(fallback).toBe('${{ github.token }}')
      if (required === true) expect(fallback).toBeUndefined()
    }
  })
})

it('inputs that describe the deployment have no default but in code, so that an update leaves them alone', () => {
  const { inputs = {} } = parse(readFileSync(join(root, 'action.yml'), 'utf8')) as ActionFile
  const describing = Object.keys(inputs).filter((name) =>
    /^(source|deployment-type|integration-id|repo-.*|config-path|build-on-push|listener-.*)$/.test(name),
  )
  expect(describing).toHaveLength(9)
  for (const name of describing) expect(inputs[name]?.default).toBeUndefined()
})
