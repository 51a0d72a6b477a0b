import { describe, expect, it } from '@jest/globals'
import { describePlan, makePlan } from '../../../src/deploy/plan/index.ts'
import type { Discovered } from '../../../src/deploy/plan/types.ts'
import type { Settings } from '../../../src/deploy/settings.ts'
import { faultsOf, git, HEAD, SHA, settings } from '../../helpers/settings.ts'

const IMAGE = 'registry.example/agent:1'

function plan(part: Partial<Settings>, facts = git(), discovered: Discovered = {}) {
  const made = makePlan({ settings: settings(part), git: facts, discovered, deployment: undefined })
  if (made.action !== 'create') throw new Error('expected a create')
  return made
}

describe('the body of each source', () => {
  it('internal_source is what nothing else means: no revision before the archive is there', () => {
    const made = plan({ secrets: [{ name: 'A', value: 'x' }], envVars: [{ name: 'B', value: '1' }] })
    expect(made).toMatchObject({
      source: 'internal_source',
      artifact: 'archive',
      revisionConfig: { langgraph_config_path: 'langgraph.json' },
      expectedCommit: undefined,
      warnings: [],
    })
    expect(made.body).toEqual({
      name: 'bot',
      source: 'internal_source',
      source_config: { deployment_type: 'dev' },
      source_revision_config: {},
      secrets: [
        { name: 'A', value: 'x' },
        { name: 'B', value: '1' },
      ],
    })
  })

  it('external_docker is what image-uri means: a spec, if an empty one, and no type', () => {
    const made = plan({ imageUri: IMAGE, deploymentType: 'prod' })
    expect(made.body).toEqual({
      name: 'bot',
      source: 'external_docker',
      source_config: { resource_spec: {} },
      source_revision_config: { image_uri: IMAGE },
      secrets: [],
    })
    expect(made.artifact).toBe('none')
    expect(made.warnings.join()).toContain('deployment-type')
  })

  it('external_docker takes the listener that was found, and the one that was given before it', () => {
    const found = { listenerId: 'l1', listenerNamespace: 'ns1' }
    expect(plan({ imageUri: IMAGE }, git(), found).body).toMatchObject({
      source_config: { listener_id: 'l1', listener_config: { k8s_namespace: 'ns1' } },
    })
    expect(
      plan({ imageUri: IMAGE, listenerId: 'l2', listenerNamespace: 'ns2' }, git(), found).body,
    ).toMatchObject({
      source_config: { listener_id: 'l2', listener_config: { k8s_namespace: 'ns2' } },
    })
  })

  it('internal_docker is what push-image means, or takes an image that is there', () => {
    expect(plan({ pushImage: 'agent:ci' })).toMatchObject({
      source: 'internal_docker',
      artifact: 'image',
      body: { source_config: { deployment_type: 'dev' }, source_revision_config: {} },
    })
    expect(plan({ source: 'internal_docker', imageUri: IMAGE })).toMatchObject({
      artifact: 'none',
      body: { source_revision_config: { image_uri: IMAGE } },
    })
  })

  it('github is what integration-id means, with this repository and the event’s branch', () => {
    const made = plan({ integrationId: 'i1' })
    expect(made.body).toEqual({
      name: 'bot',
      source: 'github',
      source_config: {
        integration_id: 'i1',
        repo_url: 'https://github.com/octo/agent',
        build_on_push: false,
        deployment_type: 'dev',
      },
      source_revision_config: { repo_ref: 'main', langgraph_config_path: 'langgraph.json' },
      secrets: [],
    })
    expect(made.expectedCommit).toEqual({ sha: SHA, strict: true })
  })

  it('takes commands, a path and a spec where the source has them', () => {
    const given = {
      installCommand: 'npm ci',
      buildCommand: 'npm run build',
      configPath: 'apps/a/langgraph.json',
      resourceSpec: { cpu: 2 },
    }
    for (const part of [{ integrationId: 'i1' }, {}]) {
      const made = plan({ ...given, ...part })
      expect(made.body).toMatchObject({
        source_config: {
          install_command: 'npm ci',
          build_command: 'npm run build',
          resource_spec: { cpu: 2 },
        },
      })
      expect(made.revisionConfig).toMatchObject({ langgraph_config_path: 'apps/a/langgraph.json' })
    }
  })

  it.each([
    ['dev', 'dev'],
    ['prod', 'prod'],
    ['dev_free', 'dev_free'],
    ['serverless', 'dev_zero'],
    ['dedicated', 'prod'],
  ] as const)('deployment-type %s is sent as %s', (word, sent) => {
    expect(plan({ deploymentType: word }).body).toMatchObject({ source_config: { deployment_type: sent } })
  })

  it('agent mode has `agent` in place of `name`', () => {
    const target = {
      name: undefined,
      deploymentId: undefined,
      agent: { agentId: 'a1', environment: 'staging' as const },
    }
    const { body } = plan({ target })
    expect(body).toMatchObject({ agent: { agent_id: 'a1', environment: 'staging' } })
    expect(body).not.toHaveProperty('name')
  })
})

