import { describe, expect, it } from '@jest/globals'
import { codeOfEvent, isCommit, isTag, plainRef, sameRepository } from '../../src/deploy/git-event.ts'
import { git, HEAD, SHA } from '../helpers/settings.ts'

const pull = (fromFork: boolean) => ({ headRef: 'topic', headSha: HEAD, fromFork })

describe('codeOfEvent', () => {
  it.each([
    ['push', 'refs/heads/main', { ref: 'main', sha: SHA, fromFork: false }],
    ['push', 'refs/heads/release/1.x', { ref: 'release/1.x', sha: SHA, fromFork: false }],
    ['push', 'refs/tags/v1', { ref: 'refs/tags/v1', sha: SHA, fromFork: false }],
    ['workflow_dispatch', 'refs/heads/main', { ref: 'main', sha: SHA, fromFork: false }],
    ['workflow_dispatch', 'refs/tags/v1', { ref: 'refs/tags/v1', sha: SHA, fromFork: false }],
    ['release', 'refs/tags/v1', { ref: 'refs/tags/v1', sha: SHA, fromFork: false }],
    ['release', 'refs/heads/main', undefined],
    ['push', '', undefined],
    ['schedule', 'refs/heads/main', undefined],
    ['workflow_run', 'refs/heads/main', undefined],
    ['issue_comment', 'refs/heads/main', undefined],
    ['pull_request', 'refs/pull/7/merge', undefined],
  ])('%s of %s', (eventName, ref, expected) => {
    expect(codeOfEvent(git({ eventName, ref }))).toEqual(expected)
  })

  it.each([true, false])(
    'of a pull request is its head (fork: %s), of pull_request_target nothing',
    (fromFork) => {
      const facts = { pullRequest: pull(fromFork), ref: 'refs/pull/7/merge' }
      expect(codeOfEvent(git({ ...facts, eventName: 'pull_request' }))).toEqual({
        ref: 'topic',
        sha: HEAD,
        fromFork,
      })
      expect(codeOfEvent(git({ ...facts, eventName: 'pull_request_target' }))).toBeUndefined()
    },
  )
})

it.each([
  ['https://github.com/Octo/Agent', 'https://github.com/octo/agent', true],
  ['https://github.com/octo/agent.git', 'https://github.com/octo/agent/', true],
  ['https://github.com/octo/agent.git/', ' https://github.com/octo/agent', true],
  ['https://github.com/octo/agent', 'https://github.com/octo/agents', false],
  ['https://github.com/octo/agent', 'https://ghe.example/octo/agent', false],
  ['https://github.com/octo/agent.github', 'https://github.com/octo/agent', false],
])('sameRepository %s and %s: %s', (a, b, same) => {
  expect(sameRepository(a, b)).toBe(same)
})

it.each([
  ['main', 'main', false, false],
  ['refs/heads/main', 'main', false, false],
  ['refs/heads/refs/heads/x', 'refs/heads/x', false, false],
  ['refs/tags/v1', 'refs/tags/v1', true, false],
  [SHA, SHA, false, true],
  [SHA.toUpperCase(), SHA.toUpperCase(), false, true],
  [SHA.slice(1), SHA.slice(1), false, false],
])('%s is plain %s, a tag: %s, a commit: %s', (ref, plain, tag, commit) => {
  expect([plainRef(ref), isTag(ref), isCommit(ref)]).toEqual([plain, tag, commit])
})
