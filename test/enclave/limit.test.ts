// Limit orders: they rest at the broker, are renewed day after day, and end as other orders do.
import { expect, it } from 'vitest'
import type { Limit } from '../../src/protocol/orderTerms.js'
import { usd } from '../support/brokerStandIn.js'
import type { OpenedOrder } from './support/parties.js'
import { buy, sell } from './support/scenarios.js'
import { useWorld, WALLET } from './support/world.js'

const world = useWorld()
const DAY = 86_400
const control = () => world().broker.control
const placed = () => control().orders()
const run = (order: OpenedOrder) => world().run(order, { envelope: null })

function limited(price: number, timeInForce: Limit['timeInForce'] = 'GTD') {
  return { deadlineIn: 5 * DAY, limit: { price: usd(price), timeInForce } }
}

/** The market closes, and opens again. */
function nextDay() {
  control().clock({ open: false })
  control().clock({ open: true })
}

it('a limit buy rests, fills in part, is renewed the next day for the rest, and returns what it did not cost', async () => {
  control().fill({ mode: 'partial', fraction: '0.5', times: 1 })
  const order = await world().open({ ...buy(1_000), ...limited(190) })
  expect(await world().run(order)).toMatchObject({ outcome: 'placed' })
  control().price({ symbol: 'AAPL', price: '188.99' })
  expect(await run(order)).toMatchObject({ outcome: 'placed' })
  control().clock({ open: false })
  expect(await run(order)).toMatchObject({ outcome: 'queued', code: 'market-closed' })
  control().price({ symbol: 'AAPL', price: '200' })
  control().clock({ open: true })
  expect(await run(order)).toMatchObject({ outcome: 'placed' })
  expect(await world().portfolio('alice')).toMatchObject({ cash: 0n, positions: {} })
  // Nothing was written since the write-ahead, so the chain shows no renewal.
  expect(world().relay.posted).toHaveLength(1)
  await world().checkInvariants()
  control().price({ symbol: 'AAPL', price: '179.99' })
  expect(await run(order)).toMatchObject({ outcome: 'settled' })
  const { clientOrderId } = order
  expect(placed().map((each) => [each.client_order_id, each.type, each.limit_price, each.notional])).toEqual([
    [clientOrderId, 'limit', '190', '1000'],
    // Half of 1000 USD bought 2.645502645 shares at 189 for 500.00 USD.
    [`${clientOrderId}-1`, 'limit', '190', '500'],
  ])
  const after = await world().portfolio('alice')
  expect(after?.openOrders).toEqual({})
  // 500 USD at 189, and 500 USD at 180.
  expect(after?.positions.AAPL?.qty).toBe(2_645_502_645n + 2_777_777_777n)
  await world().checkInvariants()
})

it('a limit order ends at its deadline: what was filled is settled, and the rest of a buy becomes cash', async () => {
  control().fill({ mode: 'partial', fraction: '0.5', times: 1 })
  const order = await world().open({ ...buy(1_000), ...limited(210) })
  await world().run(order)
  nextDay()
  control().price({ symbol: 'AAPL', price: '220' })
  expect(await run(order)).toMatchObject({ outcome: 'placed' })
  await world().chain.mineAt(order.deadline + 1)
  expect(await run(order)).toMatchObject({ outcome: 'settled' })
  // Half of 1000 USD was spent.
  expect((await world().portfolio('alice'))?.cash).toBe(usd(500))
  await world().checkInvariants()
})

it.each([
  ['while it is live', () => undefined],
  ['after the close', () => control().clock({ open: false })],
])('a limit sale is cancelled %s: no run places it again, and its shares are free', async (_when, close) => {
  await world().settled(buy(1_000))
  const order = await world().open({ ...sell(400), ...limited(250) })
  expect(await world().run(order)).toMatchObject({ outcome: 'placed' })
  close()
  await world().cancel(order)
  const result = await run(order)
  expect(result).toMatchObject({ outcome: 'refunded' })
  expect(await world().noticeCode(order, result)).toBe('cancelled')
  // Another run may have looked before the mark.
  expect(world().clock.slept).toContain(30_000)
  nextDay()
  expect(await run(order)).toMatchObject({ outcome: 'done' })
  // 400 USD at the limit of 250, which is above the market.
  expect(placed()[1]).toMatchObject({ side: 'sell', qty: '1.6', limit_price: '250' })
  expect(placed()).toHaveLength(2)
  expect((await world().portfolio('alice'))?.positions.AAPL?.locked).toBe(0n)
  await world().checkInvariants()
})

it('a limit order for the day ends at the close, and its escrow returns to the wallet', async () => {
  const order = await world().open({ ...buy(250), ...limited(190, 'DAY') })
  expect(await world().run(order)).toMatchObject({ outcome: 'placed' })
  nextDay()
  const result = await run(order)
  expect(await world().noticeCode(order, result)).toBe('expired-at-close')
  expect(await world().usdc('alice')).toBe(WALLET)
  expect(placed()).toHaveLength(1)
})

it('a limit order is renewed once, however many runs renew it at the same time', async () => {
  const order = await world().open({ ...buy(250), ...limited(190) })
  await world().run(order)
  nextDay()
  const results = await Promise.all([run(order), run(order), run(order)])
  expect(results.map(({ outcome }) => outcome)).toEqual(['placed', 'placed', 'placed'])
  expect(placed()).toHaveLength(2)
})
