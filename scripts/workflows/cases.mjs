/** What the examples do when they are run. Each case has an emulator, a GitHub stub and a repository of its own. */
import assert from 'node:assert/strict'
import { AGENT } from './workbench.mjs'

const KEY = 'OPENAI_API_KEY'

/** The event of a pull request, from this repository or from a fork. */
function pullRequest(action, sha, headRepository = 'octo/agent') {
  const repository = {
    full_name: 'octo/agent',
    name: 'agent',
    default_branch: 'main',
    owner: { login: 'octo' },
  }
  const head = { full_name: headRepository, fork: headRepository !== 'octo/agent' }
  return {
    action,
    number: 7,
    pull_request: {
      number: 7,
      user: { login: 'octocat' },
      head: { ref: 'topic', sha, repo: head },
      base: { ref: 'main', sha, repo: repository },
    },
    repository,
  }
}

/** As assert.match, without the whole log in the message: its end is shown by the caller. */
function says(text, pattern) {
  assert.ok(pattern.test(text), `expected ${pattern}`)
}

function saysNot(text, pattern) {
  assert.ok(!pattern.test(text), `expected no ${pattern}`)
}

const states = (deployment) => deployment.statuses.map((one) => one.state)

/**
 * `run(event)` runs the example's workflow and gives exit code and log; `emulator` and `github` are what it
 * talks to. A case fails by throwing.
 */
export const CASES = [
  {
    name: 'push: a first deploy, a second one, and one whose build fails',
    workflow: 'push-to-main.yml',
    files: AGENT,
    secrets: { [KEY]: 'sk-canary-0123456789' },
    async test({ run, emulator, github }) {
      const first = await run({ name: 'push' })
      assert.equal(first.code, 0)
      says(first.log, /The agent is live at http:\/\/127\.0\.0\.1:\d+\/d\//)
      const created = await emulator.state()
      assert.deepEqual(
        created.deployments.map((one) => one.name),
        ['my-agent'],
      )
      assert.deepEqual(
        created.revisions.map((one) => one.status),
        ['DEPLOYED'],
      )
      assert.deepEqual(created.deployments[0].secrets, [{ name: KEY, value: 'sk-canary-0123456789' }])

      const second = await run({ name: 'push' })
      assert.equal(second.code, 0)
      const updated = await emulator.state()
      assert.deepEqual(
        updated.deployments.map((one) => one.id),
        [created.deployments[0].id],
      )
      assert.deepEqual(
        updated.revisions.map((one) => one.status),
        ['DEPLOYED', 'DEPLOYED'],
      )
      assert.deepEqual(github.deployments.map(states), [
        ['in_progress', 'success', 'inactive'],
        ['in_progress', 'success'],
      ])

      await emulator.scenario({
        deployment: 'my-agent',
        statuses: [
          ['BUILDING', 2],
          ['BUILD_FAILED', null],
        ],
      })
      const third = await run({ name: 'push' })
      assert.notEqual(third.code, 0)
      says(third.log, /BUILD_FAILED/)
      assert.deepEqual(
        github.deployments.map((one) => states(one).at(-1)),
        ['inactive', 'success', 'failure'],
      )
      saysNot(third.log, /The agent is live/)
    },
  },
  {
    name: 'preview: opened, pushed to, closed, opened again',
    workflow: 'preview-per-pull-request.yml',
    files: AGENT,
    secrets: { PREVIEW_OPENAI_API_KEY: 'sk-canary-0123456789' },
    async test({ run, emulator, github, sha }) {
      for (const action of ['opened', 'synchronize']) {
        assert.equal((await run({ name: 'pull_request', event: pullRequest(action, sha) })).code, 0)
        const { deployments } = await emulator.state()
        assert.deepEqual(
          deployments.map((one) => one.name),
          ['my-agent-pr-7'],
        )
        assert.equal(github.comments.length, 1)
        says(github.comments[0].body, /`my-agent-pr-7` ✅ is live/)
      }
      assert.deepEqual(
        github.deployments.map((one) => one.ref),
        [sha, sha],
      )
      assert.deepEqual(
        github.deployments.map((one) => states(one).at(-1)),
        ['inactive', 'success'],
      )

      assert.equal((await run({ name: 'pull_request', event: pullRequest('closed', sha) })).code, 0)
      assert.deepEqual((await emulator.state()).deployments, [])
      assert.equal(github.comments.length, 1)
      says(github.comments[0].body, /is gone/)
      assert.deepEqual(
        github.deployments.map((one) => states(one).at(-1)),
        ['inactive', 'inactive'],
      )

      assert.equal((await run({ name: 'pull_request', event: pullRequest('reopened', sha) })).code, 0)
      assert.deepEqual(
        (await emulator.state()).deployments.map((one) => one.name),
        ['my-agent-pr-7'],
      )
      says(github.comments[0].body, /is live/)
    },
  },
  {
    name: 'preview: does nothing for a fork',
    workflow: 'preview-per-pull-request.yml',
    files: AGENT,
    secrets: {},
    async test({ run, emulator, github, sha }) {
      for (const action of ['opened', 'closed']) {
        const event = pullRequest(action, sha, 'stranger/agent')
        assert.equal((await run({ name: 'pull_request', event })).code, 0)
      }
      assert.deepEqual((await emulator.state()).requests, [])
      assert.deepEqual(github.requests, [])
    },
  },
  {
    name: 'fork: deployed and checked inside the job, without a secret',
    workflow: 'pull-request-from-fork.yml',
    files: AGENT,
    secrets: undefined,
    async test({ run, emulator, sha }) {
      const { code, log } = await run({
        name: 'pull_request',
        event: pullRequest('opened', sha, 'stranger/agent'),
      })
      assert.equal(code, 0)
      says(log, /Emulator: what it was asked/)
      says(log, /`\/d\/\{id\}\/threads\/\{id\}\/runs\/stream`/)
      says(log, /says hello/)
      says(log, /speaks A2A/)
      says(log, /is stopped/)
      assert.deepEqual((await emulator.state()).requests, [])
    },
  },
  {
    name: 'fork: a graph that points nowhere is red, and the emulator is stopped all the same',
    workflow: 'pull-request-from-fork.yml',
    files: {
      ...AGENT,
      'langgraph.json': '{ "dependencies": ["."], "graphs": { "agent": "./gone.py:graph" } }',
    },
    secrets: undefined,
    async test({ run, sha }) {
      const { code, log } = await run({
        name: 'pull_request',
        event: pullRequest('opened', sha, 'stranger/agent'),
      })
      assert.notEqual(code, 0)
      says(log, /gone\.py/)
      says(log, /is stopped/)
    },
  },
  {
    name: 'composite: empty inputs mean defaults, outputs come through',
    workflow: 'composite/deploy.yml',
    files: AGENT,
    secrets: {},
    async test({ run, emulator }) {
      const { code, log } = await run({ name: 'push' })
      assert.equal(code, 0)
      says(log, /deployed at http:\/\/127\.0\.0\.1:\d+\/d\//)
      const { deployments, revisions } = await emulator.state()
      assert.deepEqual(
        deployments.map((one) => one.name),
        ['my-agent'],
      )
      assert.deepEqual(
        revisions.map((one) => one.status),
        ['DEPLOYED'],
      )
      assert.deepEqual(deployments[0].secrets, [{ name: 'LOG_LEVEL', value: 'info' }])
    },
  },
]
