// A cancel that the account signed: what has not been filled is refunded, what has been filled is settled.
import { expect, it } from 'vitest'
import { usd } from '../support/brokerStandIn.js'
import { cancelOf } from './support/parties.js'
import { buy, sell } from './support/scenarios.js'
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

it('an order that is not carried out yet is not paid out when it is a withdrawal', async () => {
  await world().settled(buy(1_000))
  await world().settled(sell(500))
  const before = await world().portfolio('alice')
  const order = await world().open({ who: 'alice', side: 'WITHDRAW', symbol: 'USDC', amount: usd(100) })
  await world().cancel(order)
  const result = await world().run(order)
  expect(await world().noticeCode(order, result)).toBe('cancelled')
  expect(await world().portfolio('alice')).toEqual(before)
})

it('an order that waits for the market is marked, looked for again thirty seconds later, and refunded', async () => {
  await world().settled(buy(1_000))
  control().clock({ open: false })
  const order = await world().open({ ...sell(400), deadlineIn: DAY })
  expect(await world().run(order)).toMatchObject({ outcome: 'queued' })
  await world().cancel(order)
  const result = await world().run(order, { envelope: null })
  expect(await world().noticeCode(order, result)).toBe('cancelled')
  expect(world().clock.slept).toContain(30_000)
  expect((await world().portfolio('alice'))?.positions.AAPL?.locked).toBe(0n)
  expect(placedOrders()).toHaveLength(1)
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
  control().fill({ mode: 'hold' })
  const order = await world().open(buy(250))
  await world().run(order)
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

it.each([
  { respond: { status: 504, body: {} } },
  { respond: { status: 429, body: {} } },
  { drop: 'before' },
  { drop: 'after' },
] as const)(
  'a live order stays live until the broker says how it ended, when its cancellation is answered by %o',
  async (fault) => {
    control().fill({ mode: 'hold' })
    const order = await world().open(buy(250))
    await world().run(order)
    await world().cancel(order)
    control().fault({ method: 'DELETE', path: '/v2/orders', times: 1, ...fault })
    expect(await world().run(order)).toMatchObject({ outcome: 'placed' })
    expect(await world().state(order)).toBe('OPEN')
    expect(await world().run(order)).toMatchObject({ outcome: 'refunded' })
    expect(placedOrders()).toMatchObject([{ status: 'canceled' }])
    await world().checkInvariants()
  },
)

it.each(['another account’s signature', 'another order’s cancel', 'an envelope that does not open'] as const)(
  'a cancel has no effect with %s',
  async (fault) => {
    const order = await world().open(buy(250))
    const other = await world().open({ ...buy(250), who: 'bob' })
    const { chain } = world()
    const cancels = {
      'another account’s signature': () => cancelOf(chain, order, 'bob'),
      'another order’s cancel': () => cancelOf(chain, other),
      'an envelope that does not open': async () => order.envelope,
    }
    expect(await world().run(order, { cancel: await cancels[fault]() })).toMatchObject({ outcome: 'settled' })
    await world().checkInvariants()
  },
)
