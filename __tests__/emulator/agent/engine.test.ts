import { describe, expect, it } from '@jest/globals'
import { Engine } from '../../../src/emulator/agent/engine.ts'
import { loadGraphs } from '../../../src/emulator/agent/graphs.ts'
import { canonicalUuid, IdSource, systemAssistantId } from '../../../src/emulator/agent/ids.ts'

const NOON = Date.parse('2026-11-21T12:00:00Z')

function engineAt(now: () => number): Engine {
  const options = { profile: 'python' as const, agentVersion: '0.16.7', url: 'http://127.0.0.1:1' }
  return new Engine({ ...options, graphs: loadGraphs(), now })
}

describe('the engine', () => {
  it('has a thread free again before it tells the end of a run', async () => {
    const engine = engineAt(Date.now)
    const thread = engine.threads.create()
    for (let turn = 1; turn <= 3; turn += 1) {
      const run = engine.start(thread.id, {
        assistantId: 'counter',
        input: { messages: 'hi' },
        multitaskStrategy: 'reject',
      })
      await run.done
      expect(run.status).toBe('success')
    }
    expect(thread.checkpoints.at(-1)?.values['messages']).toHaveLength(6)
    engine.close()
  })

  it('gives the events of a run to whoever subscribes in the turn of its start', async () => {
    const engine = engineAt(Date.now)
    const run = engine.start(undefined, {
      assistantId: 'two',
      input: {},
      streamMode: ['updates'],
      temporary: true,
    })
    const seen: string[] = []
    for await (const event of run.events()) seen.push(event.event)
    expect(seen).toEqual(['metadata', 'updates', 'updates'])
    expect(run.messageIds.size).toBe(2)
    expect(engine.threads.get(run.threadId)).toBeUndefined()
    engine.close()
  })

  it('never tells two times the same moment, on a clock that stands still', () => {
    const engine = engineAt(() => NOON)
    const times = Array.from({ length: 2500 }, () => engine.timestamp())
    expect(times).toEqual([...new Set(times)].sort())
    expect(times[0]).toMatch(/^2026-11-21T12:00:00\.\d{6}\+00:00$/)
    engine.close()
  })
})

describe('ids', () => {
  it('are of the recorded versions', () => {
    const ids = new IdSource(() => NOON)
    expect(ids.v4()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    // 2026-11-21T12:00:00Z in milliseconds since 1970, and in 100 ns since 1582.
    expect(ids.v7()).toMatch(/^01a1fdfa-4600-7[0-9a-f]{3}-[89ab]/)
    expect(ids.v6(5)).toMatch(/^1f1e5a31-[0-9a-f]{4}-6[0-9a-f]{3}-8005-/)
    expect(ids.hex()).toMatch(/^[0-9a-f]{32}$/)
    expect(systemAssistantId('agent')).toBe('fe096781-5601-53d2-b2f6-0d3403f7e9ca')
    expect(systemAssistantId('counter')).toBe('09d6caf4-2ef3-5a8b-b1a7-114690ed5d45')
  })

  it('are read in each spelling that the server takes', () => {
    const canonical = 'c0ee0877-ddd7-4028-9807-632b3a9f26ae'
    for (const spelling of [canonical, canonical.toUpperCase(), canonical.replaceAll('-', '')]) {
      expect(canonicalUuid(spelling)).toBe(canonical)
    }
    for (const wrong of ['', 'agent', `${canonical}0`, canonical.replace('c', 'g')]) {
      expect(canonicalUuid(wrong)).toBeUndefined()
    }
  })
})
