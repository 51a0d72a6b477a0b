import { describe, expect, it } from '@jest/globals'
import { AnswerBuilder } from '../../../src/clients/a2a/answer.ts'
import { readEvent, readState, readTask } from '../../../src/clients/a2a/dialect.ts'

const ids = { taskId: 't', contextId: 'c' }

function answerOf(...results: unknown[]) {
  const builder = new AnswerBuilder()
  for (const result of results) {
    const event = readEvent(result)
    if (event === undefined) throw new Error(`not understood: ${JSON.stringify(result)}`)
    builder.add(event)
  }
  return builder.build()
}

const status = (state: string, text?: string, more: object = {}) => ({
  kind: 'status-update',
  ...ids,
  status: {
    state,
    ...(text === undefined ? {} : { message: { role: 'agent', parts: [{ kind: 'text', text }] } }),
  },
  ...more,
})
const artifact = (artifactId: string, text: string, more: object = {}) => ({
  kind: 'artifact-update',
  ...ids,
  artifact: { artifactId, parts: [{ kind: 'text', text }] },
  ...more,
})
const task = (more: object) => ({
  kind: 'task',
  id: 't',
  contextId: 'c',
  status: { state: 'completed' },
  ...more,
})

describe('states', () => {
  it.each([
    ['completed', 'completed'],
    ['TASK_STATE_INPUT_REQUIRED', 'input-required'],
    ['TASK_STATE_CANCELLED', 'canceled'],
    ['auth-required', 'auth-required'],
    [undefined, ''],
    [5, ''],
  ])('%p is %p', (given, state) => expect(readState(given)).toBe(state))
})

describe('the text of an answer', () => {
  it('is that of the artifacts, not of a status message beside them', () => {
    const message = { parts: [{ text: 'Task completed successfully' }] }
    const result = task({ status: { state: 'completed', message }, artifacts: [{ parts: [{ text: 'hi' }] }] })
    expect(answerOf(result)?.text).toBe('hi')
  })

  it('joins artifacts, also without ids, by line ends', () => {
    const artifacts = [{ parts: [{ text: 'one' }] }, { parts: [{ text: 'two' }, { text: 'three' }] }]
    expect(answerOf(task({ artifacts }))?.text).toBe('one\ntwo\nthree')
  })

  it('appends pieces of one artifact and replaces whole ones', () => {
    const events = [
      artifact('a', 'al'),
      artifact('a', 'pha', { append: true }),
      artifact('b', 'x'),
      artifact('b', 'y'),
    ]
    expect(answerOf(...events, status('completed'))?.text).toBe('alpha\ny')
  })

  it('is that of an empty artifact, too: then nothing was said', () => {
    expect(answerOf(status('working', 'thinking'), artifact('a', ''), status('completed'))?.text).toBe('')
  })

  it('is else the last status message, of a working update too', () => {
    expect(answerOf(status('working', 'al'), status('working', 'alpha'), status('completed'))?.text).toBe(
      'alpha',
    )
  })

  it('is else the last agent entry of the history after the user spoke', () => {
    const entry = (role: string, text: string) => ({ role, parts: [{ text }] })
    const history = [
      entry('ROLE_USER', 'q'),
      entry('ROLE_AGENT', 'old'),
      entry('user', 'q2'),
      entry('agent', 'new'),
    ]
    expect(answerOf(task({ history }))?.text).toBe('new')
    expect(answerOf(task({ history: history.slice(0, 3) }))?.text).toBe('')
  })
})

describe('events', () => {
  it('reads the strict 1.0 wrappers', () => {
    const answer = answerOf(
      { task: task({ status: { state: 'TASK_STATE_SUBMITTED' } }) },
      { artifactUpdate: { ...ids, artifact: { artifactId: 'a', parts: [{ text: 'hi' }] } } },
      { statusUpdate: { ...ids, status: { state: 'TASK_STATE_COMPLETED' } } },
    )
    expect(answer).toEqual({ ...ids, state: 'completed', text: 'hi', ended: true })
  })

  it('says when nothing follows', () => {
    const builder = new AnswerBuilder()
    const add = (result: object) => builder.add(readEvent(result) as never)
    expect(add(status('working'))).toBe(false)
    expect(add(status('completed', undefined, { final: true }))).toBe(true)
  })

  it.each([
    ['no object', 'text'],
    ['no ids', { kind: 'status-update', status: { state: 'working' } }],
    ['no state', { kind: 'status-update', ...ids, status: {} }],
    ['no status', task({ status: undefined })],
    ['a task without a contextId', task({ contextId: undefined })],
    ['a task with an empty id', task({ id: '' })],
    ['an unknown kind', { kind: 'weather', ...ids }],
  ])('leaves out %s', (_, result) => {
    expect(readEvent(result)).toBeUndefined()
    expect(readTask(result)).toBeUndefined()
  })

  it('survives members of other types', () => {
    const odd = task({ artifacts: 'no', history: { a: 1 }, status: { state: 'working', message: [] } })
    expect(answerOf(odd)).toMatchObject({ state: 'working', text: '', ended: false })
  })
})
