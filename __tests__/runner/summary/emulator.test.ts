import { describe, expect, it } from '@jest/globals'
import { renderEmulatorSummary } from '../../../src/runner/summary/emulator.ts'

const ID = '11111111-2222-4333-8444-555555555555'
const OTHER = '11111111-2222-4333-8444-666666666666'

describe('renderEmulatorSummary', () => {
  it('takes the same calls together, in the order of their first time', () => {
    expect(
      renderEmulatorSummary({
        requests: [
          { method: 'POST', path: '/v2/deployments', status: 201 },
          { method: 'GET', path: `/v2/deployments/${ID}`, status: 200 },
          { method: 'GET', path: `/v2/deployments/${OTHER}`, status: 503 },
          { method: 'GET', path: `/v2/deployments/${ID}`, status: 200 },
          { method: 'GET', path: '/ok', status: null },
        ],
        deployments: [{ id: ID, name: 'my-agent', status: 'READY' }],
        revisions: [
          { id: '1', deploymentId: ID, status: 'BUILD_FAILED' },
          { id: '2', deploymentId: OTHER, status: 'DEPLOYED' },
          { id: '3', deploymentId: ID, status: 'DEPLOYED' },
        ],
      }),
    ).toBe(
      [
        '### Emulator: what it was asked',
        '',
        '| Method | Path | Times | Answers |',
        '| --- | --- | --- | --- |',
        '| `POST` | `/v2/deployments` | 1 | 201 |',
        '| `GET` | `/v2/deployments/{id}` | 3 | 200 (2), 503 (1) |',
        '| `GET` | `/ok` | 1 | cut |',
        '',
        '| Deployment | Status | Its revisions, oldest first |',
        '| --- | --- | --- |',
        '| my-agent | `READY` | BUILD_FAILED, DEPLOYED |',
        '',
      ].join('\n'),
    )
  })

  it('says so when nothing was asked', () => {
    expect(renderEmulatorSummary({ requests: [], deployments: [], revisions: [] })).toContain(
      'Nothing: no step',
    )
  })

  it('stays short, and lets no path speak', () => {
    const requests = Array.from({ length: 300 }, (_, at) => ({
      method: 'GET',
      path: `/x\`|<img src=x>\n# ${at}`,
      status: 404,
    }))
    const text = renderEmulatorSummary({ requests, deployments: [], revisions: [] })
    expect(text).toContain('… and 100 other calls.')
    expect(text).not.toMatch(/^# /m)
    const row = text.split('\n')[4] ?? ''
    expect(row.match(/(?<!\\)\|/g)).toHaveLength(5)
  })
})
