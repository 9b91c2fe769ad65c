import type { Check, CheckResult } from './check.js'
import type { CheckStatus } from './reasons.js'

/** How the server stands: as its worst part does. */
export interface ReadinessReport {
  readonly status: CheckStatus
  readonly checks: Readonly<Record<string, CheckResult>>
}

/** Looks at every part, side by side. Never rejects, and answers within the time limit of a check. */
export function createReadiness(checks: readonly Check[]): () => Promise<ReadinessReport> {
  return async () => {
    const results = await Promise.all(checks.map((check) => check.result()))
    const statuses = results.map(({ status }) => status)
    const worst = (['unhealthy', 'degraded'] as const).find((status) => statuses.includes(status))
    return {
      status: worst ?? 'healthy',
      checks: Object.fromEntries(
        checks.map(({ name }, index) => [name, results[index] ?? { status: 'healthy', reason: null }]),
      ),
    }
  }
}