describe('repo-ref of a create, by event', () => {
  const pull = (fromFork: boolean) => ({
    eventName: 'pull_request',
    ref: 'refs/pull/7/merge',
    pullRequest: { headRef: 'topic', headSha: HEAD, fromFork },
  })

  it.each([
    ['push', {}, 'main', SHA],
    ['push to a branch with slashes', { ref: 'refs/heads/feat/x' }, 'feat/x', SHA],
    ['workflow_dispatch', { eventName: 'workflow_dispatch' }, 'main', SHA],
    ['a tag', { ref: 'refs/tags/v1' }, 'refs/tags/v1', SHA],
    [
      'workflow_dispatch on a tag',
      { eventName: 'workflow_dispatch', ref: 'refs/tags/v1' },
      'refs/tags/v1',
      SHA,
    ],
    ['release', { eventName: 'release', ref: 'refs/tags/v2' }, 'refs/tags/v2', SHA],
    ['pull_request', pull(false), 'topic', HEAD],
    ['schedule', { eventName: 'schedule' }, 'trunk', undefined],
    ['workflow_run', { eventName: 'workflow_run' }, 'trunk', undefined],
    ['pull_request_target', { ...pull(false), eventName: 'pull_request_target' }, 'trunk', undefined],
    [
      'pull_request_target of a fork',
      { ...pull(true), eventName: 'pull_request_target' },
      'trunk',
      undefined,
    ],
    [
      'merge_group',
      { eventName: 'merge_group', ref: 'refs/heads/gh-readonly-queue/main/pr-1' },
      'trunk',
      undefined,
    ],
  ])('%s', (_title, event, ref, sha) => {
    const made = plan({ integrationId: 'i1' }, git(event))
    expect(made.body).toMatchObject({ source_revision_config: { repo_ref: ref } })
    expect(made.expectedCommit?.sha).toBe(sha)
  })

  it('that was given is taken, without refs/heads/, and makes the commit a warning', () => {
    const made = plan({ integrationId: 'i1', repoRef: 'refs/heads/next' })
    expect(made.body).toMatchObject({ source_revision_config: { repo_ref: 'next' } })
    expect(made.expectedCommit).toEqual({ sha: SHA, strict: false })
  })

  it('of another repository knows no commit of ours', () => {
    const made = plan({ integrationId: 'i1', repoUrl: 'https://github.com/octo/other', repoRef: 'main' })
    expect(made.expectedCommit).toBeUndefined()
  })

  it('is asked for where the event tells nothing, and where the head is a fork', () => {
    const nothing = git({ eventName: 'schedule', defaultBranch: undefined })
    expect(faultsOf(() => plan({ integrationId: 'i1' }, nothing)).join()).toMatch(/repo-ref.*schedule/)
    expect(faultsOf(() => plan({ integrationId: 'i1' }, git(pull(true)))).join()).toMatch(/repo-ref.*fork/)
    expect(faultsOf(() => plan({ integrationId: 'i1', repoRef: 'main' }, git(pull(true))))).toEqual([])
  })

  it('a tag cannot be built on push', () => {
    const tag = git({ ref: 'refs/tags/v1' })
    expect(faultsOf(() => plan({ integrationId: 'i1', buildOnPush: true }, tag)).join()).toMatch(
      /build-on-push.*false/,
    )
    expect(faultsOf(() => plan({ integrationId: 'i1', buildOnPush: true }))).toEqual([])
  })
})

