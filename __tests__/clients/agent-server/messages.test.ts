import { describe, expect, it } from '@jest/globals'
import { toRunEvent } from '../../../src/clients/agent-server/events.ts'
import { Answer } from '../../../src/clients/agent-server/messages.ts'

function said(...events: readonly (readonly [name: string, data: unknown])[]): string {
  const answer = new Answer()
  for (const [name, data] of events) answer.add(toRunEvent(name, data))
  return answer.text
}

const human = { type: 'human', id: 'h1', content: 'Hello' }
const ai = (content: unknown, id: string | null = 'a1') => ({ type: 'ai', id, content })
const chunk = (content: string, id = 'a1') => ({ type: 'AIMessageChunk', id, content })

describe('what a run said', () => {
  it('is never the user’s own message', () => {
    expect(said(['updates', { agent: { messages: [human, ai('Hi')] } }])).toBe('Hi')
    expect(said(['values', { messages: [human] }], ['updates', { agent: { messages: [human] } }])).toBe('')
  })

  it('joins chunks by message id, and takes the whole message in their place', () => {
    const chunks = [
      ['messages', [chunk('al'), {}]],
      ['messages', [chunk('x', 'a2'), {}]],
      ['messages', [chunk('pha'), {}]],
    ] as const
    expect(said(...chunks)).toBe('alpha\nx')
    expect(said(...chunks, ['updates', { agent: { messages: [ai('alpha'), ai('x', 'a2')] } }])).toBe(
      'alpha\nx',
    )
  })

  it('joins the chunks of the JavaScript server, which calls them `ai` like whole messages', () => {
    const js = (content: string) => ({ ...ai(content), tool_call_chunks: [] })
    expect(said(['messages', [js('al'), {}]], ['messages', [js('pha'), {}]])).toBe('alpha')
    expect(
      said(['updates', { a: { messages: [js('alpha')] } }], ['updates', { b: { messages: [js('beta')] } }]),
    ).toBe('beta')
  })

  it('takes `messages/partial` as cumulative', () => {
    expect(
      said(
        ['messages/metadata', { a1: {} }],
        ['messages/partial', [ai('al')]],
        ['messages/partial', [ai('alpha')]],
        ['messages/complete', [ai('done', 'a2')]],
      ),
    ).toBe('alpha\ndone')
  })

  it('reads content as a list of blocks', () => {
    const blocks = [{ type: 'text', text: 'one ' }, 'two', { type: 'image_url', image_url: 'x' }, { text: 3 }]
    expect(said(['updates', { agent: { messages: [ai(blocks)] } }])).toBe('one two')
  })

  it('keeps messages without an id apart', () => {
    expect(said(['updates', { a: { messages: [ai('one', null), ai('two', null)] } }])).toBe('one\ntwo')
  })

  it('reads raw messages as a node may write them', () => {
    expect(said(['updates', { a: { messages: [{ role: 'assistant', content: 'raw' }] } }])).toBe('raw')
    expect(
      said([
        'updates',
        {
          a: {
            messages: [
              ['user', 'no'],
              ['ai', 'pair'],
            ],
          },
        },
      ]),
    ).toBe('pair')
    expect(said(['updates', { a: { messages: ai('single') } }])).toBe('single')
    expect(said(['updates', { a: [{ messages: [ai('x')] }, { messages: [ai('y', 'a2')] }] }])).toBe('x\ny')
    expect(said(['updates', { a: { chat: [ai('other key')] } }])).toBe('other key')
    expect(said(['updates', { a: [ai('root state')] }])).toBe('root state')
  })

  it('leaves tool and system messages and empty ones out', () => {
    const tool = { type: 'tool', id: 't1', content: 'tool text' }
    const system = { type: 'system', id: 's1', content: 'system text' }
    expect(said(['updates', { a: { messages: [ai('', 'a0'), tool, system, ai('said')] } }])).toBe('said')
  })

  it('is the JSON of the updates, where a graph has no messages', () => {
    expect(said(['updates', { a: { answer: 'x' } }], ['updates', { b: null }])).toBe(
      '{"a":{"answer":"x"}}\n{"b":null}',
    )
    expect(said(['updates', { __interrupt__: [{ value: 1 }] }])).toBe('{"__interrupt__":[{"value":1}]}')
  })

  it('is empty, not JSON, where a graph has messages and none of the AI’s has text', () => {
    expect(said(['updates', { a: { messages: [ai('')], other: 'state' } }])).toBe('')
  })

  it('is found in the values, less what was there before the run, when no update shows messages', () => {
    expect(
      said(
        ['values', { chat: [ai('earlier', 'a0'), human] }],
        ['updates', { a: { done: true } }],
        ['values', { chat: [ai('earlier', 'a0'), human, ai('new')] }],
      ),
    ).toBe('new')
  })

  it('is not what the thread held before, where a node returns the whole list again', () => {
    const first = new Answer()
    first.add(toRunEvent('updates', { agent: { messages: [human, ai('earlier')] } }))
    const whole = [human, ai('earlier'), { ...human, id: 'h2' }, ai('own', 'a2')]
    const second = new Answer(first.messages)
    second.add(toRunEvent('updates', { agent: { messages: whole } }))
    expect([first.text, second.text]).toEqual(['earlier', 'own'])

    const silent = new Answer(second.messages)
    silent.add(toRunEvent('updates', { agent: { messages: [...whole, { ...human, id: 'h3' }] } }))
    expect([silent.text, silent.empty]).toEqual(['', true])

    const values = { messages: whole.slice(0, 3) }
    expect(said(['values', values], ['updates', { agent: { messages: whole } }])).toBe('own')
  })

  it('is what it said, though it said the same under the same id before', () => {
    const first = new Answer()
    first.add(toRunEvent('updates', { agent: { messages: [ai('Hi', 'fixed'), ai('x', null)] } }))
    const second = new Answer(first.messages)
    second.add(toRunEvent('updates', { agent: { messages: [human, ai('Hi', 'fixed'), ai('x', null)] } }))
    expect(second.text).toBe('Hi\nx')
    // Rewritten, or followed by what another agent said as if it were the user.
    const third = new Answer(first.messages)
    third.add(toRunEvent('updates', { agent: { messages: [ai('Ho', 'fixed'), ai('y', 'new'), human] } }))
    expect(third.text).toBe('Ho\ny')
  })

  it.each([
    [{ a: null }, true],
    [{ a: {} }, true],
    [{ a: { messages: [] } }, true],
    [{ a: { answer: '', list: [null] } }, true],
    [{ a: { messages: [ai(' ')] } }, true],
    [{ a: { answer: 0 } }, false],
    [{ a: null, b: { answer: 'x' } }, false],
    [{ a: { messages: [ai('x')] } }, false],
    [{ __interrupt__: [{ value: 1 }] }, false],
  ])('of %j is empty: %j', (update, empty) => {
    const answer = new Answer()
    answer.add(toRunEvent('updates', update))
    expect(answer.empty).toBe(empty)
  })

  it('counts subgraphs by the name before the bar', () => {
    const answer = new Answer()
    answer.add(toRunEvent('updates|child:1234', { inner: { messages: [ai('deep')] } }))
    expect([answer.text, answer.nodes]).toEqual(['deep', ['inner']])
  })
})

describe('events', () => {
  it('reads the error of both servers', () => {
    expect(toRunEvent('error', 'Run not found')).toMatchObject({ kind: '', message: 'Run not found' })
    expect(toRunEvent('error', { error: 'ValueError', message: 'm' })).toMatchObject({
      type: 'error',
      kind: 'ValueError',
      message: 'm',
    })
  })

  it.each([
    ['metadata', { run_id: 'r' }, false],
    ['messages/metadata', {}, false],
    ['feedback', {}, false],
    ['error', {}, false],
    ['end', null, false],
    ['updates', {}, true],
    ['custom', 1, true],
    ['debug|x', {}, true],
  ])('%s carries state: %j → %j', (name, data, carries) => {
    expect(toRunEvent(name, data).carriesState).toBe(carries)
  })

  it('survives data of any shape', () => {
    for (const name of [
      'metadata',
      'updates',
      'values',
      'messages',
      'messages/partial',
      'feedback',
      'error',
      'x',
    ]) {
      for (const data of [null, 1, 'text', [], [[]], {}, { a: null }, { __interrupt__: 5 }, [null, 'x']]) {
        expect(() => said([name, data])).not.toThrow()
      }
    }
  })
})
