import { hintOf, messageOf } from '../../base/errors.ts'
import type { Deployment, Revision } from '../../clients/control-plane/wire.ts'
import { type Outcome, outcomeOf, reasonOf } from '../../deploy/errors.ts'
import { Timeline } from '../../deploy/timeline.ts'
import type { Runner } from '../../runner/runner.ts'
import type { DeploySummary } from '../../runner/summary/deploy.ts'
import type { Report } from '../../verify/types.ts'

/**
 * What this run knows so far. Each fact becomes an output as soon as it is set, so that a step which fails or
 * is killed leaves behind what it knew; the summary and the comment are drawn from the same facts.
 */
export class DeployRecord {
  readonly timeline = new Timeline()
  readonly notes: string[] = []
  readonly #runner: Runner
  readonly #startedMs: number
  name: string | undefined
  providers: Record<string, string> | undefined
  logTail: { title: string; text: string } | undefined
  rollback: string | undefined
  plan: unknown
  report: Report | undefined
  deploymentUrl: URL | undefined
  #outcome: Outcome | undefined
  #error: unknown
  #durationSeconds: number | undefined

  constructor(runner: Runner) {
    this.#runner = runner
    this.#startedMs = runner.clock.now()
  }

  get outcome(): Outcome | undefined {
    return this.#outcome
  }

  get deploymentId(): string | undefined {
    return this.#runner.outputs.get('deployment-id')
  }

  get revisionId(): string | undefined {
    return this.#runner.outputs.get('revision-id')
  }

  /** The deployment's name, as the user or the service gave it. It stays whole where a secret has the same text. */
  named(name: string | null | undefined): void {
    this.name ??= name ?? undefined
    if (this.name !== undefined) this.#runner.secrets.keep(this.name)
  }

  deployment(deployment: Deployment, dashboardUrl: string | undefined): void {
    this.named(deployment.name)
    this.#set('deployment-id', deployment.id)
    this.#set('dashboard-url', dashboardUrl)
  }

  url(url: URL | undefined): void {
    this.deploymentUrl = url
    // As the service gave it, but for the slash that URL puts behind a bare host.
    this.#set('deployment-url', url?.href.replace(/\/$/, ''))
  }

  previous(revisionId: string | undefined): void {
    this.#set('previous-revision-id', revisionId)
  }

  created(created: boolean): void {
    this.#set('created', String(created))
  }

  revision(revisionId: string): void {
    this.#set('revision-id', revisionId)
  }

  /** What a poll saw: status, and what the revision says that it was built from. */
  poll(revision: Revision, status: string): void {
    this.#set('revision-status', status)
    const { repo_commit_sha: sha, image_uri: image } = revision.source_revision_config ?? {}
    // Both are remote text that goes into an output: only what looks like one.
    if (typeof sha === 'string' && /^[0-9a-f]{7,64}$/i.test(sha)) this.#set('commit-sha', sha)
    if (typeof image === 'string' && /^[A-Za-z0-9][\w./:@+-]{0,500}$/.test(image))
      this.#set('image-uri', image)
  }

  planned(plan: unknown): void {
    this.plan = plan
    this.#set('plan', this.#runner.secrets.redact(JSON.stringify(plan)))
  }

  registered(ids: Record<string, string>): void {
    this.providers = ids
    this.#set('oauth-providers', JSON.stringify(ids))
  }

  verification(report: Report, json: string): void {
    this.report = report
    this.#set('verification', json)
  }

  /** The end. The last word wins: a cancel during the rollback is a cancel. */
  end(outcome: Outcome, error?: unknown): void {
    const { clock, outputs } = this.#runner
    this.timeline.close(clock.now())
    this.#outcome = outcome
    this.#error = error
    this.#durationSeconds = Math.round((clock.now() - this.#startedMs) / 100) / 10
    outputs.set('outcome', outcome)
    outputs.set('duration-seconds', this.#durationSeconds)
    if (error !== undefined) outputs.set('failure-reason', this.#runner.secrets.redact(reasonOf(error)))
  }

  fail(error: unknown): void {
    this.end(outcomeOf(error), error)
  }

  summary(): DeploySummary {
    const { outputs } = this.#runner
    const known = (key: keyof DeploySummary, output: string): Partial<DeploySummary> => {
      const value = outputs.get(output)
      return value === undefined || value === '' ? {} : { [key]: value }
    }
    const created = outputs.get('created')
    const hint = hintOf(this.#error)
    return {
      outcome: this.#outcome ?? 'error',
      name: this.name,
      ...known('deploymentId', 'deployment-id'),
      ...known('deploymentUrl', 'deployment-url'),
      ...known('dashboardUrl', 'dashboard-url'),
      ...known('revisionId', 'revision-id'),
      ...known('revisionStatus', 'revision-status'),
      ...known('previousRevisionId', 'previous-revision-id'),
      ...known('commitSha', 'commit-sha'),
      ...known('imageUri', 'image-uri'),
      ...(created === undefined ? {} : { created: created === 'true' }),
      ...(this.#durationSeconds === undefined ? {} : { durationSeconds: this.#durationSeconds }),
      timeline: this.timeline.entries,
      ...(this.#error === undefined ? {} : { reason: messageOf(this.#error) }),
      ...(hint === undefined ? {} : { hint }),
      ...(this.plan !== undefined && this.#outcome === 'planned' ? { plan: this.plan } : {}),
      ...(this.providers === undefined ? {} : { providers: this.providers }),
      ...(this.report === undefined ? {} : { verification: this.report }),
      ...(this.logTail === undefined ? {} : { logTail: this.logTail }),
      ...(this.rollback === undefined ? {} : { rollback: this.rollback }),
      notes: this.notes,
    }
  }

  #set(name: string, value: string | undefined): void {
    if (value !== undefined && value !== '') this.#runner.outputs.set(name, value)
  }
}
