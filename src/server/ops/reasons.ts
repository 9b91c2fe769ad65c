/** How a part of the server stands. Degraded: look into it. Unhealthy: no order can be taken to its end. */
export type CheckStatus = 'healthy' | 'degraded' | 'unhealthy'

/**
 * Why a check is not healthy, and how bad that is: the one place that decides it (docs/decisions/0141).
 * docs/operations.md has a row for each.
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
  'lease-not-held': 'degraded',
  'narration-behind': 'degraded',
  'narration-stalled': 'degraded',
  'narration-unread': 'degraded',
} as const satisfies Record<string, Exclude<CheckStatus, 'healthy'>>

export type CheckReason = keyof typeof REASONS
