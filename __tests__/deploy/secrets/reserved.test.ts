import { describe, expect, it } from '@jest/globals'
import { isCloud } from '../../../src/clients/control-plane/hints.ts'
import { reservedFault, reservedFaults } from '../../../src/deploy/secrets/index.ts'

describe('reserved names', () => {
  it.each([
    ['LANGSMITH_DEPLOYMENT_NAME', true, true],
    ['POSTGRES_URI', true, true],
    ['LANGSMITH_API_KEY', true, false],
    ['PATH', true, false],
    ['LSD_ENV', true, false],
    ['OPENAI_API_KEY', false, false],
    ['path', false, false],
    ['constructor', false, false],
  ])('%s is reserved on the cloud: %s, elsewhere: %s', (name, cloud, elsewhere) => {
    expect(reservedFault(name, true) !== undefined).toBe(cloud)
    expect(reservedFault(name, false) !== undefined).toBe(elsewhere)
  })

  it('names each, never its value', () => {
    const entries = [
      { name: 'REDIS_URI', value: 'hunter2' },
      { name: 'X', value: 'hunter2' },
      { name: 'PORT', value: 'hunter2' },
    ]
    expect(reservedFaults(entries, 'env-vars', true)).toEqual([
      {
        input: 'env-vars',
        message: expect.stringMatching(/^REDIS_URI is a name that the service sets itself/),
      },
      { input: 'env-vars', message: expect.stringMatching(/^PORT .* on the cloud/) },
    ])
    expect(reservedFaults(entries, 'secrets', false)).toHaveLength(1)
  })

  it.each([
    ['https://api.host.langchain.com', true],
    ['https://eu.api.host.langchain.com/v2', true],
    ['https://API.host.langchain.com.', true],
    ['https://notapi.host.langchain.com', false],
    ['https://api.host.langchain.com.evil.example', false],
    ['https://langsmith.example.com/api-host', false],
  ])('knows the cloud: %s', (url, cloud) => {
    expect(isCloud(new URL(url))).toBe(cloud)
  })
})
