import { describe, expect, it } from '@jest/globals'
import type { Deployment } from '../../../src/clients/control-plane/wire.ts'
import { describePlan, makePlan } from '../../../src/deploy/plan/index.ts'
import type { Settings } from '../../../src/deploy/settings.ts'
import { deployment, faultsOf, git, HEAD, SHA, settings } from '../../helpers/settings.ts'

const IMAGE = 'registry.example/agent:1'
const revision = (config: Record<string, string>) => ({ source_revision_config: config })

function plan(part: Partial<Settings>, found: Deployment, facts = git()) {
  const made = makePlan({ settings: settings(part), git: facts, discovered: {}, deployment: found })
  if (made.action !== 'update') throw new Error('expected an update')
  return made
}

const github = (ref: string | null = 'main', config: object = {}, part: Partial<Deployment> = {}) =>
  deployment(
    'github',
    { source_revision_config: { repo_ref: HEAD, langgraph_config_path: 'a/langgraph.json' }, ...part },
    { repo_url: 'https://github.com/octo/agent', integration_id: 'i1', repo_branch: ref, ...config },
  )
const external = (config: object = {}) =>
  deployment('external_docker', revision({ image_uri: IMAGE }), { ...config })

describe('nothing that was not given is sent, but for source_revision_config', () => {
  it.each([
    ['github', github(), { repo_ref: 'main', langgraph_config_path: 'a/langgraph.json' }, {}],
    ['external_docker', external(), { image_uri: IMAGE }, {}],
    [
      'internal_docker',
      deployment('internal_docker', revision({ image_uri: IMAGE })),
      { image_uri: IMAGE },
      { revision_source: 'internal_docker' },
    ],
    [
      'internal_source',
      deployment('internal_source', revision({ image_uri: 'built', source_tarball_path: 'old.tgz' })),
      { langgraph_config_path: 'langgraph.json' },
      { revision_source: 'internal_source' },
    ],
  ])('%s', (source, found, config, rest) => {
    const made = plan({}, found)
    expect(made.source).toBe(source)
    expect(made.body).toEqual({ ...rest, source_revision_config: config })
  })

  it('what was given takes the place of what the deployment has', () => {
    const made = plan(
      { repoRef: 'next', configPath: 'b.json', buildOnPush: false, installCommand: 'x', buildCommand: 'y' },
      github(),
    )
    expect(made.body).toEqual({
      source_config: { build_on_push: false, install_command: 'x', build_command: 'y' },
      source_revision_config: { repo_ref: 'next', langgraph_config_path: 'b.json' },
    })
    expect(plan({ imageUri: 'registry.example/agent:2' }, external()).body).toEqual({
      source_revision_config: { image_uri: 'registry.example/agent:2' },
    })
  })

  it('image-uri does not change an internal_docker deployment into another', () => {
    const found = deployment('internal_docker', revision({ image_uri: IMAGE }))
    expect(plan({ imageUri: 'registry.example/agent:2' }, found).source).toBe('internal_docker')
    expect(plan({ pushImage: 'agent:ci' }, found)).toMatchObject({
      artifact: 'image',
      source: 'internal_docker',
    })
  })

  it('asks for an image that the service does not show', () => {
    expect(faultsOf(() => plan({}, deployment('external_docker'))).join()).toMatch(/image-uri: is needed/)
  })
})

describe('resource_spec is replaced whole by the service', () => {
  const have = { resource_spec: { cpu: 1, memory_mb: 2048, labels: { a: '1' } } }

  it.each([
    [
      'resource-spec alone',
      { resourceSpec: { cpu: 2, labels: { b: '2' } } },
      { cpu: 2, memory_mb: 2048, labels: { a: '1', b: '2' } },
    ],
    ['null removes', { resourceSpec: { memory_mb: null } }, { cpu: 1, labels: { a: '1' } }],
    [
      'request alone',
      { request: { source_config: { resource_spec: { cpu: 4 } } } },
      { cpu: 4, memory_mb: 2048, labels: { a: '1' } },
    ],
    [
      'both, request last',
      { resourceSpec: { cpu: 2 }, request: { source_config: { resource_spec: { cpu: 3, min_scale: 1 } } } },
      { cpu: 3, memory_mb: 2048, labels: { a: '1' }, min_scale: 1 },
    ],
  ])('%s: read, merged, sent', (_title, part, spec) => {
    const found = external(have)
    expect(plan(part, found).body).toEqual({
      source_config: { resource_spec: spec },
      source_revision_config: { image_uri: IMAGE },
    })
    expect(found.source_config?.resource_spec).toEqual(have.resource_spec)
  })
})

