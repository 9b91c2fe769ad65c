// A cancel that the account signed: what has not been filled is refunded, what has been filled is settled.
import { expect, it } from 'vitest'
import { cancelOf } from './support/parties.js'
import { buy } from './support/scenarios.js'
import { useWorld, WALLET } from './support/world.js'

const world = useWorld()
const DAY = 86_400
const control = () => world().broker.control
const placedOrders = () => control().orders()
/** As often as one run posts. */
const WITHHELD = Array<'withhold'>(100).fill('withhold')
const requests = (method: string) =>
  control()
    .requests()
    .filter((request) => request.method === method)

it('an order that is not carried out yet is refunded, and the broker never hears of it', async () => {
  const order = await world().open(buy(250))
  await world().cancel(order)
  const result = await world().run(order)
  expect(await world().noticeCode(order, result)).toBe('cancelled')
  expect(await world().state(order)).toBe('REFUNDED')
  expect(await world().usdc('alice')).toBe(WALLET)
  expect([placedOrders(), await world().portfolio('alice')]).toEqual([[], null])
  expect(await world().run(order)).toMatchObject({ outcome: 'done' })
})

it('an order that is not carried out yet is refunded without its envelope, or with another one', async () => {
  const other = await world().open(buy(250))
  await world().cancel(other)
  expect(await world().run(other, { envelope: null })).toEqual({ outcome: 'refunded' })
  const order = await world().open(buy(300))
  await world().cancel(order)
  expect(await world().run(order, { envelope: other.envelope })).toEqual({ outcome: 'refunded' })
  expect(await world().usdc('alice')).toBe(WALLET)
})

it('an order that is not carried out yet voids no other order of its account: a cancel has no nonce', async () => {
  const [first, second] = [await world().open(buy(250)), await world().open(buy(300))]
  await world().cancel(second)
  expect(await world().run(second)).toMatchObject({ outcome: 'refunded' })
  expect(await world().run(first)).toMatchObject({ outcome: 'settled' })
  await world().checkInvariants()
})

it('an order that waits for the market stays cancelled once it is marked, also when the server has lost the cancel', async () => {
  control().clock({ open: false })
  const order = await world().open({ ...buy(250), deadlineIn: DAY })
  await world().run(order)
  world().relay.faults.push('pass', ...WITHHELD)
  const cancel = await cancelOf(world().chain, order)
  expect(await world().run(order, { cancel, budget: 60 })).toMatchObject({ outcome: 'failed' })
  const entry = (await world().portfolio('alice'))?.openOrders[order.orderId]
  expect(entry?.brokerOrderId).toBe('never-placed')
  world().relay.faults.length = 0
  control().clock({ open: true })
  const result = await world().run(order)
  expect(await world().noticeCode(order, result)).toBe('not-placed')
  expect([placedOrders(), await world().usdc('alice')]).toEqual([[], WALLET])
  await world().checkInvariants()
})

it('a live order that was filled before the cancel came is settled, and no cancellation is sent', async () => {
  const order = await world().live(buy(250))
  control().release({})
  await world().cancel(order)
  expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
  expect(requests('DELETE')).toEqual([])
  await world().checkInvariants()
})

it('a live order that fills while it is being cancelled is settled', async () => {
  control().fill({ mode: 'hold', cancelDelayMs: 3_600_000 })
  const order = await world().open(buy(250))
  await world().run(order)
  await world().cancel(order)
  expect(await world().run(order)).toMatchObject({ outcome: 'placed' })
  expect(placedOrders()[0]).toMatchObject({ status: 'pending_cancel' })
  control().release({ symbol: 'AAPL' })
  expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
  await world().checkInvariants()
})
