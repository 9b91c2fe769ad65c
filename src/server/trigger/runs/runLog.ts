import { RESTARTED } from '../../../protocol/job.js'
import type { LogFields, Logger } from '../../../service/logger.js'
import type { RunEnd } from './runner.js'

/**
 * Codes of a run that an operator must see, and their log levels. `error`: money is lost, or orders stall until an operator
 * acts. `warn`: the next run may succeed, or the platform only has to book a difference.
 */
export const ALARMING: ReadonlyMap<string, 'error' | 'warn'> = new Map([
  ['reclaimed-after-fill', 'error'],
  ['cost-over-notional', 'warn'],
  ['ledger-unreadable', 'error'],
  ['broker-mismatch', 'error'],
  ['broker-unreadable', 'error'],
  ['broker-unauthorized', 'error'],
  ['broker-refused', 'warn'],
  ['broker-rate-limited', 'warn'],
  ['broker-unavailable', 'warn'],
  [RESTARTED, 'warn'],
])

/** Logs the end of a run at its code's level in `ALARMING`. With any other code a failed run is a warning. */
export function logRunEnd(logger: Logger, message: string, { how, result }: RunEnd, fields: LogFields): void {
  const code = result?.code
  const hasFailed = how !== 'result' || result === null || result.outcome === 'failed'
  const level = ALARMING.get(code ?? '') ?? (hasFailed ? 'warn' : 'info')
  logger[level](message, { ...fields, code })
}
