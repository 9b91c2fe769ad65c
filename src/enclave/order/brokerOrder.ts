import { BrokerError, type BrokerOrder } from '../../broker/index.js'
import type { OpenOrder } from '../../protocol/portfolio.js'
import { RunFailure } from '../failures.js'
import type { Run } from '../run.js'

/** Finds the broker's order under our id. @throws RunFailure `broker-mismatch` when it is not this order */
export async function findOrder(run: Run, id: string, entry: OpenOrder): Promise<BrokerOrder | null> {
  const found = await run.broker.getOrderByClientOrderId(id)
  return found && assertOurs(found, entry)
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

/** The order as it is now, or as it was last seen when the broker does not say. */
async function lookAgain(run: Run, order: BrokerOrder): Promise<BrokerOrder> {
  try {
    return (await run.broker.getOrderByClientOrderId(order.clientOrderId)) ?? order
  } catch (error) {
    if (error instanceof BrokerError) return order
    throw error
  }
}

/** Asks for an order to be cancelled and looks whether it has come to its end, which may be a fill after all. */
export async function cancel(run: Run, order: BrokerOrder): Promise<BrokerOrder> {
  await run.broker.cancelOrder(order.id)
  const now = await lookAgain(run, order)
  return awaitFinal(run, now)
}

/** An order under our id that is not ours must never be settled as ours. */
export function assertOurs(order: BrokerOrder, { symbol, side }: OpenOrder): BrokerOrder {
  const ours = order.symbol === symbol && order.side === (side === 'BUY' ? 'buy' : 'sell')
  if (!ours) throw new RunFailure('broker-mismatch')
  return order
}
