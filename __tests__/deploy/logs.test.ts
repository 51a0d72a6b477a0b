import { afterEach, describe, expect, it } from '@jest/globals'
import type { Revision } from '../../src/clients/control-plane/wire.ts'
import { BuildLogStream, readLogTail } from '../../src/deploy/logs.ts'
import {
  type Answer,
  type Asked,
  type ScriptedService,
  scriptedService,
} from '../helpers/scripted-service.ts'

const NEW = 'GET /v2/deployments/d1/revisions/r1/logs'
const OLD = (kind: string) => `POST /v1/projects/d1/revisions/r1/${kind}_logs`

let service: ScriptedService
afterEach(() => service.close())
async function start(script: Record<string, (asked: Asked, nth: number) => Answer>): Promise<void> {
  service = await scriptedService((asked, nth) => script[asked.line]?.(asked, nth) ?? { status: 404 })
}
/** Newest first, as the service answers to `order: desc`. */
const logs = (...messages: string[]): Answer => ({
  body: { logs: messages.map((message) => ({ message })).reverse(), next_offset: null },
})
const tail = (status: string) => readLogTail(service.api, 'd1', 'r1', status, service.log)

describe('the tail of the log that tells why', () => {
  it.each([
    ['BUILD_FAILED', 'build'],
    ['DEPLOY_FAILED', 'deploy'],
  ])('of %s is the %s log, oldest line first', async (status, kind) => {
    await start({ [NEW]: () => logs('first', 'last') })
    expect(await tail(status)).toEqual({ title: `End of the ${kind} log (2 lines)`, text: 'first\nlast' })
  })

  it.each([404, 405, 422])('is read from the older family where the newer answers %s', async (status) => {
    await start({ [NEW]: () => ({ status }), [OLD('build')]: () => logs('one') })
    expect(await tail('BUILD_FAILED')).toEqual({ title: 'End of the build log (1 line)', text: 'one' })
    expect(service.asked.at(-1)?.body).toEqual({ order: 'desc', limit: 80 })
  })

  it.each([
    ['numbers', 1_700_000_000_000, 1_700_000_000_500],
    ['texts', '2026-11-21T09:00:00Z', '2026-11-21T09:00:01Z'],
  ])('is told oldest first where the service does not know `order`: times as %s', async (_title, t1, t2) => {
    const lines = [
      { message: 'first', timestamp: t1 },
      { message: 'last', timestamp: t2 },
    ]
    await start({ [NEW]: () => ({ body: { logs: lines } }) })
    expect((await tail('BUILD_FAILED'))?.text).toBe('first\nlast')
    await service.close()
    await start({ [NEW]: () => ({ body: { logs: lines.toReversed() } }) })
    expect((await tail('BUILD_FAILED'))?.text).toBe('first\nlast')
  })

  it('is not asked for where no log tells', async () => {
    await start({})
    expect(await tail('CREATE_FAILED')).toBeUndefined()
    expect(service.asked).toEqual([])
  })

  it.each<[string, Answer, RegExp]>([
    ['empty', logs(), /is empty/],
    ['refused', { status: 403 }, /could not be read/],
    ['no log at all', { body: { lines: [] } }, /could not be read/],
  ])('%s is one line, and no error', async (_title, answer, words) => {
    await start({ [NEW]: () => answer })
    expect(await tail('BUILD_FAILED')).toBeUndefined()
    expect(service.said).toEqual([expect.stringMatching(words)])
  })
})

describe('the build log while it is built', () => {
  const follow = (stream: BuildLogStream, status: string) => stream.follow({ id: 'r1', status } as Revision)

  it('tells each line once, also without ids, and reads once more after the build', async () => {
    const answers = [logs('a', 'same', 'same'), logs('same', 'same', 'b', 'same'), logs('b', 'same', 'c')]
    await start({ [NEW]: (_asked, nth) => answers[nth - 1] ?? logs() })
    const stream = new BuildLogStream(service.api, 'd1', service.log)
    for (const status of ['QUEUED', 'BUILDING', 'BUILDING', 'DEPLOYING', 'DEPLOYING'])
      await follow(stream, status)
    expect(service.said).toEqual([
      'remote: Build log: a\nsame\nsame',
      'remote: Build log: b\nsame',
      'remote: Build log: c',
    ])
    expect(service.asked).toHaveLength(3)
  })

  it('leaves the end of a failed build to the tail', async () => {
    await start({ [NEW]: () => logs('a') })
    const stream = new BuildLogStream(service.api, 'd1', service.log)
    for (const status of ['BUILDING', 'BUILD_FAILED']) await follow(stream, status)
    expect(service.asked).toHaveLength(1)
  })

  it('is given up without a word when it cannot be read', async () => {
    await start({ [NEW]: () => ({ status: 500 }) })
    const stream = new BuildLogStream(service.api, 'd1', service.log)
    for (const status of ['BUILDING', 'BUILDING']) await follow(stream, status)
    expect(service.asked).toHaveLength(1)
    expect(service.said).toEqual([])
  })
})
