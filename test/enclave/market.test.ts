import { Interface } from 'ethers'
import { describe, expect, it } from 'vitest'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'
import { ConflictError } from '../../src/enclave/failures.js'
import { brokerOf, sending, usd } from '../support/brokerStandIn.js'
import { tappedRpc } from '../support/tappedRpc.js'
import { buy, sell } from './support/scenarios.js'
import { useWorld, WALLET } from './support/world.js'

const world = useWorld()
const DAY = 86_400
const ORDERS = new Interface(orderEscrowAbi).getFunction('orders')?.selector ?? 'missing'
const control = () => world().broker.control
const placedOrders = () => control().orders()
const posts = () =>
  control()
    .requests()
    .filter(({ method, url }) => method === 'POST' && url === '/v2/orders')

describe('a closed market', () => {
  it('queues an order until it opens, and settles it then, without its envelope', async () => {
    // The broker states whole seconds.
    const nextOpen = new Date(Math.floor(Date.now() / 1_000) * 1_000 + 3_600_000)
    control().clock({ open: false, nextOpen: nextOpen.toISOString() })
    const order = await world().open({ ...buy(250), deadlineIn: DAY })
    const queued = await world().run(order)
    expect(queued).toMatchObject({ outcome: 'queued', code: 'market-closed' })
    const afterOpeningS = (queued.retryAt ?? 0) - nextOpen.getTime() / 1_000
    expect(afterOpeningS).toBeGreaterThanOrEqual(0)
    expect(afterOpeningS).toBeLessThanOrEqual(3)
    expect(placedOrders()).toEqual([])
    // Nothing new is written as long as it waits.
    expect(await world().run(order, { envelope: null })).toMatchObject({ outcome: 'queued' })
    expect(world().relay.posted).toHaveLength(1)
    control().clock({ open: true })
    expect(await world().run(order, { envelope: null })).toMatchObject({ outcome: 'settled' })
    await world().checkInvariants()
  })

  it('refunds a queued order when the opening is moved behind its deadline', async () => {
    control().clock({ open: false, nextOpen: new Date(Date.now() + 3_600_000).toISOString() })
    const order = await world().open({ ...buy(250), deadlineIn: 7_200 })
    expect(await world().run(order)).toMatchObject({ outcome: 'queued' })
    control().clock({ open: false, nextOpen: new Date(Date.now() + 7_300_000).toISOString() })
    const result = await world().run(order, { envelope: null })
    expect(await world().noticeCode(order, result)).toBe('closed-until-deadline')
    expect(await world().usdc('alice')).toBe(WALLET)
    expect(await world().portfolio('alice')).toMatchObject({ openOrders: {}, cash: 0n })
  })

  it('looks twice, thirty seconds apart, before it refunds what was written ahead', async () => {
    control().clock({ open: false })
    const order = await world().open({ ...buy(250), deadlineIn: DAY })
    await world().run(order)
    await world().chain.mineAt(order.deadline + 1)
    const looks = () =>
      control()
        .requests()
        .filter(({ url }) => url.includes('by_client_order_id')).length
    const before = looks()
    const result = await world().run(order, { envelope: null })
    expect(await world().noticeCode(order, result)).toBe('expired')
    expect(world().clock.slept).toContain(30_000)
    expect(looks() - before).toBe(2)
  })

  it('leaves that to a run with enough time', async () => {
    control().clock({ open: false })
    const order = await world().open({ ...buy(250), deadlineIn: DAY })
    await world().run(order)
    await world().chain.mineAt(order.deadline + 1)
    expect(await world().run(order, { envelope: null, budget: 20 })).toMatchObject({ outcome: 'queued' })
    expect(await world().run(order, { envelope: null })).toMatchObject({ outcome: 'refunded' })
  })
})

