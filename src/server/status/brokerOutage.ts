import { BrokerError } from '../../broker/index.js'
import { Problem } from '../http/problems.js'

/** Pause after a failed call that named no better moment. */
const RETRY_MS = 2_000
/** A broker that asks for more patience than this is asked again all the same. */
const MAX_RETRY_MS = 60_000

/**
 * How long to wait before the broker is asked again after a failure: to its own time for a rate limit, else a moment.
 *
 * @param now Unix ms
 */
export function brokerRetryMs(error: unknown, now: number): number {
  const resetAt = error instanceof BrokerError ? error.resetAt?.getTime() : undefined
  return Math.min(Math.max((resetAt ?? now) - now, RETRY_MS), MAX_RETRY_MS)
}

/** A failed call to the broker as the 503 that says when to come back; any other failure as it is. */
export function marketUnavailable(error: unknown, now: number): unknown {
  if (!(error instanceof BrokerError)) return error
  const seconds = Math.ceil(brokerRetryMs(error, now) / 1_000)
  return new Problem('market-unavailable', { cause: error, headers: { 'Retry-After': String(seconds) } })
}
