import type { Hex } from '../protocol/hex.js'
import type { SubmittableOrder } from './sealedOrder.js'

/** A sealed order as its owner's device keeps it: what `submitOrder` takes, and where it belongs. */
export interface KeptOrder extends SubmittableOrder {
  readonly chainId: number
  readonly escrow: Hex
  readonly account: Hex
  /** Unix seconds. */
  readonly deadline: number
}

/**
 * Keeps orders from before their escrow opens until their end is seen: until the server has an order, and again if the server loses its
 * data, only its owner's device has the envelope. The subpath `store` has a store for a browser, one of files and one in memory.
 * Several programs may use one at once. Methods reject where the medium fails; then nothing is signed away.
 */
export interface OrderStore {
  /** Durable once this resolves. Replaces what was kept of the same order. */
  keep(order: KeptOrder): Promise<void>
  /** Null if there is none. @throws ClientError `invalid-kept-order` if it is damaged, or of another release */
  find(orderId: Hex): Promise<KeptOrder | null>
  /** All that can be read, of every wallet and chain, in no order. */
  list(): Promise<readonly KeptOrder[]>
  /** Resolves also if there is none. */
  forget(orderId: Hex): Promise<void>
}

/**
 * Keeps orders as long as the program runs: a closed tab loses what only it had.
 */
export function createMemoryOrderStore(): OrderStore {
  const kept = new Map<Hex, KeptOrder>()
  return {
    async keep(order) {
      kept.set(order.orderId, order)
    },
    find: async (orderId) => kept.get(orderId) ?? null,
    list: async () => [...kept.values()],
    async forget(orderId) {
      kept.delete(orderId)
    },
  }
}
