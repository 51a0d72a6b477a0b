import { describe, expect, it } from '@jest/globals'
import { checkImageUri, imageUriWarning, parseImageName } from '../../../src/deploy/docker/index.ts'

const DIGEST = `sha256:${'0a'.repeat(32)}`

describe('image names', () => {
  const table: [text: string, parts: [string, string | undefined, string | undefined] | undefined][] = [
    ['agent', ['agent', undefined, undefined]],
    ['agent:1.2', ['agent', '1.2', undefined]],
    ['ghcr.io/me/agent:V_1.2-x', ['ghcr.io/me/agent', 'V_1.2-x', undefined]],
    ['localhost:5000/agent', ['localhost:5000/agent', undefined, undefined]],
    ['localhost:5000/agent:1', ['localhost:5000/agent', '1', undefined]],
    ['[::1]:5000/agent:1', ['[::1]:5000/agent', '1', undefined]],
    ['GHCR.io/me/agent:1', ['GHCR.io/me/agent', '1', undefined]],
    [`a/b@${DIGEST}`, ['a/b', undefined, DIGEST]],
    [`a/b:1@${DIGEST}`, ['a/b', '1', DIGEST]],
    ['a__b/c.d/e---f:1', ['a__b/c.d/e---f', '1', undefined]],
    ['', undefined],
    ['Agent:1', undefined],
    ['a/B:1', undefined],
    ['a:', undefined],
    ['a:.1', undefined],
    [`a:${'1'.repeat(129)}`, undefined],
    ['a@sha256:12', undefined],
    ['a/:1', undefined],
    ['a b:1', undefined],
    ['-a:1', undefined],
    ['a//b:1', undefined],
  ]
  it.each(table)('%j', (text, parts) => {
    const name = parseImageName(text)
    expect(name === undefined ? undefined : [name.repository, name.tag, name.digest]).toEqual(parts)
  })
})

describe('image-uri', () => {
  it.each([
    ['ghcr.io/me/agent', /^"ghcr.io\/me\/agent" has neither tag nor digest/],
    ['localhost:5000/agent', /has neither tag nor digest/],
    ['https://ghcr.io/me/agent:1', /begins with a scheme/],
    ['ghcr.io/me/Agent:1', /is not the name of an image/],
    ['', /is not the name of an image/],
  ])('refuses %j', (text, fault) => {
    expect(checkImageUri(text)).toMatch(fault)
  })

  it.each([
    ['ghcr.io/me/agent:1.2', /is not pinned by digest/],
    ['ghcr.io/me/agent:latest', /is a moving tag/],
    [`ghcr.io/me/agent@${DIGEST}`, undefined],
    [`ghcr.io/me/agent:latest@${DIGEST}`, undefined],
  ])('takes %j', (text, warning) => {
    expect(checkImageUri(text)).toBeUndefined()
    if (warning === undefined) expect(imageUriWarning(text)).toBeUndefined()
    else expect(imageUriWarning(text)).toMatch(warning)
  })
})
