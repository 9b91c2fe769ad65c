import { Interface } from 'ethers'
import { expect, it } from 'vitest'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import { sending, usd } from '../support/brokerStandIn.js'
import { tappedRpc } from '../support/tappedRpc.js'
import { posting } from './support/chainRelay.js'
import { buy, sell } from './support/scenarios.js'
import { useWorld } from './support/world.js'

const world = useWorld()
const DAY = 86_400
const ORDERS = new Interface(orderEscrowAbi).getFunction('orders')?.selector ?? 'missing'
const control = () => world().broker.control
const placedOrders = () => control().orders()

it('a closed market queues an order until it opens, and settles it then, without its envelope', async () => {
  // The broker states whole seconds.
  const nextOpen = new Date(Math.floor(Date.now() / 1_000) * 1_000 + 3_600_000)
  control().clock({ open: false, nextOpen: nextOpen.toISOString() })
  const order = await world().open({ ...buy(250), deadlineIn: DAY })
  const queued = await world().run(order)
  expect(queued).toMatchObject({ outcome: 'queued', code: 'market-closed' })
  const afterOpeningS = (queued.retryAt ?? 0) - nextOpen.getTime() / 1_000
  // The broker's clock goes on while the run's stands still.
  expect(afterOpeningS).toBeGreaterThanOrEqual((world().clock.now() - Date.now()) / 1_000)
  expect(afterOpeningS).toBeLessThanOrEqual(3)
  expect(placedOrders()).toEqual([])
  // Nothing new is written as long as it waits.
  expect(await world().run(order, { envelope: null })).toMatchObject({ outcome: 'queued' })
  expect(world().relay.posted).toHaveLength(1)
  control().clock({ open: true })
  expect(await world().run(order, { envelope: null })).toMatchObject({ outcome: 'settled' })
  await world().checkInvariants()
})

it('a live order is followed for a few seconds, then asked for again at a growing pace, at its deadline at the latest', async () => {
  control().fill({ mode: 'hold' })
  const order = await world().open({ ...buy(250), deadlineIn: 600 })
  const first = await world().run(order)
  expect(first.outcome).toBe('placed')
  const now = () => Math.floor(world().clock.now() / 1_000)
  const firstDelay = (first.retryAt ?? 0) - now()
  await world().clock.sleep(100_000)
  const second = await world().run(order)
  expect((second.retryAt ?? 0) - now()).toBeGreaterThan(firstDelay)
  await world().clock.sleep((order.deadline - now() - 20) * 1_000)
  expect((await world().run(order)).retryAt).toBeLessThanOrEqual(order.deadline)
})

it('a broker that does not take an order is asked again after a pause that grows to a quarter of an hour, and nothing is refunded', async () => {
  const body = { code: 40310000, message: 'insufficient buying power' }
  control().fault({ method: 'POST', path: '/v2/orders', times: 1_000, respond: { status: 403, body } })
  const order = await world().open({ ...buy(250), deadlineIn: DAY })
  const pauses: number[] = []
  for (let runs = 0; runs < 12; runs++) {
    const { outcome, retryAt = 0 } = await world().run(order)
    expect(outcome).toBe('queued')
    const pause = retryAt - Math.floor(world().clock.now() / 1_000)
    pauses.push(pause)
    await world().clock.sleep(pause * 1_000 + 1_000)
  }
  expect(pauses[0]).toBe(5)
  expect(pauses.at(-1)).toBeGreaterThan(100)
  expect(pauses).toEqual([...pauses].sort((a, b) => a - b))
  await world().clock.sleep(DAY * 1_000)
  const late = await world().run(order)
  expect((late.retryAt ?? 0) - Math.floor(world().clock.now() / 1_000)).toBe(900)
  control().clear({ what: 'faults' })
  expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
  await world().checkInvariants()
})

/** Look-ups, lists of the newest orders and placements so far, in their order. */
const asked = () =>
  control()
    .requests()
    .flatMap(({ method, url }) => {
      if (url.includes('by_client_order_id')) return ['look-up']
      if (url.startsWith('/v2/orders?') && !url.includes('symbols')) return ['list']
      return method === 'POST' && url === '/v2/orders' ? ['send'] : []
    })

it('the newest orders are looked through before the first send of a process, and no order is looked up by its id', async () => {
  await world().settled(buy(250))
  expect(asked()).toEqual(['list', 'send'])
})

it('the look-up by client_order_id comes before a refund, thirty seconds after the mark, also by the run that wrote the order ahead', async () => {
  const { chain } = world()
  const relay = posting(world().relay, (post) => async (sent) => {
    const answer = await post(sent)
    if (world().relay.posted.length === 1)
      await chain.send('owner', 'token', 'setKyc', chain.account('alice'), false)
    return answer
  })
  expect(await world().refused(buy(250), { deps: { relay } })).toBe('kyc')
  expect(world().clock.slept).toContain(30_000)
  expect(asked()).toEqual(['list', 'look-up'])
})

it('a run asks the chain anew right before the send, whatever earlier looks at the same block have shown', async () => {
  const order = await world().open(buy(250))
  const { broker } = world().deps()
  const asked: string[] = []
  const rpc = tappedRpc(world().deps().rpc, (calls, send) => {
    if (JSON.stringify(calls).includes(`${ORDERS}${order.orderId.slice(2)}`)) asked.push('escrow')
    return send()
  })
  const recorded = sending(broker, (send) => (...args) => {
    asked.push('send')
    return send(...args)
  })
  recorded.getAsset = (symbol) => {
    asked.push('asset')
    return broker.getAsset(symbol)
  }
  await world().run(order, { deps: { rpc, broker: recorded } })
  expect(asked.slice(asked.lastIndexOf('asset'), asked.indexOf('send') + 1)).toEqual([
    'asset',
    'escrow',
    'send',
  ])
})

it('a run calls neither broker nor relay from the time on at which it must stop', async () => {
  const order = await world().open(buy(250))
  const seen = control().requests().length
  expect(await world().run(order, { budget: 0 })).toEqual({ outcome: 'failed', code: 'out-of-time' })
  expect(control().requests()).toHaveLength(seen)
  expect(world().relay.posted).toEqual([])
})

it('a sale sells by quantity, computed from the higher of bid and last trade, and credits its proceeds', async () => {
  await world().settled(buy(1_000))
  const before = await world().portfolio('alice')
  control().price({ symbol: 'AAPL', price: '200', bid: '201', ask: '202' })
  await world().settled(sell(400))
  // 400 / 201, at nine decimals, rounded down.
  expect(placedOrders()[1]).toMatchObject({ side: 'sell', qty: '1.990049751', notional: null })
  const after = await world().portfolio('alice')
  expect(after?.positions.AAPL?.qty).toBe((before?.positions.AAPL?.qty ?? 0n) - 1_990_049_751n)
  // 1.990049751 shares at the bid of 201 are 399.999999951 USD: 399.99, less a cent for TAF and one for CAT.
  expect(after?.cash).toBe((before?.cash ?? 0n) + usd(399.97))
  await world().checkInvariants()
})
