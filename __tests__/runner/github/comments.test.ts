import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { markerOf, retireComment, upsertComment } from '../../../src/runner/github/comments.ts'
import { type GithubStub, startGithubStub } from '../../helpers/github-stub.ts'
import { type TestRunner, testContext, testRunner } from '../../helpers/test-runner.ts'

let stub: GithubStub
let runner: TestRunner

beforeEach(async () => {
  stub = await startGithubStub()
  runner = testRunner(testContext(stub.apiUrl))
})

afterEach(() => stub.close())

function options(markdown = 'hello', name = 'my-agent') {
  return { token: stub.token, name, markdown }
}

const warnings = () => runner.said.filter((line) => line.startsWith('warning: '))

describe('upsertComment', () => {
  it('writes one comment, then updates it in place', async () => {
    await upsertComment(runner, options('first'))
    await upsertComment(runner, options('second'))
    expect(stub.comments).toHaveLength(1)
    expect(stub.comments[0]).toMatchObject({ issue: 7, body: `${markerOf('my-agent')}\nsecond\n` })
    expect(runner.said).toEqual([])
  })

  it('keeps one comment for each name', async () => {
    await upsertComment(runner, options('one', 'agent'))
    await upsertComment(runner, options('two', 'agent-2'))
    await upsertComment(runner, options('three', 'agent'))
    expect(stub.comments.map((one) => one.body.split('\n')[1])).toEqual(['three', 'two'])
  })

  it('finds its comment on the third page', async () => {
    for (let at = 0; at < 230; at++) stub.seedComment({ issue: 7, body: `talk ${at}` })
    const mine = stub.seedComment({ issue: 7, body: `${markerOf('my-agent')}\nold` })
    await upsertComment(runner, options('new'))
    expect(mine.body).toContain('new')
    expect(stub.comments).toHaveLength(231)
  })

  it('never touches somebody’s comment that quotes or fakes the marker', async () => {
    const quoted = stub.seedComment({ issue: 7, body: `look: ${markerOf('my-agent')}` })
    const faked = stub.seedComment({
      issue: 7,
      body: `${markerOf('my-agent')}\nfree money`,
      user: { login: 'passer-by', type: 'User' },
      author_association: 'CONTRIBUTOR',
    })
    const before = [quoted.body, faked.body]
    await upsertComment(runner, options())
    expect([quoted.body, faked.body]).toEqual(before)
    expect(stub.comments).toHaveLength(3)
  })

  it('updates a comment that a member’s own token wrote', async () => {
    const mine = stub.seedComment({
      issue: 7,
      body: `${markerOf('my-agent')}\nold`,
      user: { login: 'octocat', type: 'User' },
      author_association: 'MEMBER',
    })
    await upsertComment(runner, options('new'))
    expect(mine.body).toContain('new')
    expect(stub.comments).toHaveLength(1)
  })

  it('writes a new one when the old one was deleted in between', async () => {
    stub.seedComment({ issue: 7, body: `${markerOf('my-agent')}\nold` })
    stub.fault({ match: 'PATCH', status: 404, body: { message: 'Not Found' } })
    await upsertComment(runner, options('new'))
    expect(stub.comments).toHaveLength(2)
    expect(warnings()).toEqual([])
  })

  it('writes on the pull request of an issue_comment event', async () => {
    runner = testRunner(testContext(stub.apiUrl, { pullRequest: undefined, issueNumber: 9 }))
    await upsertComment(runner, options())
    expect(stub.comments[0]?.issue).toBe(9)
  })

  it('says once that an event without a pull request has no comment, and asks nobody', async () => {
    runner = testRunner(testContext(stub.apiUrl, { eventName: 'push', pullRequest: undefined }))
    await upsertComment(runner, options())
    expect(runner.said).toEqual([expect.stringMatching(/^notice: No comment is written: the event "push"/)])
    expect(stub.requests).toEqual([])
  })

  it('takes secrets out and cuts what GitHub would refuse', async () => {
    runner.secrets.mask('hunter2-hunter2')
    await upsertComment(runner, options(`hunter2-hunter2 ${'x'.repeat(80_000)}`))
    const body = stub.comments[0]?.body ?? ''
    expect(body).not.toContain('hunter2')
    expect(body.length).toBeLessThan(65_536)
    expect(body).toContain('cut, see the job summary')
  })

  it.each([403, 404])('names the missing permission in one warning on %i', async (status) => {
    stub.fault({ match: 'POST', status, body: { message: 'Resource not accessible by integration' } })
    await upsertComment(runner, options())
    expect(warnings()).toEqual([expect.stringMatching(/#7: .*"permissions: pull-requests: write"/)])
  })

  it('tries reading and updating once more on 502, never creating', async () => {
    stub.seedComment({ issue: 7, body: `${markerOf('my-agent')}\nold` })
    stub.fault({ match: 'GET', status: 502, times: 1 })
    stub.fault({ match: 'PATCH', status: 502, times: 1 })
    await upsertComment(runner, options('new'))
    expect(stub.comments.map((one) => one.body)).toEqual([`${markerOf('my-agent')}\nnew\n`])

    runner = testRunner(testContext(stub.apiUrl, { pullRequest: undefined, issueNumber: 9 }))
    stub.fault({ match: 'POST', status: 502 })
    const before = stub.requests.length
    await upsertComment(runner, options('new'))
    expect(stub.requests.slice(before).map((one) => one.method)).toEqual(['GET', 'POST'])
    expect(warnings()).toHaveLength(1)
  })

  it('does not carry the token to another host that an answer points to', async () => {
    const other = await startGithubStub()
    try {
      stub.fault({
        match: 'GET',
        status: 200,
        body: [],
        headers: { link: `<${other.apiUrl}/repos/octo/agent/issues/7/comments?page=2>; rel="next"` },
      })
      await upsertComment(runner, options())
      expect(other.requests).toEqual([])
      expect(warnings()).toEqual([expect.stringMatching(/another host/)])
    } finally {
      await other.close()
    }
  })
})

describe('retireComment', () => {
  it('rewrites the comment', async () => {
    const mine = stub.seedComment({ issue: 7, body: `${markerOf('my-agent')}\nold` })
    await retireComment(runner, options('gone'))
    expect(mine.body).toBe(`${markerOf('my-agent')}\ngone\n`)
  })

  it('makes none where there was none', async () => {
    await retireComment(runner, options('gone'))
    expect(stub.comments).toEqual([])
    expect(runner.said).toEqual([])
  })
})

describe('markerOf', () => {
  it('cannot be ended by a name', () => {
    expect(markerOf('a --> <b>!')).toBe('<!-- agent-deploy: a%20--%3E%20%3Cb%3E! -->')
  })
})
