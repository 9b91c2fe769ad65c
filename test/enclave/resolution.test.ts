// What no run can end is ended by the owner's word: figures for an order, and the block's time for a nonce that has leapt.
import { expect, it } from 'vitest'
import type { BrokerOrder } from '../../src/broker/index.js'
import type { Hex } from '../../src/protocol/hex.js'
import { entryHash } from '../../src/protocol/resolution.js'
import { alpacaExample } from '../support/alpacaExamples.js'
import { answering, brokerOf, shares, usd } from '../support/brokerStandIn.js'
import type { Role } from '../support/roles.js'
import type { Decision, OpenedOrder, Wish } from './support/parties.js'
import { buy, buyFromCash, reclaim as reclaimIn, sell } from './support/scenarios.js'
import { useWorld, WALLET } from './support/world.js'

const world = useWorld()

/** The broker answers with an order of another symbol: ours by its id alone. */
const foreign = () => ({
  broker: answering(world().broker.url, (): Partial<BrokerOrder> => ({ symbol: 'TSLA' })),
})

const reclaim = (order: OpenedOrder) => reclaimIn(world(), order)

/** Written ahead and filled at the broker, whose answers are another order's from then on. */
async function held(wish: Wish): Promise<OpenedOrder> {
  const order = await world().live(wish)
  world().broker.control.release({})
  return order
}

/** Another party's order at the broker takes the id. */
function takeId({ clientOrderId }: OpenedOrder): Promise<BrokerOrder> {
  const trader = brokerOf(world().broker.url)
  return trader.placeOrder({ symbol: 'TSLA', side: 'buy', notional: usd(100), clientOrderId })
}

async function reclaimedForeign(wish: Wish): Promise<OpenedOrder> {
  const order = await held(wish)
  await reclaim(order)
  const result = await world().run(order, { envelope: null, deps: foreign() })
  expect(result).toMatchObject({ outcome: 'placed', code: 'broker-mismatch' })
  return order
}

/** What the owner signs about the order's entry as it is. */
async function figures({ orderId }: OpenedOrder, quantity: bigint, value: bigint) {
  const entry = (await world().portfolio('alice'))?.openOrders[orderId]
  if (!entry) throw new Error('the order is not written ahead')
  return { resolves: 'order', v: 1, orderId, entryHash: entryHash(orderId, entry), quantity, value } as const
}

/** While that broker answers. */
const resolve = (decision: Decision, signedBy: Role = 'owner') =>
  world().resolve(decision, { signedBy, deps: foreign() })

const DONE = { outcome: 'done' }
const rejected = (code: string) => ({ outcome: 'rejected', code })

it('a sale that was reclaimed, and whose order at the broker is not ours, is ended by the figures signed, once, and its next run is the last', async () => {
  await world().settled(buy(1_000))
  const order = await reclaimedForeign(sell(400))
  const before = await world().portfolio('alice')
  const signed = await figures(order, shares(2), usd(399))
  expect(await resolve(signed)).toEqual(DONE)
  const after = await world().portfolio('alice')
  expect(after).toMatchObject({ openOrders: {}, positions: { AAPL: { locked: 0n } } })
  expect(after?.cash).toBe((before?.cash ?? 0n) + usd(399))
  expect(after?.positions.AAPL?.qty).toBe((before?.positions.AAPL?.qty ?? 0n) - shares(2))
  expect(await world().run(order, { envelope: null, deps: foreign() })).toEqual(DONE)
  expect(await resolve(signed)).toEqual(rejected('entry-changed'))
})

it('an order that was reclaimed, and whose order at the broker is not ours, is released without a fill, and what it locked and reserved is free', async () => {
  await world().settled(buy(1_000))
  await world().settled(sell(500))
  const order = await reclaimedForeign(buyFromCash)
  const before = await world().portfolio('alice')
  expect(await resolve(await figures(order, 0n, 0n))).toEqual(DONE)
  expect(await world().portfolio('alice')).toEqual({ ...before, openOrders: {} })
  expect(await world().run(order, { envelope: null, deps: foreign() })).toEqual(DONE)
  // The whole cash can be withdrawn again.
  await world().settled({ who: 'alice', side: 'WITHDRAW', symbol: 'USDC', amount: before?.cash ?? 0n })
})

