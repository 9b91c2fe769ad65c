// What permits an order must lie at the stated depth, where a reorganization is not expected to take it back.
import type { EscrowedOrder } from '../../chain/orderEscrow.js'
import type { Hex } from '../../protocol/hex.js'
import type { OpenOrder } from '../../protocol/portfolio.js'
import type { BlockPoint, Look } from '../chainState.js'
import { RunFailure } from '../failures.js'
import type { Run } from '../run.js'
import { isAtBroker } from './brokerOrder.js'
import type { Held } from './held.js'

/** An order's escrow at the head. */
export interface Seen {
  look: Look
  escrow: EscrowedOrder
  /** Whether it stands at the stated depth as it does at the head. */
  isDeep: boolean
}

/**
 * Reads an order's escrow, and waits for a few seconds until it lies deep enough.
 * @throws RunFailure `order-unknown` when it is not on the chain: a reorganization may be opening it anew, so that is
 *   never an end. `broker-mismatch` when the broker has it nevertheless: if no block opens it again, the platform has
 *   traded for itself.
 */
export async function awaitDepth(run: Run, orderId: Hex): Promise<Seen> {
  return poll(run, async () => {
    const look = await run.chain.look()
    const [escrow, deep] = await readEscrow(run, orderId, look)
    // The server starts no run before it has seen the escrow: the enclave's own node is behind.
    if (escrow.state === 'NONE')
      throw new RunFailure((await isAtBroker(run, orderId)) ? 'broker-mismatch' : 'order-unknown')
    const isDeep = deep === escrow || isSameOrder(escrow, deep)
    return { done: isDeep, value: { look, escrow, isDeep } }
  })
}

/** Whether an order's write-ahead lies at the stated depth; waits for it for a few seconds. */
export function awaitWriteAhead(run: Run, held: Held): Promise<boolean> {
  return poll(run, async () => {
    const isDeep = await isWrittenDeep(run, held, await run.chain.look())
    return { done: isDeep, value: isDeep }
  })
}

/** Whether an order is in the portfolio at the stated depth, with these very terms. */
export async function isWrittenDeep(run: Run, { state, terms, entry }: Held, look: Look): Promise<boolean> {
  if (look.deep === look.head) return true
  const { portfolio } = await run.portfolios.load(state.account, look.deep)
  const written = portfolio?.openOrders[terms.orderId]
  return written !== undefined && isSameEntry(written, entry)
}

/** The escrow at the head and at the stated depth. */
export async function readEscrow(
  { chain }: Run,
  orderId: Hex,
  { head, deep }: Look,
): Promise<[head: EscrowedOrder, deep: EscrowedOrder]> {
  const at = (block: BlockPoint) => chain.escrow.orders(orderId, block.hash)
  if (deep === head) {
    const escrow = await at(head)
    return [escrow, escrow]
  }
  return Promise.all([at(head), at(deep)])
}

function isSameOrder(a: EscrowedOrder, b: EscrowedOrder): boolean {
  return (
    a.state === b.state &&
    a.account === b.account &&
    a.amount === b.amount &&
    a.commit === b.commit &&
    a.deadline === b.deadline
  )
}

function isSameEntry(a: OpenOrder, b: OpenOrder): boolean {
  return (
    a.side === b.side &&
    a.symbol === b.symbol &&
    a.notional === b.notional &&
    a.escrow === b.escrow &&
    a.locked === b.locked &&
    a.brokerOrderId === b.brokerOrderId &&
    a.placedAt === b.placedAt
  )
}

/** Looks again and again until it is done, for `depthWaitMs` at most; then returns what was seen last. */
async function poll<T>(run: Run, look: () => Promise<{ done: boolean; value: T }>): Promise<T> {
  const { depthWaitMs, confirmPollMs } = run.timings
  const until = run.clock.now() + depthWaitMs
  for (;;) {
    const { done, value } = await look()
    if (done || run.clock.now() >= until || !run.clock.allows(confirmPollMs)) return value
    await run.clock.sleep(confirmPollMs)
  }
}
