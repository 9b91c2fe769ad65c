import type { Hex } from '../../protocol/hex.js'
import { ClientError } from '../errors.js'
import type { KeptOrder, OrderStore } from '../orderStore.js'
import { decodeOrder, encodeOrder, orderIdOf } from './keptOrder.js'

/** A table of texts, one for each order: nothing is read to be written again, so that two programs lose nothing of each other's. */
interface Texts {
  get(orderId: Hex): Promise<string | undefined>
  /** Whole and durable once this resolves; until then the text before it. */
  set(orderId: Hex, text: string): Promise<void>
  delete(orderId: Hex): Promise<void>
  all(): Promise<readonly string[]>
}

/** The store over such a table. */
export function orderStoreOver(texts: Texts): OrderStore {
  return {
    keep: (order) => texts.set(orderIdOf(order.orderId), encodeOrder(order)),
    async find(orderId) {
      const text = await texts.get(orderIdOf(orderId))
      return text === undefined ? null : decodeOrder(text)
    },
    list: async () => (await texts.all()).flatMap(readable),
    forget: async (orderId) => texts.delete(orderIdOf(orderId)),
  }
}

function readable(text: string): KeptOrder[] {
  try {
    return [decodeOrder(text)]
  } catch (error) {
    if (error instanceof ClientError) return []
    throw error
  }
}
