import { expect } from 'vitest'
import type { OpenedOrder } from './parties.js'
import type { World } from './world.js'

/** Either it was filled and is settled, or it was never filled and is refunded; nothing is left of it. */
export async function expectOneEnd(w: World, order: OpenedOrder): Promise<void> {
  const [sent, ...more] = w.broker.control.orders()
  expect(more).toEqual([])
  const filled = sent !== undefined && Number(sent.filled_qty) > 0
  expect(await w.state(order)).toBe(filled ? 'SETTLED' : 'REFUNDED')
  if (Object.keys((await w.portfolio('alice'))?.openOrders ?? {}).length > 0) {
    // A write-ahead that came after its order's refund: any later order of the account clears it away.
    await w.run(await w.open({ who: 'alice', side: 'WITHDRAW', symbol: 'USDC', amount: 1n }))
  }
  expect((await w.portfolio('alice'))?.openOrders ?? {}).toEqual({})
  await w.checkInvariants()
}