it('a buy that was reclaimed, and whose order at the broker is not ours, brings no shares: its USDC went back', async () => {
  const order = await reclaimedForeign(buy(250))
  const paid = await figures(order, shares(1), usd(200))
  expect(await resolve(paid)).toEqual(rejected('invalid-figures'))
  expect(await resolve(await figures(order, 0n, 0n))).toEqual(DONE)
  expect(await world().portfolio('alice')).toMatchObject({ positions: {}, openOrders: {} })
  expect(await world().usdc('alice')).toBe(WALLET)
})

it('an order whose escrow is open, and whose order at the broker is not ours, is settled by the figures signed', async () => {
  const order = await held(buy(250))
  expect(await world().run(order, { deps: foreign() })).toEqual({
    outcome: 'failed',
    code: 'broker-mismatch',
  })
  expect(await resolve(await figures(order, shares(1.2), usd(240)))).toEqual(DONE)
  expect(await world().state(order)).toBe('SETTLED')
  expect(await world().portfolio('alice')).toMatchObject({
    cash: usd(10),
    positions: { AAPL: { qty: shares(1.2), locked: 0n } },
    openOrders: {},
  })
  expect(await world().run(order)).toEqual(DONE)
})

it('an order that was never taken, and whose id the broker has, is left alone until its account reclaims it', async () => {
  const order = await world().open({ ...buy(250), change: { nonce: 0 } })
  world().broker.control.fill({ mode: 'hold' })
  await takeId(order)
  expect(await world().run(order)).toEqual({ outcome: 'failed', code: 'broker-mismatch' })
  await reclaim(order)
  expect(await world().run(order)).toEqual(DONE)
  expect(await world().usdc('alice')).toBe(WALLET)
})

it.each(['alice', 'admin', 'guardian'] as const)(
  'a resolution is rejected from %s, who is not the owner',
  async (signedBy) => {
    const order = await held(buy(250))
    const signed = await figures(order, 0n, 0n)
    expect(await resolve(signed, signedBy)).toEqual(rejected('not-owner'))
    expect(await world().state(order)).toBe('OPEN')
  },
)

it('a resolution is rejected for an order that the account’s runs end by themselves, which goes on', async () => {
  const order = await world().live(buy(250))
  const signed = await figures(order, 0n, 0n)
  expect(await world().resolve(signed)).toEqual(rejected('order-live'))
  expect(world().broker.control.orders()[0]).toMatchObject({ status: 'new' })
  world().broker.control.release({})
  expect(await world().resolve(signed)).toEqual(rejected('order-not-stuck'))
  expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
})

it('a resolution is rejected while another party’s order under its id may still be filled, which it leaves alone', async () => {
  const { control } = world().broker
  control.clock({ open: false, nextOpen: new Date(Date.now() + 60_000).toISOString() })
  const order = await world().open(buy(250))
  expect(await world().run(order)).toMatchObject({ code: 'market-closed' })
  control.fill({ mode: 'hold' })
  const taken = await takeId(order)
  const signed = await figures(order, 0n, 0n)
  expect(await world().resolve(signed)).toEqual(rejected('order-live'))
  expect(await world().state(order)).toBe('OPEN')
  expect(control.orders()).toEqual([expect.objectContaining({ id: taken.id, canceled_at: null })])
  await brokerOf(world().broker.url).cancelOrder(taken.id)
  expect(await world().resolve(signed)).toEqual(DONE)
  expect(await world().state(order)).toBe('REFUNDED')
})