describe('a live order', () => {
  it('is looked at for a few seconds, then again at a growing pace, at its deadline at the latest', async () => {
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

  it('is cancelled at its deadline and refunded when nothing was filled', async () => {
    await world().settled(buy(1_000))
    control().fill({ mode: 'hold' })
    const order = await world().open(sell(400))
    await world().run(order)
    await world().chain.mineAt(order.deadline)
    const result = await world().run(order, { envelope: null })
    expect(await world().noticeCode(order, result)).toBe('deadline-passed')
    expect(placedOrders()[1]).toMatchObject({ status: 'canceled' })
    expect((await world().portfolio('alice'))?.positions.AAPL?.locked).toBe(0n)
    await world().checkInvariants()
  })

  it('waits for the cancellation to be final: it may still fill', async () => {
    control().fill({ mode: 'hold', cancelDelayMs: 3_600_000 })
    const order = await world().open(buy(250))
    await world().run(order)
    await world().chain.mineAt(order.deadline)
    expect(await world().run(order)).toMatchObject({ outcome: 'placed' })
    expect(placedOrders()[0]).toMatchObject({ status: 'pending_cancel' })
    control().release({ symbol: 'AAPL' })
    expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
    await world().checkInvariants()
  })

  it('settles what was filled when it is cancelled', async () => {
    control().fill({ mode: 'partial', fraction: '0.4' })
    const order = await world().open(buy(1_000))
    expect(await world().run(order)).toMatchObject({ outcome: 'placed' })
    await world().chain.mineAt(order.deadline)
    expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
    const portfolio = await world().portfolio('alice')
    expect(portfolio?.cash).toBeGreaterThan(usd(599.9))
    expect(portfolio?.cash).toBeLessThan(usd(600.1))
    expect(await world().usdc('alice')).toBe(WALLET - usd(1_000))
    await world().checkInvariants()
  })

  it('that expired at the close is refunded, with what was filled settled', async () => {
    control().fill({ mode: 'expire' })
    const order = await world().open(buy(250))
    expect(await world().noticeCode(order, await world().run(order))).toBe('expired-at-close')
  })

  it('that the broker rejected is refunded', async () => {
    control().fill({ mode: 'reject' })
    const order = await world().open(buy(250))
    expect(await world().noticeCode(order, await world().run(order))).toBe('broker-rejected')
    expect(await world().usdc('alice')).toBe(WALLET)
  })
})

describe('a broker that does not take an order', () => {
  const refuse = (status: number, headers: Record<string, string> = {}) =>
    control().fault({
      method: 'POST',
      path: '/v2/orders',
      times: 1_000,
      respond: { status, body: { code: 40310000, message: 'insufficient buying power' }, headers },
    })

  it('is asked again after a pause that grows to a quarter of an hour, and nothing is refunded', async () => {
    refuse(403)
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

  it('as its keys are refused, or it is too busy, makes the order wait as well', async () => {
    const order = await world().open({ ...buy(250), deadlineIn: DAY })
    for (const status of [401, 429, 422]) {
      control().clear({ what: 'faults' })
      refuse(status)
      expect(await world().run(order)).toMatchObject({ outcome: 'queued' })
    }
    control().clear({ what: 'faults' })
    expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
  })

  it('is refunded at the deadline', async () => {
    refuse(403)
    const order = await world().open(buy(250))
    await world().run(order)
    await world().chain.mineAt(order.deadline)
    expect(await world().noticeCode(order, await world().run(order))).toBe('expired')
    expect(await world().usdc('alice')).toBe(WALLET)
  })
})

describe('the look-up by client_order_id', () => {
  /** Look-ups and placements so far, in their order. */
  const asked = () =>
    control()
      .requests()
      .flatMap(({ method, url }) => {
        if (url.includes('by_client_order_id')) return ['look-up']
        return method === 'POST' && url === '/v2/orders' ? ['send'] : []
      })

  it('is left out before the first send by the run that wrote the order ahead', async () => {
    await world().settled(buy(250))
    expect(asked()[0]).toBe('send')
  })

  it('comes before the first send of every later run', async () => {
    control().clock({ open: false, nextOpen: new Date(Date.now() + 3_600_000).toISOString() })
    const order = await world().open({ ...buy(250), deadlineIn: DAY })
    expect(await world().run(order)).toMatchObject({ outcome: 'queued' })
    expect(asked()).toEqual([])
    control().clock({ open: true })
    expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
    expect(asked().slice(0, 2)).toEqual(['look-up', 'send'])
  })

  it('comes before the next send of a run that began again after its write-ahead', async () => {
    const order = await world().open(buy(250))
    const { broker } = world().deps()
    let attempts = 0
    const conflicting = sending(broker, (send) => async (...args) => {
      if (++attempts === 1) throw new ConflictError('something else was first')
      return send(...args)
    })
    expect(await world().run(order, { deps: { broker: conflicting } })).toMatchObject({ outcome: 'settled' })
    expect(asked().slice(0, 2)).toEqual(['look-up', 'send'])
  })

  it('comes before a refund, thirty seconds after the mark, also by the run that wrote the order ahead', async () => {
    const { relay } = world().deps()
    const order = await world().open(buy(250))
    const refusedSince = {
      ...relay,
      async post(authorization: Parameters<typeof relay.post>[0]) {
        const answer = await relay.post(authorization)
        if (world().relay.posted.length > 1) return answer
        await world().chain.send('owner', 'token', 'setKyc', world().chain.account('alice'), false)
        return answer
      },
    }
    const result = await world().run(order, { deps: { relay: refusedSince } })
    expect(await world().noticeCode(order, result)).toBe('kyc')
    expect(world().clock.slept).toContain(30_000)
    expect(asked()).toEqual(['look-up'])
  })
})

it('asks the chain anew right before the send, whatever earlier looks at the same block have shown', async () => {
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

describe('an answer of the broker that got lost', () => {
  it('is asked for again under the same id, and the order exists once', async () => {
    control().fault({ method: 'POST', path: '/v2/orders', drop: 'after', times: 1 })
    const order = await world().open(buy(250))
    expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
    expect(posts()).toHaveLength(2)
    expect(placedOrders()).toHaveLength(1)
    await world().checkInvariants()
  })

  it('several times leaves the order queued, never refunded', async () => {
    control().fault({ method: 'POST', path: '/v2/orders', times: 5, respond: { status: 504, body: {} } })
    const order = await world().open(buy(250))
    expect(await world().run(order)).toMatchObject({ outcome: 'queued' })
    expect(posts()).toHaveLength(5)
    expect(await world().state(order)).toBe('OPEN')
    control().clear({ what: 'faults' })
    expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
  })

  it('while looking for an order leaves it queued, too', async () => {
    control().clock({ open: false, nextOpen: new Date(Date.now() + 3_600_000).toISOString() })
    const order = await world().open({ ...buy(250), deadlineIn: DAY })
    expect(await world().run(order)).toMatchObject({ outcome: 'queued' })
    control().clock({ open: true })
    control().fault({ method: 'GET', path: '/v2/orders:by_client_order_id', times: 9, drop: 'before' })
    const result = await world().run(order)
    expect(result).toMatchObject({ outcome: 'queued', code: 'broker-unavailable' })
    expect(posts()).toEqual([])
    control().clear({ what: 'faults' })
    expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
  })

  it('an order under our id that is another one is never settled as ours', async () => {
    const order = await world().open(buy(250))
    control().clock({ open: false })
    control().fault({ method: 'GET', path: '/v2/clock', respond: { status: 503, body: {} } })
    await world().run(order)
    control().clear({ what: 'faults' })
    await brokerOf(world().broker.url).placeOrder({
      symbol: 'MSFT',
      side: 'buy',
      notional: usd(9),
      clientOrderId: order.clientOrderId,
    })
    control().clock({ open: true })
    expect(await world().run(order)).toEqual({ outcome: 'failed', code: 'broker-mismatch' })
    expect(await world().state(order)).toBe('OPEN')
  })
})

it('calls neither broker nor relay from the time on at which it must stop', async () => {
  const order = await world().open(buy(250))
  const seen = control().requests().length
  expect(await world().run(order, { budget: 0 })).toEqual({ outcome: 'failed', code: 'out-of-time' })
  expect(control().requests()).toHaveLength(seen)
  expect(world().relay.posted).toEqual([])
})
