/** What the summary of a deploy tells. Texts are as they came; the renderer escapes them. */
export interface DeploySummary {
  readonly outcome: string
  readonly name: string | undefined
  readonly deploymentId?: string
  readonly deploymentUrl?: string
  readonly dashboardUrl?: string
  readonly revisionId?: string
  readonly revisionStatus?: string
  readonly previousRevisionId?: string
  readonly commitSha?: string
  readonly imageUri?: string
  readonly created?: boolean
  readonly durationSeconds?: number
  /** Milliseconds since 1970, in order. */
  readonly timeline: readonly { readonly status: string; readonly startMs: number; readonly endMs: number }[]
  readonly reason?: string
  readonly hint?: string
  readonly plan?: unknown
  readonly providers?: Readonly<Record<string, string>>
  readonly verification?: {
    readonly passed: number
    readonly failed: number
    readonly checks: readonly {
      readonly name: string
      readonly verdict: string
      readonly reason: string
      readonly seconds: number
      readonly said?: string
    }[]
  }
  readonly logTail?: { readonly title: string; readonly text: string }
  readonly rollback?: string
  readonly notes?: readonly string[]
}

export declare function renderDeploySummary(summary: DeploySummary): string
