import { describe, expect, it } from '@jest/globals'
import { type DeploySummary, renderDeploySummary } from '../../../src/runner/summary/deploy.ts'
import { renderVerifySummary } from '../../../src/runner/summary/verify.ts'

const HOSTILE = '](https://evil) <img src=x> ```\n</details>\n| a | b |\n@octocat ![x](y) $x$'

const GREEN: DeploySummary = {
  outcome: 'deployed',
  name: 'my-agent',
  deploymentId: 'd-1',
  deploymentUrl: 'https://my-agent.example.com',
  dashboardUrl: 'https://smith.example.com/o/1',
  revisionId: 'r-2',
  revisionStatus: 'DEPLOYED',
  previousRevisionId: 'r-1',
  commitSha: 'abc',
  created: false,
  durationSeconds: 134.2,
  timeline: [
    { status: 'BUILDING', startMs: 1000, endMs: 95_000 },
    { status: 'DEPLOYED', startMs: 95_000, endMs: 96_000 },
  ],
  providers: { google: 'p-1' },
  verification: {
    passed: 1,
    failed: 1,
    checks: [
      { name: 'says hello', verdict: 'passed', reason: '', seconds: 1.25, said: 'Hello!' },
      { name: 'says more', verdict: 'failed', reason: 'the text was not found', seconds: 2, said: 'No.' },
    ],
  },
  notes: ['One note.'],
  plan: { secrets: ['KEY'] },
}

describe('renderDeploySummary', () => {
  it('begins with the verdict', () => {
    expect(renderDeploySummary(GREEN).split('\n')[0]).toBe(
      '## ✅ Deployed: `my-agent` (updated) in 2 min 14 s',
    )
    for (const outcome of [
      'triggered',
      'planned',
      'failed',
      'timed-out',
      'superseded',
      'interrupted',
      'cancelled',
      'verification-failed',
      'rolled-back',
      'error',
    ]) {
      const first = renderDeploySummary({ outcome, name: undefined, timeline: [] }).split('\n')[0]
      expect(first?.toLowerCase().replaceAll(' ', '-')).toContain(outcome)
    }
  })

  it('shows ids, links, checks, timeline, providers, notes and plan', () => {
    const text = renderDeploySummary(GREEN)
    for (const part of [
      '| Deployment | `d-1` |',
      '| URL | [https://my-agent.example.com](https://my-agent.example.com/) |',
      '| Dashboard | [open in LangSmith](https://smith.example.com/o/1) |',
      '| Served before | `r-1` |',
      '### Checks: 1 passed, 1 failed',
      '| says hello | ✅ passed | 1.3 s | “Hello!” |',
      '| says more | ❌ failed | 2.0 s | the text was not found<br>“No.” |',
      '```mermaid\ngantt\n    title Revision r-2',
      'BUILDING 1 min 34 s :done, s0, 0, 94000',
      '| google | `p-1` |',
      '- One note.',
      '"KEY"',
    ])
      expect(text).toContain(part)
  })

  it('is short when little is known', () => {
    expect(
      renderDeploySummary({ outcome: 'error', name: undefined, timeline: [], reason: 'No.', hint: 'Do.' }),
    ).toBe(
      '## ❌ Error\n\n**Why:** No.\n\n**What to do:** Do.\n\n|  |  |\n| --- | --- |\n| Outcome | `error` |',
    )
  })

  it('keeps hostile text where it was put', () => {
    const text = renderDeploySummary({
      outcome: HOSTILE,
      name: HOSTILE,
      deploymentId: HOSTILE,
      deploymentUrl: `javascript:${HOSTILE}`,
      revisionId: HOSTILE,
      timeline: [{ status: HOSTILE, startMs: 0, endMs: 1 }],
      reason: HOSTILE,
      hint: HOSTILE,
      rollback: HOSTILE,
      notes: [HOSTILE],
      providers: { [HOSTILE]: HOSTILE },
      verification: {
        passed: 0,
        failed: 1,
        checks: [{ name: HOSTILE, verdict: HOSTILE, reason: HOSTILE, seconds: 1, said: HOSTILE }],
      },
      logTail: { title: HOSTILE, text: HOSTILE },
      plan: { text: HOSTILE },
    })
    const prose = withoutCode(text)
    expect(prose).not.toMatch(/<img/)
    expect(prose).not.toMatch(/(?<!\\)\]\(https:\/\/evil/)
    expect(prose).not.toMatch(/@octocat/)
    expect(prose).not.toMatch(/(?<!\\)!?(?<!\\)\[x\]\(y\)/)
    // Two folded parts, and no more closings than openings.
    expect(prose.match(/<details>/g)).toHaveLength(2)
    expect(prose.match(/<\/details>/g)).toHaveLength(2)
    for (const line of prose.split('\n').filter((one) => one.startsWith('|'))) {
      expect([3, 5]).toContain(line.match(/(?<!\\)\|/g)?.length)
    }
  })

  it('takes secrets out before it escapes and cuts', () => {
    const secret = 'sk_*canary*_[1]'
    const redact = (text: string): string => text.replaceAll(secret, '***')
    const text = renderDeploySummary(
      { ...GREEN, reason: `has ${secret}`, logTail: { title: 'Log', text: secret } },
      redact,
    )
    expect(text).toContain('**Why:** has \\*\\*\\*')
    expect(text).toContain('```\n***\n```')
    expect(text).not.toContain('canary')
  })

  it('keeps the end of a long log', () => {
    const text = renderDeploySummary({
      ...GREEN,
      logTail: { title: 'Log', text: `${'x'.repeat(5_000_000)}the end` },
    })
    expect(text.length).toBeLessThan(100_000)
    expect(text).toContain('the end')
    const lines = `${'canary-secret-line\n'.repeat(20_000)}the end`
    const cut = renderDeploySummary({ ...GREEN, logTail: { title: 'Log', text: lines } })
    expect(cut.match(/^(?!canary-).*secret-line$/gm)).toBeNull()
  })
})

