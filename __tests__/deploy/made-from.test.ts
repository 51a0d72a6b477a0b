import { expect, it } from '@jest/globals'
import { madeFromOther } from '../../src/deploy/made-from.ts'

const A = `sha256:${'a'.repeat(64)}`
const B = `sha256:${'b'.repeat(64)}`

it.each([
  [{ image_uri: 'r.example/a:1' }, { image_uri: 'r.example/a:1' }, undefined],
  [{ image_uri: 'r.example/a:1' }, { image_uri: `r.example/a:1@${A}` }, undefined],
  [{ image_uri: 'r.example/a:1' }, { image_uri: `r.example/a@${A}` }, undefined],
  [{ image_uri: `r.example/a:1@${A}` }, { image_uri: `r.example/a@${A}` }, undefined],
  [{ image_uri: 'a:1' }, { image_uri: 'docker.io/library/a:2' }, undefined],
  [{ image_uri: 'r.example/a:1' }, { image_uri: 'not an image' }, undefined],
  [{ image_uri: 'r.example/a:1' }, { image_uri: null }, undefined],
  [{ image_uri: 'r.example/a:1' }, {}, undefined],
  [{ image_uri: 'r.example/a:1' }, { image_uri: 'r.example/a:2' }, 'image'],
  [{ image_uri: `r.example/a@${A}` }, { image_uri: `r.example/a@${B}` }, 'image'],
  [{ image_uri: `r.example/a:1@${A}` }, { image_uri: `r.example/a:1@${B}` }, 'image'],
  [{ langgraph_config_path: 'x' }, { image_uri: 'built/by:service' }, undefined],
  [{ source_tarball_path: 'd/1.tgz' }, { source_tarball_path: 'd/1.tgz' }, undefined],
  [{ source_tarball_path: 'd/1.tgz' }, { source_tarball_path: 'gs://bucket/d/1.tgz' }, undefined],
  [{ source_tarball_path: 'd/1.tgz' }, { source_tarball_path: '' }, undefined],
  [{ source_tarball_path: 'd/1.tgz' }, { source_tarball_path: 'd/2.tgz' }, 'archive'],
  [{ repo_ref: 'main' }, { repo_ref: 'c'.repeat(40) }, undefined],
])('%j, shown as %j: %s', (sent, shown, expected) => {
  expect(madeFromOther(sent, shown)).toBe(expected)
})
