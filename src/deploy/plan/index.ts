import type { SecretEntry } from '../settings.ts'
import { planCreate } from './create.ts'
import type { Plan, PlanFacts } from './types.ts'
import { planUpdate } from './update.ts'

export type { Artifact, CreatePlan, Discovered, Plan, PlanFacts, UpdatePlan } from './types.ts'

/**
 * What this run will send: a create or one PATCH. Pure: the same facts give the same plan.
 * @throws InputError for wrong inputs, before anything was changed
 */
export function makePlan(facts: PlanFacts): Plan {
  return facts.deployment === undefined ? planCreate(facts) : planUpdate(facts, facts.deployment)
}

/**
 * The plan as the output `plan` and the dry run show it: names of secrets, never values.
 * @param secrets the list that an update would send; undefined: it leaves them as they are
 */
export function describePlan(
  plan: Plan,
  secrets: readonly SecretEntry[] | undefined,
): Record<string, unknown> {
  const names = secrets?.map((entry) => entry.name)
  const { secrets: _values, ...body } = plan.body as Record<string, unknown>
  if (plan.action === 'create') {
    return {
      action: 'create',
      method: 'POST',
      path: '/v2/deployments',
      source: plan.source,
      artifact: plan.artifact,
      request: { ...body, source_revision_config: plan.revisionConfig },
      secrets: names ?? [],
      warnings: plan.warnings,
    }
  }
  return {
    action: 'update',
    method: 'PATCH',
    path: `/v2/deployments/${plan.deployment.id}`,
    source: plan.source,
    artifact: plan.artifact,
    request: body,
    ...(names === undefined ? {} : { secrets: names }),
    warnings: plan.warnings,
  }
}
