// Limit orders rest at the broker, whose one account serves everyone: it takes no order that could trade with one of them. So an order passes
// those of the other side with a limit one increment beyond the best of theirs, however far its own limit would reach.
import { BrokerError, type OrderRequest, type OrderSide } from '../../broker/index.js'
import { priceIncrement } from '../../protocol/orderTerms.js'
import { max, min } from '../money.js'
import type { Run } from '../run.js'
import type { Live } from './life.js'

/** For so long an order keeps a limit that is not its own, doubled with each placement of it. */
const HELD_BACK_MS = 60_000
const MAX_DOUBLINGS = 5

/** The limit that passes these prices of the other side; undefined where there are none, or no such limit. */
function beyond(side: OrderSide, prices: readonly bigint[]): bigint | undefined {
  if (prices.length === 0) return undefined
  if (side === 'sell') {
    const best = prices.reduce(max)
    return best + priceIncrement(best)
  }
  const best = prices.reduce(min)
  const price = best - priceIncrement(best - 1n)
  return price > 0n ? price : undefined
}

/**
 * The limit with which an order passes others: never worse than its own.
 * @param own absent at the market's price
 */
export function limitPast(side: OrderSide, own: bigint | undefined, prices: readonly bigint[]) {
  const passing = beyond(side, prices)
  if (own === undefined || passing === undefined) return own ?? passing
  return side === 'buy' ? min(own, passing) : max(own, passing)
}

/** Whether a price at the broker is an order's own limit, or better for its account. */
export function isWithin(side: OrderSide, own: bigint, price: bigint | null): boolean {
  return price !== null && (side === 'buy' ? price <= own : price >= own)
}

/**
 * The limit with which the broker takes an order that it has refused because of limit orders that this process does not know. Undefined
 * where none would help: orders at the market's price wait too, or it was refused for another reason.
 */
export async function limitPastUnknown(
  run: Run,
  { symbol, side, limitPrice }: OrderRequest,
  error: unknown,
): Promise<bigint | undefined> {
  if (!(error instanceof BrokerError) || error.status !== 403) return undefined
  const opposite = (await run.broker.getLiveOrders(symbol)).filter((order) => order.side !== side)
  const prices = opposite.flatMap((order) => order.limitPrice ?? [])
  if (prices.length < opposite.length) return undefined
  const passing = limitPast(side, limitPrice, prices)
  return passing === limitPrice ? undefined : passing
}

/** Whether an order waits at a limit that is not its own, and that it needs no more to pass others: it is placed again then. */
export function isHeldBack({ clock, turns }: Run, { terms, order, earlier }: Live): boolean {
  const { side, limitPrice, createdAt } = order
  const own = terms.limit?.price
  if (limitPrice === null || limitPrice === own) return false
  const needed = limitPast(side, own, turns.restingAgainst(terms))
  const isLooser = needed === undefined || (side === 'buy' ? needed > limitPrice : needed < limitPrice)
  const patienceMs = HELD_BACK_MS * 2 ** Math.min(earlier.length, MAX_DOUBLINGS)
  return isLooser && clock.now() - createdAt.getTime() >= patienceMs
}
