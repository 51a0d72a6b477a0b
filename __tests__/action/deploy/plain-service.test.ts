import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { type PlainService, startPlainService } from '../../helpers/plain-service.ts'
import { deploy } from './support.ts'

let service: PlainService
beforeEach(async () => {
  service = await startPlainService()
})
afterEach(() => service.close())

const run = (inputs: Record<string, string> = {}) => deploy(service, { name: 'plain', ...inputs })
const writes = () => service.requests.filter((line) => !line.startsWith('GET'))
const revisions = () => service.deployments[0]?.revisions.map(({ id }) => id) ?? []

describe('a service that answers with the documented fields alone', () => {
  it('creates, waits and ends green, and says that there is no URL', async () => {
    const result = await run({ secrets: 'A_KEY=canary-value-1' })
    expect(result.exitCode).toBe(0)
    expect(result.outputs).toMatchObject({
      outcome: 'deployed',
      created: 'true',
      'deployment-id': service.deployments[0]?.id,
      'revision-id': revisions()[0],
      'revision-status': 'DEPLOYED',
    })
    expect(result.outputs['deployment-url'] ?? '').toBe('')
    expect(result.annotations.map(({ type }) => type)).toEqual(['warning'])
    expect(writes()).toEqual(['POST /v2/deployments'])
  })

  it('updates by name and by id, one revision each', async () => {
    const first = await run()
    const second = await run()
    const third = await run({ name: '', 'deployment-id': first.outputs['deployment-id'] ?? '' })
    expect([second.outputs['outcome'], third.outputs['outcome']]).toEqual(['deployed', 'deployed'])
    expect(second.outputs).toMatchObject({
      created: 'false',
      'deployment-id': first.outputs['deployment-id'],
      'previous-revision-id': first.outputs['revision-id'],
      'revision-id': revisions()[1],
    })
    expect(third.outputs['revision-id']).toBe(revisions()[2])
    expect(service.deployments).toHaveLength(1)
  })

  it('sends nothing after the accepted request with wait: false', async () => {
    const result = await run({ wait: 'false' })
    expect(result.outputs).toMatchObject({ outcome: 'triggered', 'revision-id': revisions()[0] })
    expect(service.requests.at(-1)).toBe('POST /v2/deployments')
    const again = await run({ wait: 'false' })
    expect(again.outputs).toMatchObject({ outcome: 'triggered', 'revision-id': revisions()[1] })
    expect(service.requests.at(-1)).toMatch(/^PATCH/)
  })

  it.each([
    ['no latest_revision_id', (deployment: { id: string }) => ({ id: deployment.id })],
    ['an empty mapping', () => ({})],
    ['a text', () => 'ok'],
  ])('finds what a PATCH made whose answer is %s, and makes one revision', async (_title, answer) => {
    await run()
    service.answer = answer
    const result = await run()
    expect(result.outputs).toMatchObject({ outcome: 'deployed', 'revision-id': revisions()[1] })
    expect(revisions()).toHaveLength(2)
    expect(writes().filter((line) => line.startsWith('PATCH'))).toHaveLength(1)
  })

  it('is superseded by a newer revision that is live too: nothing else tells which one serves', async () => {
    await run()
    service.onRequest = (line) => {
      if (!line.startsWith('PATCH')) return
      service.onRequest = undefined
      service.walks.push(['DEPLOYED'])
      const [deployment] = service.deployments
      if (deployment !== undefined) service.addRevision(deployment)
    }
    const result = await run()
    expect(result.exitCode).toBe(1)
    expect(result.outputs['outcome']).toBe('superseded')
    expect(result.outputs['failure-reason']).toContain(revisions()[2])
  })

  it('is green beside a newer revision that is only under way', async () => {
    await run()
    service.onRequest = (line) => {
      if (!line.startsWith('PATCH')) return
      service.onRequest = undefined
      service.walks.push(['BUILDING'])
      const [deployment] = service.deployments
      if (deployment !== undefined) service.addRevision(deployment)
    }
    const result = await run()
    expect(result.outputs).toMatchObject({ outcome: 'deployed', 'revision-id': revisions()[1] })
  })

  it('registers OAuth providers by the POST alone, where there is no list', async () => {
    const provider = {
      provider_id: 'sso',
      name: 'SSO',
      client_id: 'c1',
      client_secret: 'canary-secret-9',
      auth_url: 'https://a.example/x',
      token_url: 'https://a.example/y',
    }
    const result = await run({ 'oauth-providers': JSON.stringify([provider]) })
    expect(result.outputs['outcome']).toBe('deployed')
    expect(JSON.parse(result.outputs['oauth-providers'] ?? '{}')).toEqual({
      sso: expect.stringMatching(/^prov_/),
    })
    expect(service.providers).toEqual([provider])
  })

  it('refuses to merge secrets that it does not show, and replaces them', async () => {
    await run()
    const merge = await run({ secrets: 'A_KEY=canary-value-1' })
    expect(merge.outputs['outcome']).toBe('error')
    expect(merge.annotations.at(-1)?.message).toContain('secrets-mode: replace')
    expect(revisions()).toHaveLength(1)
    const replace = await run({ secrets: 'A_KEY=canary-value-1', 'secrets-mode': 'replace' })
    expect(replace.outputs['outcome']).toBe('deployed')
    expect(
      service.bodies.find((body) => Array.isArray(body['secrets']) && body['secrets'].length > 0),
    ).toMatchObject({
      secrets: [{ name: 'A_KEY', value: 'canary-value-1' }],
    })
  })

  it('has no URL to verify', async () => {
    const result = await run({ verify: 'ready' })
    expect(result.outputs['outcome']).toBe('verification-failed')
    expect(result.outputs['failure-reason']).toContain('no URL')
  })
})

describe('a redeploy whose answer names no new revision', () => {
  it.each([
    ['the deployment’s id alone', (deployment: { id: string }) => ({ id: deployment.id })],
    ['nothing', () => ({})],
  ])('is waited for under its own id: %s', async (_title, answer) => {
    const first = await run()
    await run()
    service.answer = answer
    service.walks.push(['DEPLOYING', 'DEPLOYING', 'DEPLOY_FAILED'])
    const result = await run({ 'image-uri': '', 'revision-id': first.outputs['revision-id'] ?? '' })
    // Watching the old revision, which is DEPLOYED already, would be green at once.
    expect(result.outputs).toMatchObject({ outcome: 'failed', 'revision-id': revisions()[2] })
    expect(writes().filter((line) => line.endsWith('/redeploy'))).toHaveLength(1)
  })
})

describe('on-failure: rollback', () => {
  it('goes back to the revision before, which is DEPLOYED', async () => {
    const first = await run()
    service.walks.push(['BUILDING', 'BUILD_FAILED'])
    const result = await run({ 'on-failure': 'rollback' })
    expect(result.exitCode).toBe(1)
    expect(result.outputs).toMatchObject({ outcome: 'rolled-back', 'revision-id': revisions()[1] })
    expect(writes().at(-1)).toContain(`${first.outputs['revision-id']}/redeploy`)
    expect(result.visible).toContain(`as ${revisions()[2]}`)
  })

  it('does not go back to a revision that failed too', async () => {
    service.walks.push(['BUILD_FAILED'], ['BUILD_FAILED'])
    await run()
    const result = await run({ 'on-failure': 'rollback' })
    expect(result.outputs['outcome']).toBe('failed')
    expect(result.outputs['failure-reason']).toContain('never served')
    expect(writes().filter((line) => line.endsWith('/redeploy'))).toEqual([])
  })
})
