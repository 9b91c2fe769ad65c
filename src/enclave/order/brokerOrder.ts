import { BrokerError, type BrokerOrder, fillValue } from '../../broker/index.js'
import type { Hex } from '../../protocol/hex.js'
import { clientOrderIdOf } from '../../protocol/identifiers.js'
import type { Side } from '../../protocol/intent.js'
import type { OpenOrder } from '../../protocol/portfolio.js'
import { toCents } from '../../protocol/units.js'
import { RunFailure } from '../failures.js'
import type { Run } from '../run.js'

/** How far the clocks of broker, chain and enclave may be apart, in seconds. */
const CLOCK_SKEW_S = 60

/**
 * How much older than its write-ahead an order at the broker may be, in seconds: a reorganization takes a write-ahead
 * back after its order was placed, and the next run writes it again.
 */
const REORGANIZATION_S = 3_600

/**
 * Finds the broker's order of an entry in the portfolio.
 * @throws RunFailure `broker-mismatch` when there is one under its id that is not this order
 */
export async function findOrder(run: Run, orderId: Hex, entry: OpenOrder): Promise<BrokerOrder | null> {
  const found = await run.broker.getOrderByClientOrderId(clientOrderIdOf(orderId))
  return found && assertOurs(run, found, entry)
}

/**
 * Makes sure that the broker knows nothing of an order that is not in the portfolio. A reorganization may have taken
 * the write-ahead back, or replaced the escrow by another one under the same id: then nothing is refunded, what is
 * live is cancelled, and a person has to look.
 * @throws RunFailure `broker-mismatch`
 */
export async function assertNothingAtBroker(run: Run, orderId: Hex): Promise<void> {
  const found = await run.broker.getOrderByClientOrderId(clientOrderIdOf(orderId))
  if (found) await refuse(run, found)
}

/** Whether the broker has an order that the chain does not know. What it cannot say now, a later run learns. */
export async function isAtBroker(run: Run, orderId: Hex): Promise<boolean> {
  try {
    return (await run.broker.getOrderByClientOrderId(clientOrderIdOf(orderId))) !== null
  } catch (error) {
    if (error instanceof BrokerError) return false
    throw error
  }
}

/** Looks at a live order for a few seconds: most market orders fill at once. */
export async function awaitFinal(run: Run, order: BrokerOrder): Promise<BrokerOrder> {
  const { fillWaitMs, fillPollMs } = run.timings
  const until = run.clock.now() + fillWaitMs
  let latest = order
  while (latest.state === 'live' && run.clock.now() < until && run.clock.allows(fillPollMs)) {
    await run.clock.sleep(fillPollMs)
    latest = await lookAgain(run, latest)
  }
  return latest
}

/**
 * The order as it is now, or as it was last seen when the broker does not say.
 * @throws BrokerError when the broker says what cannot be read
 */
async function lookAgain(run: Run, order: BrokerOrder): Promise<BrokerOrder> {
  try {
    return (await run.broker.getOrderByClientOrderId(order.clientOrderId)) ?? order
  } catch (error) {
    if (error instanceof BrokerError && error.reason !== 'unreadable') return order
    throw error
  }
}

/** Asks for an order to be cancelled and looks whether it has come to its end, which may be a fill after all. */
export async function cancel(run: Run, order: BrokerOrder): Promise<BrokerOrder> {
  await run.broker.cancelOrder(order.id)
  const now = await lookAgain(run, order)
  return awaitFinal(run, now)
}

/**
 * An order under our id that is not ours must never be settled as ours. It is ours when it is for what the entry says,
 * and no older than this deployment and than the entry: ids come again when the contracts are deployed anew with the
 * same account at the broker.
 * @throws RunFailure `broker-mismatch`
 */
export async function assertOurs(run: Run, order: BrokerOrder, entry: OpenOrder): Promise<BrokerOrder> {
  const isOurs = isFor(order, entry) && isYoungEnough(order, entry) && !(await isOlderThanEscrow(run, order))
  if (!isOurs) await refuse(run, order)
  return order
}

function isFor({ symbol, side, notional, qty }: BrokerOrder, entry: OpenOrder): boolean {
  if (symbol !== entry.symbol) return false
  if (entry.side === 'BUY') return side === 'buy' && notional === toCents(entry.notional, 'down')
  return side === 'sell' && qty !== null && qty <= entry.locked
}

function isYoungEnough({ createdAt }: BrokerOrder, { placedAt }: OpenOrder): boolean {
  return createdAt.getTime() / 1_000 >= placedAt - CLOCK_SKEW_S - REORGANIZATION_S
}

async function isOlderThanEscrow({ chain }: Run, { createdAt }: BrokerOrder): Promise<boolean> {
  return createdAt.getTime() / 1_000 < (await chain.deployedAt()) - CLOCK_SKEW_S
}

/** Cancels an order that may not be settled, unless it belongs to an earlier deployment. */
async function refuse(run: Run, order: BrokerOrder): Promise<never> {
  if (order.state === 'live' && !(await isOlderThanEscrow(run, order))) {
    await run.broker.cancelOrder(order.id)
  }
  throw new RunFailure('broker-mismatch')
}

/** In a result's `code`: a buy cost more than its amount, within the tolerance. The platform bears the difference. */
export const COST_OVER_NOTIONAL = 'cost-over-notional'

/** How much more than its amount a buy may cost, in basis points: the broker rounds, and its fills are at market prices. */
const COST_TOLERANCE = 50n
const BASIS_POINTS = 10_000n

/**
 * Whether a buy cost more than its amount: then the platform bears the difference, and the result says so.
 * @throws RunFailure `broker-mismatch` when it is more than the stated tolerance
 */
export function costsMore({ side, notional }: { side: Side; notional: bigint }, fill: BrokerOrder): boolean {
  if (side !== 'BUY') return false
  const [cost, most] = [fillValue(fill, 'up'), toCents(notional, 'down')]
  if (cost * BASIS_POINTS > most * (BASIS_POINTS + COST_TOLERANCE)) throw new RunFailure('broker-mismatch')
  return cost > most
}