describe('fields that cannot change', () => {
  it.each([
    [{ source: 'external_docker' as const }, github(), 'source', 'github', 'external_docker'],
    [{ integrationId: 'i2' }, github(), 'integration-id', 'i1', 'i2'],
    [{ repoUrl: 'https://github.com/octo/other' }, github(), 'repo-url', 'octo/agent', 'octo/other'],
    [
      { deploymentType: 'prod' as const },
      github('main', { deployment_type: 'dev' }),
      'deployment-type',
      'dev',
      'prod',
    ],
    [{ listenerId: 'l2' }, external({ listener_id: 'l1' }), 'listener-id', 'l1', 'l2'],
    [{ listenerId: 'l2' }, external({ listener_id: null }), 'listener-id', 'none', 'l2'],
    [
      { listenerNamespace: 'b' },
      external({ listener_config: { k8s_namespace: 'a' } }),
      'listener-namespace',
      'a',
      'b',
    ],
    [{ target: { name: 'other', deploymentId: 'd1', agent: undefined } }, external(), 'name', 'bot', 'other'],
    [{ request: { source: 'github' } }, external(), 'request', 'external_docker', 'github'],
    [
      { request: { source_config: { deployment_type: 'prod' } } },
      github('main', { deployment_type: 'dev' }),
      'request',
      'dev',
      'prod',
    ],
  ])('%j is an error that names have and want', (part, found, input, have, want) => {
    const faults = faultsOf(() => plan(part as Partial<Settings>, found))
    expect(faults).toHaveLength(1)
    expect(faults[0]).toMatch(new RegExp(`^${input}: .*has .*${have}.*${want}`))
  })

  it.each([
    [{ imageUri: IMAGE }, github(), 'image-uri', 'external_docker', 'github'],
    [{ pushImage: 'a:1' }, github(), 'push-image', 'internal_docker', 'github'],
    [{ integrationId: 'i1' }, external(), 'integration-id', 'github', 'external_docker'],
  ])('%j, which means another source, is named in its place', (part, found, input, want, have) => {
    const [fault, ...others] = faultsOf(() => plan(part, found))
    expect(others).toEqual([])
    expect(fault).toMatch(new RegExp(`^${input}: means the source "${want}".*has "${have}"`))
  })

  it.each([
    [{ integrationId: 'i1', repoUrl: 'HTTPS://github.com/Octo/Agent.git/' }, github()],
    [{ deploymentType: 'dedicated' as const }, github('main', { deployment_type: 'prod' })],
    [{ deploymentType: 'serverless' as const }, github('main', { deployment_type: 'dev_zero' })],
    [{ deploymentType: 'prod' as const }, github()],
    [{ deploymentType: 'dev' as const }, external({ deployment_type: 'prod' })],
    [{ listenerId: 'l1' }, external()],
  ])('%j is the same, or cannot be compared', (part, found) => {
    expect(faultsOf(() => plan(part as Partial<Settings>, found))).toEqual([])
  })

  it('of `request` are compared and then left out; all others are sent', () => {
    const request = {
      source: 'github',
      agent: { agent_id: 'x' },
      secret_references: [],
      source_config: {
        repo_url: 'https://github.com/octo/agent',
        integration_id: 'i1',
        deployment_type: 'dev',
        listener_id: null,
        listener_config: null,
        custom_url: 'https://x.example',
      },
    }
    expect(plan({ request }, github('main', { deployment_type: 'dev' })).body).toEqual({
      secret_references: [],
      source_config: { custom_url: 'https://x.example' },
      source_revision_config: { repo_ref: 'main', langgraph_config_path: 'a/langgraph.json' },
    })
    const only = { source_config: { repo_url: 'https://github.com/octo/agent' } }
    expect(plan({ request: only }, github()).body).not.toHaveProperty('source_config')
  })

  it('misplaced inputs are told by the deployment’s own source', () => {
    expect(faultsOf(() => plan({ repoRef: 'main' }, external())).join()).toMatch(/^repo-ref.*external_docker/)
    expect(faultsOf(() => plan({ source: 'github', listenerId: 'l' }, github())).join()).toMatch(
      /^listener-id/,
    )
  })
})

