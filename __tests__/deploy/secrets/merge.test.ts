import { describe, expect, it } from '@jest/globals'
import { AgentDeployError } from '../../../src/base/errors.ts'
import { mergeSecrets, type PresentEntry, RedactedSecretsError } from '../../../src/deploy/secrets/index.ts'

const present = [
  { name: 'OLD', value: 'old' },
  { name: 'BOTH', value: 'was' },
]
const given = [
  { name: 'NEW', value: 'new' },
  { name: 'BOTH', value: 'is' },
]

describe('mergeSecrets', () => {
  it('keeps what is present besides', () => {
    expect(mergeSecrets(present, given, 'merge')).toEqual({
      entries: [
        { name: 'OLD', value: 'old' },
        { name: 'BOTH', value: 'is' },
        { name: 'NEW', value: 'new' },
      ],
      added: ['NEW'],
      updated: ['BOTH'],
      kept: ['OLD'],
      removed: [],
    })
  })

  it('keeps nothing else in replace', () => {
    expect(mergeSecrets(present, given, 'replace')).toEqual({
      entries: [
        { name: 'BOTH', value: 'is' },
        { name: 'NEW', value: 'new' },
      ],
      added: ['NEW'],
      updated: ['BOTH'],
      kept: [],
      removed: ['OLD'],
    })
  })

  it('merges into nothing', () => {
    expect(mergeSecrets([], given, 'merge').entries).toEqual(given)
  })

  it('keeps an empty value among others, and a value with stars in it', () => {
    const mixed = [
      { name: 'EMPTY', value: '' },
      { name: 'STARS', value: '***x***' },
    ]
    expect(mergeSecrets(mixed, given, 'merge').entries.slice(0, 2)).toEqual(mixed)
  })

  const redacted: [title: string, present: PresentEntry[], names: string[]][] = [
    ['no value', [{ name: 'OLD' }, { name: 'X', value: 'seen' }], ['OLD']],
    ['null', [{ name: 'OLD', value: null }], ['OLD']],
    ['stars', [{ name: 'OLD', value: '********' }, { name: 'X', value: 'seen' }], ['OLD']], // biome-ignore format: a row
    ['bullets', [{ name: 'OLD', value: '•••' }], ['OLD']],
    ['all empty', [{ name: 'OLD', value: '' }, { name: 'X', value: '' }], ['OLD', 'X']], // biome-ignore format: a row
    ['all empty, one of them given', [{ name: 'OLD', value: '' }, { name: 'BOTH', value: '' }], ['OLD']], // biome-ignore format: a row
  ]
  it.each(redacted)('refuses to keep what came back redacted: %s', (_title, had, names) => {
    let thrown: unknown
    try {
      mergeSecrets(had, given, 'merge')
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(RedactedSecretsError)
    expect(thrown).toBeInstanceOf(AgentDeployError)
    expect((thrown as RedactedSecretsError).names).toEqual(names)
    expect((thrown as RedactedSecretsError).hint).toContain('secrets-mode: replace')
    // The same set, replaced, loses nothing that anybody wanted to keep.
    expect(mergeSecrets(had, given, 'replace').entries).toHaveLength(2)
  })

  it('does not mind redacted values that are all given anew', () => {
    const had = given.map(({ name }) => ({ name, value: '***' }))
    expect(mergeSecrets(had, given, 'merge').entries).toEqual(given)
  })
})
