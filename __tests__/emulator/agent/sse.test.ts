import { describe, expect, it } from '@jest/globals'
import { profileOf } from '../../../src/emulator/agent/profile.ts'
import { formatEvent, OpenStreams, sseResponse, streamBody } from '../../../src/emulator/agent/sse.ts'

const dialect = profileOf('python').sse

describe('event streams', () => {
  it('have a heartbeat every 5 s for Python and none for JavaScript', () => {
    expect([dialect.heartbeatMs, profileOf('js').sse.heartbeatMs]).toEqual([5000, undefined])
    expect(formatEvent(dialect, 'a', { b: '\u2028ü' }, '1-0')).toBe(
      'event: a\r\ndata: {"b":"\u2028ü"}\r\nid: 1-0\r\n\r\n',
    )
  })

  it('beat from the start of the response, whether events come or not', async () => {
    let beats = 0
    let close = (): void => {}
    const text = await new Response(
      streamBody(new OpenStreams(), {
        heartbeat: '.',
        heartbeatMs: 15,
        start(write, end) {
          close = end
          const timer = setInterval(() => {
            write('e')
            beats += 1
            if (beats > 20) close()
          }, 5)
          return () => clearInterval(timer)
        },
      }),
    ).text()
    expect(text[0]).toBe('e')
    expect(text.split('.').length).toBeGreaterThanOrEqual(3)
  })

  it('stop their source when the client hangs up, and only then say so', async () => {
    const seen: string[] = []
    const open = new OpenStreams()
    const options = {
      headers: {},
      feed: () => () => void seen.push('stopped'),
      onDisconnect: () => void seen.push('gone'),
    }
    const hungUp = sseResponse(open, dialect, options)
    await hungUp.body?.cancel()
    expect(seen).toEqual(['stopped', 'gone'])
    const closed = sseResponse(open, dialect, options)
    open.closeAll()
    expect([await closed.text(), seen]).toEqual(['', ['stopped', 'gone', 'stopped']])
  })

  it('may end while they are being made', async () => {
    const response = sseResponse(new OpenStreams(), dialect, {
      headers: { location: '/x' },
      feed(writer) {
        writer.send('error', 'x')
        writer.close()
        writer.send('never', 'x')
        return () => {}
      },
    })
    expect(await response.text()).toBe('event: error\r\ndata: "x"\r\n\r\n')
  })
})
