// Sending an order to the broker: the one act that neither the chain nor the enclave can take back.
import { BrokerError, type BrokerOrder, DuplicateOrderError, type OrderRequest } from '../../broker/index.js'
import { accountIdOf } from '../../protocol/identifiers.js'
import { ConflictError, RunFailure } from '../failures.js'
import type { Run } from '../run.js'
import { assertOurs } from './brokerOrder.js'
import type { Held } from './held.js'

/** How often a run asks for an order whose answer was lost, before a later run goes on asking. */
const MAX_AMBIGUOUS = 5

/**
 * Milliseconds from the look at the chain to the send, which is over after its own time-out, twelve seconds at most. Whoever
 * decides that the order is never placed waits longer than both before it looks for the order a last time.
 */
const MAX_LOOK_AGE_MS = 5_000

/**
 * Places an order. An answer that got lost is asked for again under the same id, which the broker takes once. Right
 * before every send the chain is asked whether the order is still to be placed: another run of the account, of which
 * nobody need know, may have ended it meanwhile.
 * @throws BrokerError when the broker refused it, or when its answer stays unknown; ConflictError when it may not be
 *   sent any more
 */
export async function place(run: Run, held: Held, request: OrderRequest): Promise<BrokerOrder> {
  for (let asked = 1; ; asked++) {
    await assertUnchanged(run, held)
    try {
      return assertOurs(await run.broker.placeOrder(request), held.entry)
    } catch (error) {
      if (error instanceof DuplicateOrderError) return assertOurs(error.existing, held.entry)
      if (!isAmbiguous(error) || asked === MAX_AMBIGUOUS) throw error
      if (!run.clock.allows(run.timings.ambiguousAgainMs)) throw error
      await run.clock.sleep(run.timings.ambiguousAgainMs)
    }
  }
}

/** @throws ConflictError unless portfolio, escrow and deadline are as they were when it was decided to place the order */
async function assertUnchanged(
  { chain, clock }: Run,
  { state: { account, version }, terms }: Held,
): Promise<void> {
  const from = clock.now()
  const block = await chain.latest()
  const [latest, escrow] = await Promise.all([
    chain.ledger.portfolioVersion(accountIdOf(account), block.number),
    chain.escrow.orders(terms.orderId, block.number),
  ])
  const unchanged = latest === version && escrow.state === 'OPEN' && block.timestamp < terms.deadline
  if (!unchanged) throw new ConflictError('the order may not be placed any more')
  if (clock.now() - from > MAX_LOOK_AGE_MS) throw new RunFailure('chain-unavailable')
}

function isAmbiguous(error: unknown): boolean {
  return error instanceof BrokerError && error.kind === 'ambiguous'
}
