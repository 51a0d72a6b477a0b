import { isMapping, type Mapping } from './settings.ts'

/**
 * JSON Merge Patch (RFC 7396): members of the patch replace, mappings are merged, `null` removes.
 * @returns a new value; neither argument is changed
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isMapping(patch)) return patch
  const merged: Record<string, unknown> = isMapping(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key]
    else merged[key] = mergePatch(merged[key], value)
  }
  return merged
}

/** `mergePatch` for mappings, typed. */
export function mergeMappings(target: Mapping, patch: Mapping): Record<string, unknown> {
  return mergePatch(target, patch) as Record<string, unknown>
}
