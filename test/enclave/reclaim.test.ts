import { expect, it } from 'vitest'
import { dearer, usd } from '../support/brokerStandIn.js'
import type { OpenedOrder, Wish } from './support/parties.js'
import { buy, buyFromCash, reclaim as reclaimIn, sell } from './support/scenarios.js'
import { useWorld, WALLET } from './support/world.js'

const world = useWorld()

const reclaim = (order: OpenedOrder) => reclaimIn(world(), order)

/** Live at the broker, then reclaimed. */
async function reclaimedLive(wish: Wish): Promise<OpenedOrder> {
  const order = await world().live(wish)
  await reclaim(order)
  return order
}

it('an order that was reclaimed before anything was done is done with', async () => {
  const order = await world().open(buy(250))
  await reclaim(order)
  expect(await world().run(order)).toEqual({ outcome: 'done' })
  expect(await world().run(order, { envelope: null })).toEqual({ outcome: 'done' })
  expect(await world().usdc('alice')).toBe(WALLET)
  expect(world().broker.control.orders()).toEqual([])
})

it('an order that was reclaimed is asked for again while its cancellation is pending', async () => {
  world().broker.control.fill({ mode: 'hold', cancelDelayMs: 3_600_000 })
  const order = await world().open(buy(250))
  await world().run(order)
  await reclaim(order)
  expect(await world().run(order, { envelope: null })).toMatchObject({ outcome: 'placed' })
  world().broker.control.end({ symbol: 'AAPL', status: 'canceled' })
  expect(await world().run(order, { envelope: null })).toEqual({ outcome: 'done' })
  await world().checkInvariants()
})

it('an order that was reclaimed after a buy from cash that cost too much says so, and moves nothing beyond a tolerance', async () => {
  const { url } = world().broker
  await world().settled(buy(1_000))
  await world().settled(sell(500))
  const order = await reclaimedLive(buyFromCash)
  world().broker.control.release({})
  const far = await world().run(order, { envelope: null, deps: { broker: dearer(url, 2_000n) } })
  expect(far).toMatchObject({ outcome: 'placed', code: 'broker-mismatch' })
  expect((await world().portfolio('alice'))?.positions.MSFT).toBeUndefined()
  const near = await world().run(order, { envelope: null, deps: { broker: dearer(url, 20n) } })
  expect(near).toEqual({ outcome: 'done', code: 'cost-over-notional' })
  expect((await world().portfolio('alice'))?.positions.MSFT?.qty).toBeGreaterThan(0n)
})

it('an order that was reclaimed after an escrowed buy was filled is dropped: the platform’s loss, which is reported', async () => {
  const order = await reclaimedLive(buy(250))
  world().broker.control.release({})
  expect(await world().run(order, { envelope: null })).toEqual({
    outcome: 'done',
    code: 'reclaimed-after-fill',
  })
  expect(world().reports).toEqual([{ outcome: 'failed', code: 'reclaimed-after-fill' }])
  expect(await world().usdc('alice')).toBe(WALLET)
  expect(await world().portfolio('alice')).toMatchObject({ cash: 0n, positions: {}, openOrders: {} })
  await expect(world().checkInvariants()).rejects.toThrow()
  await world().checkInvariants(usd(250))
})

it('an order that was reclaimed is finished by the run of any other order of the account, first of all', async () => {
  await world().settled(buy(1_000))
  await reclaimedLive(sell(400))
  world().broker.control.clear({ what: 'fills' })
  await world().settled(sell(900))
  const portfolio = await world().portfolio('alice')
  expect(portfolio?.openOrders).toEqual({})
  expect(portfolio?.cash).toBeGreaterThan(usd(899))
  await world().checkInvariants()
})
