import { describe, expect, it } from '@jest/globals'
import { says, startAgent } from './server.ts'

const mintFeedback = (runId: string, keys: readonly string[]): Record<string, string> =>
  Object.fromEntries(keys.map((key) => [key, `http://mint.example/${runId}/${encodeURIComponent(key)}`]))

describe('the feedback event', () => {
  it('comes last, with each key once, in the order asked for', async () => {
    const agent = await startAgent({ mintFeedback })
    const events = await agent.stream(await agent.thread(), {
      assistant_id: 'agent',
      input: says('x'),
      stream_mode: 'updates',
      feedback_keys: ['b', 'has space/ü', 'b', ''],
    })
    expect(events.map(({ event }) => event)).toEqual(['metadata', 'updates', 'feedback'])
    expect(Object.keys(events[2]?.data)).toEqual(['b', 'has space/ü', ''])
    const wait = await agent.call('POST', '/runs/wait', {
      assistant_id: 'agent',
      input: says('x'),
      feedback_keys: ['k'],
    })
    expect(Object.keys(wait.body)).toEqual(['messages', '__feedback__'])
    await agent.close()
  })

  it('comes after a run that stopped to ask, not after one that failed, not without keys', async () => {
    const agent = await startAgent({ mintFeedback })
    const last = async (assistant: string, keys: string[]): Promise<string | undefined> => {
      const body = { assistant_id: assistant, input: says('x'), stream_mode: 'updates', feedback_keys: keys }
      return (await agent.stream(undefined, body)).at(-1)?.event
    }
    expect(await last('interrupting', ['k'])).toBe('feedback')
    expect(await last('failing', ['k'])).toBe('error')
    expect(await last('agent', [])).toBe('updates')
    await agent.close()
  })

  it('is a late error where the server cannot mint, which fails run and thread', async () => {
    const agent = await startAgent()
    const id = await agent.thread()
    const events = await agent.stream(id, {
      assistant_id: 'agent',
      input: says('x'),
      stream_mode: 'updates',
      feedback_keys: ['k'],
    })
    expect(events.map(({ event }) => event)).toEqual(['metadata', 'updates', 'error'])
    const error = { error: 'LangSmithConnectionError', message: 'An internal error occurred' }
    expect(events[2]?.data).toEqual(error)
    expect((await agent.call('GET', `/threads/${id}`)).body).toMatchObject({ status: 'error', error })
    await agent.close()
  })
})
