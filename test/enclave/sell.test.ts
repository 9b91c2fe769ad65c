import { expect, it } from 'vitest'
import { shares, usd } from '../support/brokerStandIn.js'
import { useWorld } from './support/world.js'

const world = useWorld()
const buy = { who: 'alice', side: 'BUY', symbol: 'AAPL', amount: usd(1_000), escrow: usd(1_000) } as const
const sell = { who: 'alice', side: 'SELL', symbol: 'AAPL', amount: usd(400) } as const

async function position(symbol: string) {
  return (await world().portfolio('alice'))?.positions[symbol]
}

it('a sale sells by quantity, computed from the higher of bid and last trade, and credits its proceeds', async () => {
  await world().settled(buy)
  const before = await world().portfolio('alice')
  world().broker.control.price({ symbol: 'AAPL', price: '200', bid: '201', ask: '202' })
  await world().settled(sell)
  const [, order] = world().broker.control.orders()
  // 400 / 201, at nine decimals, rounded down.
  expect(order).toMatchObject({ side: 'sell', qty: '1.990049751', notional: null })
  const after = await world().portfolio('alice')
  expect(after?.positions.AAPL?.qty).toBe((before?.positions.AAPL?.qty ?? 0n) - 1_990_049_751n)
  // 1.990049751 shares at the bid of 201 are 399.999999951 USD: 399.99, less a cent for TAF and one for CAT.
  expect(after?.cash).toBe((before?.cash ?? 0n) + usd(399.97))
  await world().checkInvariants()
})

it('a sale takes a later, higher price for the quantity when it is placed only then', async () => {
  await world().settled(buy)
  world().broker.control.clock({ open: false })
  const order = await world().open({ ...sell, deadlineIn: 86_400 })
  expect(await world().run(order)).toMatchObject({ outcome: 'queued' })
  expect((await position('AAPL'))?.locked).toBe(shares(2))
  world().broker.control.clock({ open: true })
  world().broker.control.price({ symbol: 'AAPL', price: '400' })
  expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
  expect(world().broker.control.orders()[1]).toMatchObject({ qty: '1' })
  expect((await position('AAPL'))?.locked).toBe(0n)
  await world().checkInvariants()
})

it('a sale fails, to be tried again, while there is no last trade', async () => {
  await world().settled(buy)
  world().broker.control.snapshot({ symbol: 'AAPL', omit: ['latestTrade'] })
  const order = await world().open(sell)
  expect(await world().run(order)).toEqual({ outcome: 'failed', code: 'broker-unavailable' })
  world().broker.control.snapshot({ symbol: 'AAPL', omit: [] })
  expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
})
