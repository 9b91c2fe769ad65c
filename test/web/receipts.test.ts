import { expect, it } from 'vitest'
import type { PlaceOptions, SealedOrder } from '../../src/client/index.js'
import type { Hex } from '../../src/protocol/hex.js'
import type { DeviceStore } from '../../web/state/browser.js'
import { createReceipts } from '../../web/state/receipts.js'
import { keptOrderOf } from '../client/store/keptOrderOf.js'
import { createMemoryDevice, NO_DEVICE } from '../support/memoryDevice.js'

const bytes = (length: number): Hex => `0x${'02'.repeat(length)}`
const { orderId, account, escrow, envelope } = keptOrderOf(1)
const sealed = { orderId, envelope, contentKey: `0x${'07'.repeat(32)}` } as SealedOrder

/** A client that seals by an exclusive or, and hands this order over before it opens. */
function receiptsIn(store: DeviceStore) {
  const mask = (text: Uint8Array) => text.map((byte) => byte ^ 0xff)
  const opened: string[] = []
  const client = {
    sealForDevice: async (_purpose: string, value: unknown) =>
      mask(new TextEncoder().encode(JSON.stringify(value))),
    openFromDevice: async (_purpose: string, kept: Uint8Array): Promise<unknown> =>
      JSON.parse(new TextDecoder().decode(mask(kept))),
    async placeOrder(_request: unknown, options?: PlaceOptions): Promise<never> {
      await options?.beforeOpen?.(sealed)
      opened.push(orderId)
      throw new Error('the wallet refused')
    },
  }
  return { opened, receipts: createReceipts({ client, store, chainId: 31_337, escrow, account }) }
}
const request = { side: 'SELL', symbol: 'AAPL', usdc: 1n, deadline: 1 } as const

it('a receipt is kept sealed before the escrow opens, and is the order’s alone', async () => {
  const store = createMemoryDevice()
  const { receipts } = receiptsIn(store)
  await expect(receipts.placeOrder(request)).rejects.toThrow('the wallet refused')
  await expect.poll(() => store.kept.size).toBe(1)
  const [kept] = [...store.kept.values()]
  expect(new TextDecoder().decode(kept)).not.toContain('07070707')
  const { epk: _, ...content } = envelope
  const { contentKey } = sealed
  expect(await receipts.of(orderId)).toEqual({
    ...{ v: 1, chainId: 31_337, escrow: expect.stringMatching(/^0x0202/), orderId, ...content, contentKey },
  })
  expect(await receipts.of(bytes(31))).toBeNull()
})

it('an order is placed without a receipt where the browser keeps nothing', async () => {
  const { receipts, opened } = receiptsIn(NO_DEVICE)
  await expect(receipts.placeOrder(request)).rejects.toThrow('the wallet refused')
  expect(opened).toEqual([orderId])
  expect(await receipts.of(orderId)).toBeNull()
})
