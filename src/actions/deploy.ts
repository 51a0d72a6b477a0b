import type { Story } from '../runner/run-action.ts'
import type { Runner } from '../runner/runner.ts'
import { renderDeploySummary } from '../runner/summary/deploy.ts'
import { interruptAfterCancel } from './deploy/cancel.ts'
import { gitFacts, missingKeyHint } from './deploy/git-facts.ts'
import { closeGithub, openGithub } from './deploy/github.ts'
import { readDeployInputs } from './deploy/inputs.ts'
import { explainFailure, followUp, waitUntilLive } from './deploy/prove.ts'
import { DeployRecord } from './deploy/record.ts'
import type { Accepted, DeployRun } from './deploy/run.ts'
import { send } from './deploy/send.ts'
import { rollBack } from './deploy/way-back.ts'

/** The root action: create or patch, wait, register providers, verify, tell. Green means live. */
export function deployStory(): Story {
  let run: DeployRun | undefined
  let accepted: Accepted | undefined
  let record: DeployRecord | undefined

  async function main(runner: Runner): Promise<void> {
    record = new DeployRecord(runner)
    run = await begin(runner, record)
    const { inputs } = run
    await openGithub(run)
    accepted = await send(run)
    if (accepted === undefined) return end(run, 'planned')
    runner.log.info(`The request was accepted: revision ${accepted.revisionId}`)
    const dashboard = runner.outputs.get('dashboard-url')
    if (dashboard !== undefined && dashboard !== '') runner.log.info(`Follow it in LangSmith: ${dashboard}`)
    if (!inputs.wait) return end(run, 'triggered')
    await deployAndProve(run, accepted)
    await end(run, 'deployed')
  }

  /** Outputs, summary and GitHub are told of every red end, whatever broke. */
  async function failed(runner: Runner, error: unknown): Promise<void> {
    record ??= new DeployRecord(runner)
    record.fail(error)
    runner.summary.append(summaryOf(runner, record))
    if (run === undefined) return
    const { inputs } = run
    await Promise.all([
      record.outcome === 'cancelled' && inputs.interruptOnCancel
        ? interruptAfterCancel(run, accepted)
        : undefined,
      closeGithub(run),
    ])
  }

  return { main, failed }
}

async function begin(runner: Runner, record: DeployRecord): Promise<DeployRun> {
  // Best effort: that the event cannot be read must not hide that the key is missing.
  const hint =
    runner.inputs.text('api-key') === undefined
      ? await runner.context().then(missingKeyHint, () => undefined)
      : undefined
  const inputs = await readDeployInputs(runner, hint)
  record.named(inputs.settings.target.name)
  const { apiKey, workspaceId, controlPlaneUrl: baseUrl } = inputs
  return {
    runner,
    inputs,
    record,
    api: { transport: runner.transport, baseUrl, apiKey, workspaceId },
    git: async () => gitFacts(await runner.context()),
  }
}

async function deployAndProve(run: DeployRun, accepted: Accepted): Promise<void> {
  const { inputs, record, runner } = run
  const deadline = runner.clock.now() + inputs.timeoutMs
  try {
    const live = await waitUntilLive(run, accepted, record.timeline, deadline)
    record.timeline.close(runner.clock.now())
    await followUp(run, accepted, live, deadline)
  } catch (error) {
    if (runner.signal.aborted) throw error
    record.timeline.close(runner.clock.now())
    await explainFailure(run, accepted, error)
    throw await rollBack(run, accepted, error)
  }
}

async function end(run: DeployRun, outcome: 'planned' | 'triggered' | 'deployed'): Promise<void> {
  const { record, runner } = run
  record.end(outcome)
  const url = runner.outputs.get('deployment-url') ?? ''
  runner.log.info(outcome === 'deployed' && url !== '' ? `${VERDICTS.deployed} ${url}` : VERDICTS[outcome])
  runner.summary.append(summaryOf(runner, record))
  await closeGithub(run)
}

/** Redacted before the Markdown is made: only there is it certain that no escaping hides a secret. */
function summaryOf(runner: Runner, record: DeployRecord): string {
  return renderDeploySummary(record.summary(), (text) => runner.secrets.redact(text))
}

const VERDICTS = {
  planned: 'Planned: nothing was changed.',
  triggered: 'Triggered: the request was accepted. Whether the revision gets live was not waited for.',
  deployed: 'Live: the revision of this run serves.',
}
