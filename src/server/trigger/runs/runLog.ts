import type { LogFields, Logger } from '../../logger.js'
import type { RunEnd } from './runner.js'

/** Codes of a run that an operator has to act on: money is lost, or an account stands still for good. */
export const ALARMING: ReadonlySet<string> = new Set(['reclaimed-after-fill', 'ledger-unreadable'])

/** Logs the end of a run with its code: as an error when someone has to act, as a warning when it failed. */
export function logRunEnd(logger: Logger, message: string, { how, result }: RunEnd, fields: LogFields): void {
  const code = result?.code
  const hasFailed = how !== 'result' || result === null || result.outcome === 'failed'
  const level = code !== undefined && ALARMING.has(code) ? 'error' : hasFailed ? 'warn' : 'info'
  logger[level](message, { ...fields, code })
}
