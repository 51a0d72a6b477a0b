import { describe, expect, it } from '@jest/globals'
import { renderDeployComment, renderRetiredComment } from '../../../src/runner/summary/comment.ts'
import type { DeploySummary } from '../../../src/runner/summary/deploy.ts'

const CONTEXT = {
  runUrl: 'https://github.com/octo/agent/actions/runs/42',
  nowMs: Date.UTC(2026, 10, 21, 9, 5),
}

const LIVE: DeploySummary = {
  outcome: 'deployed',
  name: 'my-agent',
  deploymentUrl: 'https://my-agent.example/',
  dashboardUrl: 'https://smith.example/o/1/host/deployments/2',
  revisionId: '0b7c',
  revisionStatus: 'DEPLOYED',
  commitSha: 'a'.repeat(40),
  durationSeconds: 75.4,
  timeline: [],
  verification: {
    passed: 1,
    failed: 0,
    checks: [{ name: 'says hello', verdict: 'passed', reason: '', seconds: 0.42, said: 'Hello!' }],
  },
}

describe('renderDeployComment', () => {
  it('tells verdict, links, facts and checks', () => {
    expect(renderDeployComment(LIVE, CONTEXT)).toBe(
      [
        '### `my-agent` ✅ is live',
        '',
        '[Open the agent](https://my-agent.example/) · [Dashboard](https://smith.example/o/1/host/deployments/2)',
        '',
        '|  |  |',
        '| --- | --- |',
        '| Revision | `0b7c` |',
        '| Status | `DEPLOYED` |',
        `| Commit | \`${'a'.repeat(40)}\` |`,
        '| Took | `1 min 15 s` |',
        '',
        '<details><summary>1 of 1 checks passed</summary>',
        '',
        '|  | Check | Time |  |',
        '| --- | --- | --- | --- |',
        '| ✅ | says hello | 0.4 s | Hello! |',
        '',
        '</details>',
        '',
        '<sub>Written by [this run](https://github.com/octo/agent/actions/runs/42), 2026-11-21 09:05 UTC.</sub>',
      ].join('\n'),
    )
  })

  it('says why, and what to do, when it failed; failed checks stand open', () => {
    const text = renderDeployComment(
      {
        ...LIVE,
        outcome: 'verification-failed',
        reason: '1 check failed',
        hint: 'Look at the run.',
        verification: {
          passed: 0,
          failed: 1,
          checks: [{ name: 'says hello', verdict: 'failed', reason: 'the answer was empty', seconds: 3 }],
        },
      },
      CONTEXT,
    )
    expect(text).toContain('❌ is live, but failed its checks')
    expect(text).toContain('> 1 check failed\n>\n> Look at the run.')
    expect(text).toContain('**0 of 1 checks passed**')
    expect(text).toContain('| ❌ | says hello | 3 s | the answer was empty |')
    expect(text).not.toContain('<details>')
  })

  it('lets no foreign text speak', () => {
    const evil =
      '<img src=x> @octocat | [a](https://evil.example) #12 ```\n# big\n--> ![p](https://evil.example/p)'
    const text = renderDeployComment(
      {
        outcome: evil,
        name: evil,
        deploymentUrl: 'javascript:alert(1)',
        revisionStatus: evil,
        reason: evil,
        timeline: [],
        verification: {
          passed: 1,
          failed: 1,
          checks: [
            { name: evil, verdict: 'passed', reason: '', seconds: 1, said: evil },
            { name: evil, verdict: 'failed', reason: evil, seconds: 1 },
          ],
        },
      },
      CONTEXT,
    )
    // What is inside `code` is dead already.
    const live = text.replace(/(`+)[^`][\s\S]*?\1/g, '')
    expect(live).not.toMatch(/<img|\]\(https:\/\/evil|\]\(javascript|@octocat|(?<!&)#12|^# big/m)
    for (const row of text.split('\n').filter((line) => line.startsWith('| ❌'))) {
      expect(row.match(/(?<!\\)\|/g)).toHaveLength(5)
    }
  })
})

describe('renderRetiredComment', () => {
  it('says that the preview is gone, and which run did it', () => {
    expect(renderRetiredComment('my-agent', CONTEXT)).toBe(
      [
        '### `my-agent` 🧹 is gone',
        '',
        'The preview was deleted. It comes back with the next deploy of this pull request.',
        '',
        '<sub>Written by [this run](https://github.com/octo/agent/actions/runs/42), 2026-11-21 09:05 UTC.</sub>',
      ].join('\n'),
    )
  })
})