describe('renderVerifySummary', () => {
  it('says how many passed, then what came back', () => {
    const text = renderVerifySummary({
      deploymentUrl: 'https://agent.example.com',
      passed: 1,
      failed: 1,
      durationSeconds: 3,
      checks: [
        { name: 'a', verdict: 'passed', reason: '', seconds: 1, said: 'yes', warnings: ['slow'] },
        { name: 'b', verdict: 'failed', reason: 'no answer', hint: 'Look.', seconds: 2 },
      ],
    })
    expect(text.split('\n')[0]).toBe('## ❌ 1 of 2 checks failed in 3.0 s')
    expect(text).toContain('| a | ✅ passed | 1.0 s | “yes” |')
    expect(text).toContain('| b | ❌ failed | 2.0 s | no answer<br>→ Look. |')
    expect(text).toContain('- ⚠️ a: slow')
  })

  it('is green only without a reason', () => {
    const first = (failed: number, reason?: string) =>
      renderVerifySummary({ passed: 2, failed, checks: [], reason }).split('\n')[0]
    expect(first(0)).toBe('## ✅ All 2 checks passed')
    expect(first(1)).toBe('## ❌ 1 of 3 checks failed')
    expect(first(0, 'not reached')).toContain('❌')
  })
})

/** The text without code blocks and code spans: nothing in them is markup. */
function withoutCode(text: string): string {
  const kept: string[] = []
  let open = ''
  for (const line of text.split('\n')) {
    const ticks = /^`{3,}/.exec(line)?.[0] ?? ''
    if (open === '' && ticks !== '') open = ticks
    else if (open !== '' && line === open) open = ''
    else if (open === '') kept.push(line.replace(/(`+)(?!`).*?(?<!`)\1(?!`)/g, ''))
  }
  expect(open).toBe('')
  return kept.join('\n')
}
