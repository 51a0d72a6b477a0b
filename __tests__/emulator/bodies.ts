/** Bodies that the control plane takes, one per source. */

export const GITHUB = {
  name: 'my-agent',
  source: 'github',
  source_config: {
    integration_id: '8f4f6c2e-3f0b-4b53-9c1d-6f3a5d2b9e10',
    repo_url: 'https://github.com/octo-org/agent',
    deployment_type: 'dev',
    build_on_push: false,
  },
  source_revision_config: { repo_ref: 'main', langgraph_config_path: 'langgraph.json' },
  secrets: [{ name: 'OPENAI_API_KEY', value: 'sk-value' }],
}

export const DOCKER = {
  name: 'my-image',
  source: 'external_docker',
  source_config: { resource_spec: {} },
  source_revision_config: { image_uri: 'registry.example/agent:1' },
  secrets: [],
}

/** What the official CLIs send: no revision yet. */
export const UPLOADED = {
  source: 'internal_source',
  source_config: { deployment_type: 'dev_zero' },
  source_revision_config: {},
  name: 'my-upload',
  secrets: [{ name: 'OPENAI_API_KEY', value: 'sk-value' }],
}

export const PUSHED = {
  name: 'my-push',
  source: 'internal_docker',
  source_config: { deployment_type: 'dev' },
  source_revision_config: {},
  secrets: [],
}

/** The id of nothing. */
export const NOWHERE = '00000000-0000-4000-8000-000000000000'
