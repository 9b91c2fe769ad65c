// Sending an order to the broker: the one act that neither the chain nor the enclave can take back.
import { BrokerError, type BrokerOrder, DuplicateOrderError, type OrderRequest } from '../../broker/index.js'
import type { EscrowedOrder } from '../../chain/orderEscrow.js'
import { accountIdOf } from '../../protocol/identifiers.js'
import { ConflictError, PostponedError, RunFailure } from '../failures.js'
import type { Run } from '../run.js'
import { assertOurs } from './brokerOrder.js'
import { isWrittenDeep, readEscrow } from './depth.js'
import type { Held } from './held.js'
import type { OrderTerms } from './terms.js'

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
      return await assertOurs(run, await run.broker.placeOrder(request), held.entry)
    } catch (error) {
      if (error instanceof DuplicateOrderError) return assertOurs(run, error.existing, held.entry)
      if (!isAmbiguous(error) || asked === MAX_AMBIGUOUS) throw error
      if (!run.clock.allows(run.timings.ambiguousAgainMs)) throw error
      await run.clock.sleep(run.timings.ambiguousAgainMs)
    }
  }
}

/** @throws ConflictError unless portfolio, escrow and deadline are as they were when it was decided to place the order */
async function assertUnchanged(run: Run, held: Held): Promise<void> {
  const { chain, clock } = run
  const { state, terms } = held
  const from = clock.now()
  const look = await chain.look()
  const { head } = look
  const [hash, [escrow, deep], pausedUntil, isWritten] = await Promise.all([
    chain.ledger.portfolioHash(accountIdOf(state.account), head.hash),
    readEscrow(run, terms.orderId, look),
    chain.pausedUntil(head),
    isWrittenDeep(run, held, look),
  ])
  if (pausedUntil !== 0) throw new PostponedError('paused', pausedUntil)
  const isOpen = [escrow, deep].every((order) => order.state === 'OPEN' && isOf(order, terms))
  const unchanged = hash === state.hash && isOpen && isWritten && head.timestamp < terms.deadline
  if (!unchanged) throw new ConflictError('the order may not be placed any more')
  if (clock.now() - from > MAX_LOOK_AGE_MS) throw new RunFailure('chain-unavailable')
}

function isOf(order: EscrowedOrder, terms: OrderTerms): boolean {
  return order.amount === terms.escrowed && order.commit === terms.commit
}

function isAmbiguous(error: unknown): boolean {
  return error instanceof BrokerError && error.kind === 'ambiguous'
}