it('a resolution is rejected while an order that cannot be read may still be filled, and is not after that', async () => {
  const order = await held(buy(250))
  await reclaim(order)
  const answerAs = (status: string) => {
    const body = { ...Object(alpacaExample('order-filled')), status, filled_qty: null }
    const respond = { status: 200, body: { ...body, client_order_id: order.clientOrderId } }
    const path = '/v2/orders:by_client_order_id'
    world().broker.control.clear({ what: 'faults' })
    world().broker.control.fault({ method: 'GET', path, times: 100, respond })
  }
  answerAs('partially_filled')
  const result = await world().run(order, { envelope: null })
  expect(result).toMatchObject({ outcome: 'placed', code: 'broker-unreadable' })
  const signed = await figures(order, 0n, 0n)
  expect(await world().resolve(signed)).toEqual(rejected('order-live'))
  answerAs('canceled')
  expect(await world().resolve(signed)).toEqual(DONE)
})

it('a resolution is rejected with figures for a symbol without a price, and can be released', async () => {
  const order = await held(buy(250))
  world().broker.control.snapshot({ symbol: 'AAPL', omit: ['latestTrade'] })
  const filled = await figures(order, shares(1.2), usd(240))
  expect(await resolve(filled)).toEqual(rejected('no-price'))
  const signed = await figures(order, 0n, 0n)
  expect(await resolve(signed)).toEqual(DONE)
})

it('a resolution is rejected for another entry, another order, and an order that is not written ahead', async () => {
  const order = await held(buy(250))
  const signed = await figures(order, 0n, 0n)
  const entry: Hex = `0x${'77'.repeat(32)}`
  expect(await resolve({ ...signed, entryHash: entry })).toEqual(rejected('entry-changed'))
  const other = await world().open(buy(100))
  expect(await resolve({ ...signed, orderId: other.orderId })).toEqual(rejected('entry-changed'))
  const unknown = await resolve({ ...signed, orderId: entry })
  expect(unknown).toEqual({ outcome: 'failed', code: 'order-unknown' })
})

it.each<[string, Wish, bigint, bigint, string]>([
  ['a value without shares', buy(250), 0n, usd(1), 'invalid-figures'],
  ['more than the account allowed', buy(250), shares(1.25), usd(250.01), 'invalid-figures'],
  ['more shares than the sale locked', sell(400), shares(2.1), usd(420), 'invalid-figures'],
  ['shares at less than half of their price', buy(250), shares(12.5), usd(249), 'figures-off-market'],
  ['shares at more than double their price', sell(400), shares(2), usd(801), 'figures-off-market'],
])('a resolution is rejected for %s', async (_what, wish, quantity, value, code) => {
  if (wish.side === 'SELL') await world().settled(buy(1_000))
  const order = await held(wish)
  const signed = await figures(order, quantity, value)
  expect(await resolve(signed)).toEqual(rejected(code))
  expect((await world().portfolio('alice'))?.openOrders).toHaveProperty(order.orderId)
})

it('a resolution is rejected from its expiry on, and for more than a day', async () => {
  const order = await held(buy(250))
  const signed = await figures(order, 0n, 0n)
  const now = await world().chain.now()
  const lasting = (validBefore: number) => resolve({ ...signed, validBefore })
  expect(await lasting(now + 100_000)).toEqual(rejected('expiry-too-far'))
  await world().chain.mineAt(now + 3_600)
  expect(await lasting(now + 3_600)).toEqual(rejected('expired'))
  expect(await world().state(order)).toBe('OPEN')
  expect(await lasting(now + 3_600 + 86_400)).toEqual(DONE)
})

it('a resolution is rejected for a nonce that has not leapt', async () => {
  await world().settled(buy(1_000))
  const refused = await world().open({ ...buy(100), change: { nonce: 0 } })
  expect(await world().run(refused)).toMatchObject({ outcome: 'refunded' })
  const { orderId } = refused
  const portfolioHash = await world().portfolioHash('alice')
  const signed = { resolves: 'nonce', v: 1, orderId, portfolioHash } as const
  expect(await world().resolve(signed)).toEqual(rejected('nonce-not-leapt'))
})
