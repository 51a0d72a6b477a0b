import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { InputError } from '../../base/errors.ts'
import {
  deleteDeployment,
  getDeployment,
  requestPushToken,
  requestUploadUrl,
} from '../../clients/control-plane/deployments.ts'
import type { Deployment } from '../../clients/control-plane/wire.ts'
import { APPLY_MS, type ApplyTools, patch } from '../../deploy/apply.ts'
import type { Plan } from '../../deploy/plan/index.ts'
import { isMapping, type Mapping } from '../../deploy/settings.ts'
import { lastCall } from './cancel.ts'
import type { DeployRun } from './run.ts'

export interface Delivery {
  /** This run made the deployment, and it has no revision yet. */
  readonly created: boolean
  /** `source_revision_config` of a create, kept back until the artifact is there. */
  readonly revisionConfig: Mapping
  /** Body of the PATCH, without what the artifact adds to `source_revision_config`. */
  readonly body: Mapping
}

export interface Made {
  readonly revisionId: string
  /** The `source_revision_config` that it was made from. */
  readonly from: Mapping
}

/** What goes to the service before the PATCH that makes the revision: an archive, an image, or nothing. */
export interface Artifact {
  /** @returns the revision that was made of it */
  deliver(deployment: Deployment, delivery: Delivery): Promise<Made>
  /** Frees what was made on disk. Idempotent. */
  remove(): Promise<void>
}

/**
 * Makes what can be made before anything is created, so that a folder which is not there or a broken
 * langgraph.json changes nothing.
 * @param options.check only checks and throws the archive away again: for a dry run
 */
export async function prepareArtifact(
  run: DeployRun,
  plan: Plan,
  options: { check?: boolean } = {},
): Promise<Artifact> {
  switch (plan.artifact) {
    case 'none':
      return {
        deliver: () => Promise.reject(new Error('this source has no artifact')),
        remove: async () => {},
      }
    case 'image':
      return imageArtifact(run)
    case 'archive':
      return archiveArtifact(run, plan, options.check === true)
  }
}

async function archiveArtifact(run: DeployRun, plan: Plan, check: boolean): Promise<Artifact> {
  const { api, inputs, runner } = run
  const { createArchive } = await import('../../deploy/archive/index.ts')
  const workspace = runner.env['GITHUB_WORKSPACE'] ?? process.cwd()
  const archive = await runner.log.group('Pack the source', () =>
    createArchive({
      sourcePath: resolve(workspace, inputs.settings.sourcePath ?? '.'),
      configPath: configPathOf(plan),
      workspace,
      tempDir: runner.env['RUNNER_TEMP'] ?? tmpdir(),
      signal: runner.signal,
      log: runner.log,
    }),
  )
  try {
    if (archive.disableA2a && inputs.verify?.checks.some((one) => one.kind === 'a2a') === true) {
      const message = `asks for A2A, but ${configPathOf(plan)} has http.disable_a2a: true. Remove the a2a checks, or that setting.`
      throw new InputError([{ input: 'verify', message }])
    }
  } catch (error) {
    await archive.remove()
    throw error
  }
  if (check) await archive.remove()
  return {
    remove: () => archive.remove(),
    deliver: (deployment, delivery) =>
      deliver(run, deployment, delivery, async () => {
        const { uploadArchive } = await import('../../deploy/upload.ts')
        const objectPath = await uploadArchive({
          archive,
          requestUrl: () => requestUploadUrl(api, deployment.id, { deadline: runner.clock.now() + APPLY_MS }),
          transport: api.transport,
          allowHttp: inputs.allowHttp,
          mask: (url) => runner.secrets.mask(url, 'the upload URL'),
          log: runner.log,
        })
        return { source_tarball_path: objectPath }
      }),
  }
}

function configPathOf(plan: Plan): string {
  const config = plan.action === 'create' ? plan.revisionConfig : plan.body['source_revision_config']
  const path = isMapping(config) ? config['langgraph_config_path'] : undefined
  return typeof path === 'string' ? path : 'langgraph.json'
}

async function imageArtifact(run: DeployRun): Promise<Artifact> {
  const { api, inputs, runner } = run
  const { findDocker, findImage, pushImage } = await import('../../deploy/docker/index.ts')
  const image = inputs.settings.pushImage ?? ''
  // Asked before anything is created: a job without docker, or without the image, leaves nothing behind.
  await findDocker(runner.env, runner.signal)
  await findImage({ image, env: runner.env, signal: runner.signal, log: runner.log })
  return {
    remove: async () => {},
    deliver: (deployment, delivery) =>
      deliver(run, deployment, delivery, async () => {
        const token = await requestPushToken(api, deployment.id, { deadline: runner.clock.now() + APPLY_MS })
        runner.secrets.mask(token.token, 'the push token')
        const { imageUri } = await pushImage({
          image,
          token,
          env: runner.env,
          tempDir: runner.env['RUNNER_TEMP'] ?? tmpdir(),
          signal: runner.signal,
          log: runner.log,
        })
        return { image_uri: imageUri }
      }),
  }
}

/**
 * Brings the artifact there and makes the revision of it. A deployment that this run created and that never
 * got a revision is deleted again, also on cancel; one that was there before is never touched.
 */
async function deliver(
  run: DeployRun,
  deployment: Deployment,
  delivery: Delivery,
  bring: () => Promise<Mapping>,
): Promise<Made> {
  const { api, runner } = run
  try {
    const brought = await bring()
    const config = delivery.body['source_revision_config']
    const from = { ...delivery.revisionConfig, ...(isMapping(config) ? config : {}), ...brought }
    const body = { ...delivery.body, source_revision_config: from }
    const tools: ApplyTools = { api, log: runner.log, deadline: runner.clock.now() + APPLY_MS }
    return { revisionId: (await patch(deployment, body, tools)).revisionId, from }
  } catch (error) {
    if (delivery.created) await removeOrphan(run, deployment.id)
    throw error
  }
}

async function removeOrphan(run: DeployRun, deploymentId: string): Promise<void> {
  const { runner } = run
  // With its tracing project, which this run made too: left over, it would answer the next create with 409.
  let kept = false
  const removed = await lastCall(run, `The deletion of deployment ${deploymentId}`, async (api) => {
    // A PATCH whose answer was lost may have made a revision after all: then it is no orphan.
    kept = (await getDeployment(api, deploymentId, { retries: 1 })).latest_revision_id != null
    if (!kept) await deleteDeployment(api, deploymentId, true, { retries: 1 })
  })
  if (kept) return
  if (removed)
    runner.log.info(
      `Deployment ${deploymentId}, which this run created and which has no revision, was deleted again`,
    )
  else
    runner.log.warning(
      `Deployment ${deploymentId} was created by this run and has no revision. Delete it in LangSmith, or with the action \`delete/\` (deployment-id: ${deploymentId}, delete-tracing-project: true).`,
    )
}