describe('repo-ref of an update', () => {
  const tag = (name: string) => git({ ref: `refs/tags/${name}` })
  const pull = git({
    eventName: 'pull_request',
    ref: 'refs/pull/7/merge',
    pullRequest: { headRef: 'topic', headSha: HEAD, fromFork: false },
  })

  it.each([
    ['the same branch', 'main', git(), 'main', SHA],
    ['the same branch, shown in full', 'refs/heads/main', git(), 'main', SHA],
    ['a tag after a tag', 'refs/tags/v1', tag('v2'), 'refs/tags/v2', SHA],
    ['the same tag', 'refs/tags/v1', tag('v1'), 'refs/tags/v1', SHA],
    ['the branch of a pull request', 'topic', pull, 'topic', HEAD],
    ['an event without code', 'main', git({ eventName: 'schedule', ref: 'refs/heads/x' }), 'main', undefined],
    ['an event of another kind', 'main', git({ eventName: 'pull_request_target' }), 'main', undefined],
  ])('%s goes on', (_title, own, facts, ref, sha) => {
    const made = plan({}, github(own), facts)
    expect(made.body).toMatchObject({ source_revision_config: { repo_ref: ref } })
    expect(made.expectedCommit).toEqual(sha === undefined ? undefined : { sha, strict: true })
  })

  it.each([
    ['a side branch', 'main', git({ ref: 'refs/heads/side' }), 'side'],
    ['a branch after a tag', 'refs/tags/v1', git(), 'main'],
    ['a tag after a branch', 'main', tag('v1'), 'refs/tags/v1'],
    ['a pull request', 'main', pull, 'topic'],
  ])('%s is refused, and the hint names repo-ref', (_title, own, facts, theirs) => {
    const [fault] = faultsOf(() => plan({}, github(own), facts))
    expect(fault).toContain(`\`repo-ref: ${own}\``)
    expect(fault).toContain(`\`repo-ref: ${theirs}\``)
    expect(faultsOf(() => plan({ repoRef: theirs }, github(own), facts))).toEqual([])
  })

  it('of another repository does not follow our events', () => {
    const found = github('main', { repo_url: 'https://github.com/octo/other' })
    const made = plan({}, found, git({ ref: 'refs/heads/side' }))
    expect(made.body).toMatchObject({ source_revision_config: { repo_ref: 'main' } })
    expect(made.expectedCommit).toBeUndefined()
  })

  it('is the revision’s where no branch is shown, but never a commit', () => {
    const branch = github(null, {}, { source_revision_config: { repo_ref: 'main' } })
    expect(plan({}, branch).body).toMatchObject({ source_revision_config: { repo_ref: 'main' } })
    expect(faultsOf(() => plan({}, github(null))).join()).toMatch(/^repo-ref: is needed/)
    expect(faultsOf(() => plan({ repoRef: 'main' }, github(null)))).toEqual([])
  })

  it('of a fork’s head is asked for', () => {
    const fork = git({
      eventName: 'pull_request',
      pullRequest: { headRef: 'main', headSha: HEAD, fromFork: true },
    })
    expect(faultsOf(() => plan({}, github(), fork)).join()).toMatch(/^repo-ref.*fork/)
  })

  it('a tag cannot be built on push, whoever switched that on', () => {
    const found = github('refs/tags/v1', { build_on_push: true })
    expect(faultsOf(() => plan({}, found, tag('v2'))).join()).toMatch(/^build-on-push/)
    expect(faultsOf(() => plan({ buildOnPush: false }, found, tag('v2')))).toEqual([])
  })
})

describe('the warning that every push makes two revisions', () => {
  it.each([
    ['push', {}, { build_on_push: true }, 1],
    ['push', { buildOnPush: true }, {}, 1],
    ['push', { buildOnPush: false }, { build_on_push: true }, 0],
    ['push', {}, { build_on_push: false }, 0],
    ['workflow_dispatch', {}, { build_on_push: true }, 0],
  ])('%s %j %j: %s', (eventName, part, config, warnings) => {
    expect(plan(part, github('main', config), git({ eventName })).warnings).toHaveLength(warnings)
  })
})

it('the described plan shows what is sent, and secrets by name where they are', () => {
  const made = plan({}, external())
  expect(describePlan(made, undefined)).toEqual({
    action: 'update',
    method: 'PATCH',
    path: '/v2/deployments/d1',
    source: 'external_docker',
    artifact: 'none',
    request: { source_revision_config: { image_uri: IMAGE } },
    warnings: [],
  })
  expect(describePlan(made, [{ name: 'A', value: 'canary' }])).toMatchObject({ secrets: ['A'] })
})
