import { describeError, type Logger } from '../../service/logger.js'
import { createSharedValue } from '../../service/waiting.js'

/** The state of a part of the server. Degraded: look into it. Unhealthy: no order can be completed. */
export type CheckStatus = 'healthy' | 'degraded' | 'unhealthy'

/**
 * Every reason why a check is not healthy, with its severity; this table alone decides it. docs/operations/every-day.md has a row for
 * each.
 */
export const REASONS = {
  starting: 'unhealthy',
  stopping: 'unhealthy',
  'no-answer-in-time': 'unhealthy',
  'check-failed': 'unhealthy',
  'no-node-answers': 'unhealthy',
  'other-chain': 'unhealthy',
  'node-set-aside': 'degraded',
  'contract-missing': 'unhealthy',
  'chain-unavailable': 'unhealthy',
  'relayer-underfunded': 'unhealthy',
  'gas-reserve-used-up': 'unhealthy',
  'gas-budget-used-up': 'degraded',
  'key-used-elsewhere': 'degraded',
  'gas-budget-low': 'degraded',
  'balance-low': 'degraded',
  'enclave-program-missing': 'unhealthy',
  'enclave-configuration-unreadable': 'unhealthy',
  'enclave-configuration-shared': 'unhealthy',
  'enclave-host-unreachable': 'unhealthy',
  'store-not-writable': 'unhealthy',
  'standby-missing': 'unhealthy',
  'store-not-durable': 'degraded',
  'lease-not-held': 'degraded',
  'narration-behind': 'degraded',
  'narration-stalled': 'degraded',
  'narration-unread': 'degraded',
} as const satisfies Record<string, Exclude<CheckStatus, 'healthy'>>

export type CheckReason = keyof typeof REASONS

/** Looks at one part of the server. Returns why it is not healthy, or null. */
export type Look = () => Promise<CheckReason | null>

interface CheckResult {
  readonly status: CheckStatus
  /** Null when it is healthy. */
  readonly reason: CheckReason | null
}

/** A look whose result concurrent callers share. */
export type Check = ReturnType<typeof createCheck>

const LIMIT_MS = 2_000
const FRESH_MS = 1_000

/**
 * Concurrent callers share one look, and callers shortly afterwards share its result. While a look hangs, only its first
 * callers wait for the time limit: the others fail immediately, and no other look begins.
 */
export function createCheck(options: {
  readonly name: string
  readonly look: Look
  readonly logger: Logger
  /** Time that a look may take. */
  readonly limitMs?: number
  /** How long callers share its result. */
  readonly freshMs?: number
}) {
  const { name, look, logger, limitMs = LIMIT_MS, freshMs = FRESH_MS } = options
  function failed(error: unknown): CheckReason {
    logger.error('check failed', { service: name, ...describeError(error) })
    return 'check-failed'
  }

  const shared = createSharedValue({
    load: async () => resultOf(await look().catch(failed)),
    freshMs: () => freshMs,
    patienceMs: limitMs,
  })

  return {
    name,
    /** Answers within the time limit, whatever the look does. Never rejects. */
    result: async (): Promise<CheckResult> => (await shared.inTime()) ?? resultOf('no-answer-in-time'),
  }
}

function resultOf(reason: CheckReason | null): CheckResult {
  return { status: reason === null ? 'healthy' : REASONS[reason], reason }
}

/** The state of the server: that of its worst part. */
export interface ReadinessReport {
  readonly status: CheckStatus
  readonly checks: Readonly<Record<string, CheckResult>>
}

/** Looks at every part concurrently. Never rejects, and answers within the time limit of a check. */
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