describe('what is missing or misplaced is told in one error', () => {
  it.each([
    [{ source: 'github' as const }, ['integration-id']],
    [{ source: 'external_docker' as const }, ['image-uri']],
    [{ source: 'internal_docker' as const }, ['image-uri']],
    [{ imageUri: 'registry.example/agent' }, ['image-uri']],
    [{ imageUri: IMAGE, repoRef: 'main', sourcePath: 'a' }, ['repo-ref', 'source-path']],
    [{ pushImage: 'a:1', imageUri: IMAGE, source: 'internal_docker' as const }, ['image-uri']],
    [{ integrationId: 'i1', imageUri: IMAGE, source: 'github' as const }, ['image-uri']],
    [{ listenerId: 'l1', configPath: 'x', pushImage: 'a:1' }, ['listener-id', 'config-path']],
    [{ target: { name: undefined, deploymentId: undefined, agent: undefined } }, ['name']],
  ])('%j', (part, inputs) => {
    const faults = faultsOf(() => plan(part as Partial<Settings>)).map((fault) => fault.split(':')[0])
    expect(faults.toSorted()).toEqual(inputs.toSorted())
  })
})

describe('`request`', () => {
  it('is merged last into the body, and null removes', () => {
    const made = plan({
      imageUri: IMAGE,
      resourceSpec: { cpu: 1, memory_mb: 512 },
      request: {
        secret_references: [{ name: 'A', secret_name: 's', secret_key: 'k' }],
        source_config: { custom_url: 'https://x.example', resource_spec: { cpu: null, min_scale: 2 } },
      },
    })
    expect(made.body).toMatchObject({
      secret_references: [{ name: 'A', secret_name: 's', secret_key: 'k' }],
      source_config: { custom_url: 'https://x.example', resource_spec: { memory_mb: 512, min_scale: 2 } },
    })
    expect(made.body).not.toHaveProperty('source_config.resource_spec.cpu')
  })

  it('reaches the revision of an archive', () => {
    const made = plan({ request: { source_revision_config: { langgraph_config_path: 'b.json' } } })
    expect(made.revisionConfig).toEqual({ langgraph_config_path: 'b.json' })
    expect(made.body).toMatchObject({ source_revision_config: {} })
  })
})

describe('warnings', () => {
  it.each([
    ['a'.repeat(22), 1],
    ['a'.repeat(21), 0],
  ])('a name like %s on external_docker: %s', (name, warnings) => {
    const target = { name, deploymentId: undefined, agent: undefined }
    expect(plan({ target, imageUri: IMAGE }).warnings).toHaveLength(warnings)
    expect(plan({ target }).warnings).toHaveLength(0)
  })
})

it('the described plan has names of secrets and no values', () => {
  const made = plan({ imageUri: IMAGE, secrets: [{ name: 'A_KEY', value: 'canary' }] })
  const shown = describePlan(made, [{ name: 'A_KEY', value: 'canary' }])
  expect(shown).toMatchObject({
    action: 'create',
    method: 'POST',
    path: '/v2/deployments',
    secrets: ['A_KEY'],
  })
  expect(JSON.stringify(shown)).not.toContain('canary')
})
