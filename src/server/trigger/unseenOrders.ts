import type { EscrowedOrder } from '../../chain/orderEscrow.js'
import type { Hex } from '../../protocol/hex.js'
import type { OpenedOrder } from './trackedOrder.js'

/**
 * Stored orders whose escrow no event has shown. The escrow itself is asked for them: whatever kept the event from
 * being seen, the order runs.
 */
export interface UnseenOrders {
  note(orderId: Hex): void
  /** Asks for each that was noted, once. @throws ChainUnavailableError, ChainAnswerError; repeatable then */
  check(): Promise<void>
}

/** Reads that travel as one request. */
const BATCH = 100

export function createUnseenOrders(options: {
  readonly escrow: { orders(orderId: Hex): Promise<EscrowedOrder> }
  readonly isSeen: (orderId: Hex) => boolean
  readonly onFound: (found: Omit<OpenedOrder, 'position'>, state: EscrowedOrder['state']) => Promise<void>
}): UnseenOrders {
  const { escrow, isSeen, onFound } = options
  const noted = new Set<Hex>()

  async function ask(orderId: Hex): Promise<void> {
    const { account, commit, state } = await escrow.orders(orderId)
    // Without an escrow there is nothing to run; its event comes when it opens.
    if (state !== 'NONE' && !isSeen(orderId)) await onFound({ orderId, account, commit }, state)
    noted.delete(orderId)
  }

  return {
    note(orderId) {
      noted.add(orderId)
    },
    async check() {
      for (const orderId of noted) if (isSeen(orderId)) noted.delete(orderId)
      const ids = [...noted]
      for (let at = 0; at < ids.length; at += BATCH) await Promise.all(ids.slice(at, at + BATCH).map(ask))
    },
  }
}
