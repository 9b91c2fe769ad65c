import type { Broker } from '../../broker/index.js'
import type { MarketClock } from '../../protocol/api.js'
import { brokerRetryAt, marketUnavailable } from './brokerOutage.js'
import { createSharedValue } from './sharedValue.js'

const MAX_AGE_MS = 10_000

/**
 * The market's hours. Kept for a moment, and never past the next opening or closing, when it would be wrong. The body
 * has no way of saying that it is old, so there is none while the broker fails: Problem `market-unavailable`.
 */
export function createMarketClockView(deps: {
  readonly broker: Pick<Broker, 'getClock'>
  /** Unix ms. */
  readonly now: () => number
}): () => Promise<MarketClock> {
  const { broker, now } = deps
  const shared = createSharedValue({
    load: () => broker.getClock(),
    freshUntil: ({ nextOpen, nextClose }, loadedAt) =>
      Math.min(loadedAt + MAX_AGE_MS, nextOpen.getTime(), nextClose.getTime()),
    retryAt: brokerRetryAt,
    now,
  })
  return async () => {
    try {
      const { isOpen, nextOpen, nextClose } = await shared.get()
      return { isOpen, nextOpen: nextOpen.toISOString(), nextClose: nextClose.toISOString() }
    } catch (error) {
      throw marketUnavailable(error, now())
    }
  }
}
