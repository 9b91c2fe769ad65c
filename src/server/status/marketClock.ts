import type { Broker, BrokerClock } from '../../broker/index.js'
import type { MarketClock } from '../../protocol/api.js'
import { brokerRetryMs, marketUnavailable } from './brokerOutage.js'
import { createSharedValue } from './sharedValue.js'

/**
 * The market's hours. Kept until the next opening or closing, when they would be wrong, and asked for again meanwhile: a
 * broker that fails is not noticed before that. The change has come as soon as either of our clocks says so: one may have been
 * set, and the other stands still while the machine sleeps. The body has no way of saying that it is old, so after that there is none:
 * Problem `market-unavailable`.
 */
export function createMarketClockView(deps: {
  readonly broker: Pick<Broker, 'getClock'>
  /** After how long the broker is asked again, although neither opening nor closing has come. */
  readonly maxAgeMs: number
  /** Unix ms, for the times that the broker names. It goes on while the machine sleeps. */
  readonly now: () => number
  /** Milliseconds of a clock that nobody sets, for ages and pauses. */
  readonly steadyNow: () => number
}): () => Promise<MarketClock> {
  const { broker, maxAgeMs, now, steadyNow } = deps
  const shared = createSharedValue({
    async load() {
      const clock = await broker.getClock()
      const ms = untilChangeMs(clock)
      return { untilChangeMs: ms, changesAt: now() + ms, view: viewOf(clock) }
    },
    freshMs: ({ untilChangeMs }) => Math.min(maxAgeMs, untilChangeMs),
    usableMs: ({ untilChangeMs }) => untilChangeMs,
    isOver: ({ changesAt }) => now() >= changesAt,
    retryMs: (error) => brokerRetryMs(error, now()),
    steadyNow,
  })
  return async () => {
    try {
      return (await shared.get()).value.view
    } catch (error) {
      throw marketUnavailable(error, now())
    }
  }
}

/** By the broker's own clock: ours may differ. */
function untilChangeMs({ timestamp, nextOpen, nextClose }: BrokerClock): number {
  return Math.min(nextOpen.getTime(), nextClose.getTime()) - timestamp.getTime()
}

function viewOf({ isOpen, nextOpen, nextClose }: BrokerClock): MarketClock {
  return { isOpen, nextOpen: nextOpen.toISOString(), nextClose: nextClose.toISOString() }
}
