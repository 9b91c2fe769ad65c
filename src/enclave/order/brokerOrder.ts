import { BrokerError, type BrokerOrder, DuplicateOrderError, type OrderRequest } from '../../broker/index.js'
import type { OpenOrder } from '../../protocol/portfolio.js'
import { RunFailure } from '../failures.js'
import type { Run } from '../run.js'

/** How often a run asks for an order whose answer was lost, before a later run goes on asking. */
const MAX_AMBIGUOUS = 5

/** Finds the broker's order under our id. @throws RunFailure `broker-mismatch` when it is not this order */
export async function findOrder(run: Run, id: string, entry: OpenOrder): Promise<BrokerOrder | null> {
  const found = await run.broker.getOrderByClientOrderId(id)
  return found && assertOurs(found, entry)
}

/**
 * Places an order. An answer that got lost is asked for again under the same id, which the broker takes once.
 * @throws BrokerError when the broker refused it, or when its answer stays unknown
 */
export async function place(run: Run, request: OrderRequest, entry: OpenOrder): Promise<BrokerOrder> {
  for (let asked = 1; ; asked++) {
    try {
      return assertOurs(await run.broker.placeOrder(request), entry)
    } catch (error) {
      if (error instanceof DuplicateOrderError) return assertOurs(error.existing, entry)
      if (!isAmbiguous(error) || asked === MAX_AMBIGUOUS) throw error
      if (!run.clock.allows(run.timings.ambiguousAgainMs)) throw error
      await run.clock.sleep(run.timings.ambiguousAgainMs)
    }
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
function assertOurs(order: BrokerOrder, { symbol, side }: OpenOrder): BrokerOrder {
  const ours = order.symbol === symbol && order.side === (side === 'BUY' ? 'buy' : 'sell')
  if (!ours) throw new RunFailure('broker-mismatch')
  return order
}

function isAmbiguous(error: unknown): boolean {
  return error instanceof BrokerError && error.kind === 'ambiguous'
}
