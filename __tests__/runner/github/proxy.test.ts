import { spawn } from 'node:child_process'
import { createServer, type Server, request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { openDeployment } from '../../../src/runner/github/deployments.ts'
import { type GithubStub, startGithubStub } from '../../helpers/github-stub.ts'
import { testContext, testRunner } from '../../helpers/test-runner.ts'

let stub: GithubStub
let proxy: Server
let asked: string[]

/** A proxy that wants a password and leads every host to the stub; undici sends it plain http as whole URLs. */
beforeEach(async () => {
  stub = await startGithubStub()
  asked = []
  const password = `Basic ${Buffer.from('me:pass word').toString('base64')}`
  proxy = createServer((request, response) => {
    asked.push(new URL(request.url ?? '').host)
    if (request.headers['proxy-authorization'] !== password) {
      response.writeHead(407, { 'content-length': '0' }).end()
      return
    }
    const { pathname, search } = new URL(request.url ?? '')
    const { 'proxy-authorization': _, ...headers } = request.headers
    const forwarded = sendRequest(
      { host: '127.0.0.1', port: stub.port, method: request.method, path: `${pathname}${search}`, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      },
    )
    request.pipe(forwarded)
  })
  await new Promise<void>((ready) => proxy.listen(0, '127.0.0.1', ready))
})

afterEach(async () => {
  await stub.close()
  proxy.closeAllConnections()
  await new Promise<void>((done) => proxy.close(() => done()))
})

function proxyUrl(password: string): string {
  return `http://me:${encodeURIComponent(password)}@127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

describe('GitHub through a proxy', () => {
  it('is asked through the proxy of the environment', async () => {
    const runner = testRunner(testContext('http://github.test/api/v3'), {
      env: { http_proxy: proxyUrl('pass word') },
    })
    const deployment = await openDeployment(runner, { token: stub.token, environment: 'x', name: 'a' })
    expect(runner.said).toEqual([])
    expect(deployment?.id).toBe(stub.deployments[0]?.id)
    expect(new Set(asked)).toEqual(new Set(['github.test']))
  })

  it('names the proxy when it asks for a password', async () => {
    const runner = testRunner(testContext('http://github.test/api/v3'), {
      env: { http_proxy: proxyUrl('wrong') },
    })
    await openDeployment(runner, { token: stub.token, environment: 'x', name: 'a' })
    expect(runner.said).toEqual([expect.stringMatching(/proxy answered 407.*put user name and password/)])
    expect(runner.said.join()).not.toContain('wrong')
    expect(stub.requests).toEqual([])
  })
})

/**
 * package.json gives all libraries one undici, newer than the one that @actions/github asks for: its own
 * fetch and its own proxy agent must go together with that.
 */
describe('@actions/github over the one undici', () => {
  const script = `
    const { getOctokit } = await import('@actions/github')
    const octokit = getOctokit(process.env.TOKEN)
    const { data } = await octokit.rest.repos.listDeployments({ owner: 'octo', repo: 'agent' })
    console.log(JSON.stringify(data))`

  it.each([
    ['directly', () => ({ GITHUB_API_URL: stub.apiUrl }), []],
    [
      'through a proxy',
      () => ({ GITHUB_API_URL: 'http://github.test/api/v3', http_proxy: proxyUrl('pass word') }),
      ['github.test'],
    ],
  ])('answers %s', async (_how, env, expected) => {
    const seeded = stub.seedDeployment({ environment: 'x' })
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      env: { PATH: process.env['PATH'], TOKEN: stub.token, ...env() },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let out = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      out += chunk
    })
    const code = await new Promise((done) => child.on('close', done))
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual([expect.objectContaining({ id: seeded.id })])
    expect(asked).toEqual(expected)
  })
})
