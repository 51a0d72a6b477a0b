/** A step of one story, named by INPUT_STORY, over the real wrapper: run as a child process by the tests. */
import { AgentDeployError, InputError } from '../../../src/base/errors.ts'
import { runAction, type Story } from '../../../src/runner/run-action.ts'
import type { Runner } from '../../../src/runner/runner.ts'
import { HOSTILE } from '../../helpers/runner-oracle.ts'

const SECRET = 'canary-secret-0123456789'

async function never(runner: Runner): Promise<void> {
  runner.outputs.set('outcome', 'running')
  runner.log.info('working')
  await runner.clock.sleep(60_000, runner.signal)
}

const stories: Record<string, Story> = {
  green: {
    async main(runner) {
      runner.outputs.set('outcome', 'deployed')
      runner.outputs.set('count', 3)
      runner.outputs.set('created', true)
      runner.outputs.set('text', 'one\ntwo=<<x')
      runner.outputs.set('outcome', 'deployed')
      runner.state.save('id', 'saved\nvalue')
      runner.log.info(`earlier: ${runner.state.get('before')}`)
      runner.summary.append('## fine')
    },
  },
  red: {
    async main(runner) {
      runner.secrets.mask(SECRET, 'KEY')
      const root = Object.assign(new Error(`connect to ${SECRET}\n::add-mask::pwned`), {
        code: 'ECONNREFUSED',
      })
      throw new AgentDeployError('POST https://host answered 500: first\nsecond line', {
        hint: 'Do this.',
        cause: new Error('in between', { cause: root }),
      })
    },
    async failed(runner, error) {
      runner.outputs.set('outcome', 'error')
      runner.summary.append(`failed with ${(error as Error).name} ${SECRET}`)
    },
  },
  inputs: {
    async main(runner) {
      runner.inputs.required('api-key')
      runner.inputs.boolean('wait', true)
      runner.inputs.check()
    },
  },
  string: {
    async main() {
      throw 'a text'
    },
  },
  undefined: {
    async main() {
      throw undefined
    },
  },
  bug: {
    async main() {
      const value: unknown = undefined
      return (value as { missing(): Promise<void> }).missing()
    },
  },
  'failed-fails': {
    async main() {
      throw new AgentDeployError('the first failure')
    },
    failed() {
      throw new Error('the second failure')
    },
  },
  uncaught: {
    async main(runner) {
      setTimeout(() => {
        throw new Error('::add-mask::pwned\nthrown in a timer')
      }, 5)
      await runner.clock.sleep(30_000, runner.signal)
    },
  },
  unhandled: {
    async main(runner) {
      void Promise.reject(new AgentDeployError('nobody caught this', { hint: 'Look.' }))
      await runner.clock.sleep(30_000, runner.signal)
    },
  },
  empty: {
    main: () => new Promise<void>(() => {}),
  },
  hostile: {
    async main(runner) {
      runner.secrets.mask(SECRET)
      const text = `${HOSTILE.join('\n')}\n${SECRET}`
      for (const one of [text, ...HOSTILE]) {
        runner.log.info(one)
        runner.log.debug(one)
        runner.log.remote(one, one)
        await runner.log.group(one, async () => runner.log.info(one))
      }
      runner.log.warning(text)
      runner.log.notice(text)
      runner.summary.append(text)
      throw new AgentDeployError(text, { hint: text, cause: new Error(text) })
    },
  },
  split: {
    async main(runner) {
      runner.secrets.mask(SECRET)
      const half = SECRET.length / 2
      for (const between of ['\u0000', '\u001b[31m', '\u200e'])
        runner.log.info(`split ${SECRET.slice(0, half)}${between}${SECRET.slice(half)}`)
    },
  },
  long: {
    async main(runner) {
      for (let index = 0; index < 50_000; index++) runner.log.info(`line ${index} ${'x'.repeat(80)}`)
      throw new AgentDeployError(`${'m'.repeat(10_000)}`, { hint: 'The hint is there.' })
    },
  },
  cancel: {
    main: never,
    async failed(runner, error) {
      runner.outputs.set('outcome', 'cancelled')
      runner.summary.append(`cancelled: ${(error as Error).name}`)
    },
  },
  deaf: {
    async main(runner) {
      runner.log.info('working')
      await new Promise((resolve) => setTimeout(resolve, 60_000))
    },
    async failed(runner) {
      runner.outputs.set('outcome', 'cancelled')
      runner.summary.append('was deaf')
      await new Promise((resolve) => setTimeout(resolve, 60_000))
    },
  },
  leak: {
    async main(runner) {
      setInterval(() => {}, 1000)
      runner.outputs.set('outcome', 'deployed')
    },
  },
  short: {
    async main(runner) {
      runner.secrets.mask('1', 'FLAG')
      runner.secrets.mask('ab', 'OTHER')
      runner.secrets.mask('long-enough', 'LONG')
      await runner.clock.sleep(0)
      runner.outputs.set('first', 'has long-enough in it')
      runner.outputs.set('second', 'has long-enough in it too')
    },
  },
  context: {
    async main(runner) {
      const context = await runner.context()
      const again = await runner.context()
      runner.log.info(`same ${context === again}`)
      const { payload: _, ...rest } = context
      runner.outputs.set('context', JSON.stringify(rest))
    },
  },
  name: {
    async main(runner) {
      runner.outputs.set('a\nb', 'x')
    },
  },
  huge: {
    async main(runner) {
      runner.summary.append('## head')
      runner.summary.append(
        `<details><summary>log</summary>\n\n\`\`\`\n${'0123456789 äöü\n'.repeat(60_000)}\`\`\`\n\n</details>`,
      )
    },
  },
  request: {
    async main(runner) {
      await runner.transport.send({ method: 'GET', url: new URL(runner.inputs.required('url')) })
      runner.outputs.set('outcome', 'deployed')
    },
  },
  multi: {
    async main() {
      throw new InputError([
        { input: 'a', message: 'is "1", expected x' },
        { input: 'b', message: 'is required' },
      ])
    },
  },
}

const story = stories[process.env['INPUT_STORY'] ?? '']
if (story === undefined) throw new Error('no such story')
await runAction(story)
