import type { Client, Hex } from '../../src/client/index.js'
import { createReceipt } from '../../src/client/receipt/index.js'
import { type Receipt, receiptSchema } from '../../src/protocol/receipt.js'
import type { DeviceStore } from './browser.js'

/** The receipts of the orders that this device has sealed. Each is kept sealed, because it shows its order to every reader. */
export interface Receipts extends Pick<Client, 'placeOrder'> {
  /** Null where another device placed the order, no key opens the receipt, or the browser keeps nothing. */
  of(orderId: Hex): Promise<Receipt | null>
}

const PURPOSE = 'receipts'

interface ReceiptsDeps {
  readonly client: Pick<Client, 'openFromDevice' | 'sealForDevice' | 'placeOrder'>
  readonly store: DeviceStore
  readonly chainId: number
  readonly escrow: Hex
  readonly account: Hex
}

export function createReceipts({ client, store, chainId, escrow, account }: ReceiptsDeps): Receipts {
  const recordOf = (orderId: Hex) => `receipt/${chainId}/${account}/${orderId}`.toLowerCase()
  async function keep(order: Parameters<typeof createReceipt>[0]): Promise<void> {
    const receipt = createReceipt(order, { chainId, escrow })
    await store.set(recordOf(order.orderId), await client.sealForDevice(PURPOSE, receipt))
  }
  return {
    placeOrder: (request, options) =>
      client.placeOrder(request, {
        ...options,
        async beforeOpen(order) {
          await options?.beforeOpen?.(order)
          // An order does not wait for its receipt, nor fail without one.
          keep(order).catch(() => undefined)
        },
      }),
    async of(orderId) {
      const bytes = await store.get(recordOf(orderId)).catch(() => null)
      if (bytes === null) return null
      return receiptSchema.safeParse(await client.openFromDevice(PURPOSE, bytes)).data ?? null
    },
  }
}
