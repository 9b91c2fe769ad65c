import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Broker, fillValue } from '../../../src/broker/index.js'
import type { BrokerStandIn } from '../../../src/sandbox/broker/index.js'
import {
  brokerOf,
  ENCLAVE_ACCOUNT,
  SERVER_ACCOUNT,
  shares,
  startStandIn,
  usd,
} from '../../support/brokerStandIn.js'

let standIn: BrokerStandIn
let broker: Broker
beforeEach(async () => {
  standIn = await startStandIn()
  broker = brokerOf(standIn.url)
})
afterEach(() => standIn.stop())

const buy = (clientOrderId: string, notional: bigint, symbol = 'AAPL') =>
  broker.placeOrder({ symbol, side: 'buy', notional, clientOrderId })
const sell = (clientOrderId: string, qty: bigint, symbol = 'AAPL') =>
  broker.placeOrder({ symbol, side: 'sell', qty, clientOrderId })

async function read(clientOrderId: string) {
  const order = await broker.getOrderByClientOrderId(clientOrderId)
  if (!order) throw new Error(`no order ${clientOrderId}`)
  return order
}

function view(name = 'enclave') {
  const found = standIn.control.accounts().find((account) => account.name === name)
  if (!found) throw new Error(`no account ${name}`)
  return found
}

describe('fills', () => {
  it('answers accepted, then fills a buy by amount at the ask, floored to nine decimals', async () => {
    expect(await buy('b', usd(1000))).toMatchObject({ status: 'accepted', state: 'live', filledQty: 0n })
    const order = await read('b')
    // 1000 / 200.01 = 4.99975001249937…
    expect(order).toMatchObject({ state: 'filled', filledQty: 4_999_750_012n, filledAvgPrice: '200.01' })
    // 4.999750012 × 200.01 = 999.99999990012, taken from the cash to the last digit
    expect(view()).toMatchObject({ cash: '99000.00000009988', positions: { AAPL: '4.999750012' } })
    expect(fillValue(order, 'up')).toBe(usd(1000))
    expect((await broker.getAccount()).cash).toBe(usd(99000))
    expect(await broker.getPositions()).toEqual([{ symbol: 'AAPL', qty: 4_999_750_012n }])
  })

  it('sells by quantity at the bid and drops an empty position', async () => {
    await buy('b', usd(1000))
    standIn.control.price({ symbol: 'AAPL', price: '150', bid: '149.5' })
    await sell('s', 4_999_750_012n)
    expect(await read('s')).toMatchObject({
      state: 'filled',
      filledQty: 4_999_750_012n,
      filledAvgPrice: '149.5',
    })
    expect(view().positions).toEqual({})
    expect(await broker.getPositions()).toEqual([])
  })

  it('keeps what is not filled yet live, and averages fills at different prices', async () => {
    standIn.control.fill({ mode: 'partial', fraction: '0.25', times: 1 })
    standIn.control.price({ symbol: 'AAPL', price: '100', ask: '100' })
    await broker.placeOrder({ symbol: 'AAPL', side: 'buy', qty: shares(4), clientOrderId: 'p' })
    expect(await read('p')).toMatchObject({ status: 'partially_filled', state: 'live', filledQty: shares(1) })
    standIn.control.price({ symbol: 'AAPL', price: '101', ask: '101' })
    standIn.control.release({ clientOrderId: 'p' })
    expect(await read('p')).toMatchObject({ state: 'filled', filledQty: shares(4), filledAvgPrice: '100.75' })
    expect(view().cash).toBe('99597')
  })

  it('spends no more than the notional when a partial fill goes on at another price', async () => {
    standIn.control.fill({ mode: 'partial', fraction: '0.5', times: 1 })
    await buy('p', usd(100))
    standIn.control.price({ symbol: 'AAPL', price: '90' })
    standIn.control.release({})
    const order = await read('p')
    expect(order.state).toBe('filled')
    expect(fillValue(order, 'up')).toBe(usd(100))
    expect(Number(view().cash)).toBeGreaterThanOrEqual(99900)
  })

  it('sells no more than is held when a sale by amount meets a lower price', async () => {
    standIn.control.account({ name: 'enclave', cash: '0', positions: { AAPL: '1' } })
    standIn.control.fill({ mode: 'hold' })
    await broker.placeOrder({ symbol: 'AAPL', side: 'sell', notional: usd(150), clientOrderId: 's' })
    standIn.control.price({ symbol: 'AAPL', price: '100', bid: '100' })
    standIn.control.release({})
    expect(await read('s')).toMatchObject({ state: 'canceled', filledQty: shares(1) })
    expect(view()).toMatchObject({ cash: '100', positions: {} })
  })

  it('does not spend cash that is not there when a buy by quantity meets a higher price', async () => {
    standIn.control.account({ name: 'enclave', cash: '210' })
    standIn.control.fill({ mode: 'hold' })
    await broker.placeOrder({ symbol: 'AAPL', side: 'buy', qty: shares(1), clientOrderId: 'b' })
    standIn.control.price({ symbol: 'AAPL', price: '250' })
    standIn.control.release({})
    expect(await read('b')).toMatchObject({ state: 'rejected', filledQty: 0n })
    expect(view()).toMatchObject({ cash: '210', positions: {} })
  })

  it('ends orders as told: rejected, expired, expired in part', async () => {
    standIn.control.fill({ mode: 'expire', fraction: '0.5', symbol: 'MSFT' })
    standIn.control.fill({ mode: 'reject', times: 1 })
    await buy('rejected', usd(100))
    standIn.control.fill({ mode: 'expire', times: 1 })
    await buy('expired', usd(100))
    await broker.placeOrder({ symbol: 'MSFT', side: 'buy', qty: shares(2), clientOrderId: 'part' })
    expect(await read('rejected')).toMatchObject({ state: 'rejected', filledQty: 0n })
    expect(await read('expired')).toMatchObject({ state: 'expired', filledQty: 0n })
    expect(await read('part')).toMatchObject({ state: 'expired', filledQty: shares(1) })
    expect(view().positions).toEqual({ MSFT: '1' })
  })

  it('fills after a delay', async () => {
    standIn.control.fill({ mode: 'delay', delayMs: 30 })
    await buy('d', usd(100))
    expect((await read('d')).status).toBe('new')
    await expect.poll(async () => (await read('d')).state).toBe('filled')
  })
})

describe('cancelling', () => {
  it('cancels a live order, keeps its fills, and succeeds when repeated', async () => {
    standIn.control.fill({ mode: 'partial', fraction: '0.5' })
    const { id } = await broker.placeOrder({
      symbol: 'AAPL',
      side: 'buy',
      qty: shares(2),
      clientOrderId: 'c',
    })
    expect(await broker.cancelOrder(id)).toBe('requested')
    expect(await read('c')).toMatchObject({ state: 'canceled', filledQty: shares(1) })
    expect(await broker.cancelOrder(id)).toBe('requested')
  })

  it('cannot cancel what is filled', async () => {
    const { id } = await buy('f', usd(100))
    expect(await broker.cancelOrder(id)).toBe('not-cancelable')
  })

  it('can lose the race to a fill', async () => {
    standIn.control.fill({ mode: 'hold', cancelDelayMs: 60_000 })
    const { id } = await buy('race', usd(100))
    expect(await broker.cancelOrder(id)).toBe('requested')
    expect(await read('race')).toMatchObject({ status: 'pending_cancel', state: 'live' })
    standIn.control.release({})
    expect((await read('race')).state).toBe('filled')
  })

  it('knows no other order', async () => {
    const gone = broker.cancelOrder('61e69015-8549-4bfd-b9c3-01e75843f47d')
    await expect(gone).rejects.toMatchObject({ kind: 'not-found' })
  })
})

describe('the clock', () => {
  it('holds orders placed while it is closed until it opens', async () => {
    standIn.control.clock({ open: false, nextOpen: '2040-01-03T14:30:00Z' })
    expect(await broker.getClock()).toMatchObject({
      isOpen: false,
      nextOpen: new Date('2040-01-03T14:30:00Z'),
      nextClose: new Date('2040-01-03T21:00:00Z'),
    })
    await buy('night', usd(100))
    expect((await read('night')).status).toBe('accepted')
    standIn.control.clock({ open: true })
    expect(await broker.getClock()).toMatchObject({ isOpen: true })
    expect((await read('night')).state).toBe('filled')
  })

  it('opens by itself at its next open', async () => {
    standIn.control.clock({ open: false, nextOpen: new Date(Date.now() + 50).toISOString() })
    await buy('night', usd(100))
    await expect.poll(async () => (await read('night')).state).toBe('filled')
  })

  it('expires the orders of the session when it closes, unless told not to', async () => {
    standIn.control.fill({ mode: 'hold' })
    await buy('a', usd(100))
    standIn.control.clock({ open: false, expireDayOrders: false })
    expect((await read('a')).state).toBe('live')
    standIn.control.clock({ open: true })
    standIn.control.clock({ open: false })
    expect((await read('a')).state).toBe('expired')
  })

  it('lets a delayed fill wait for the next session', async () => {
    standIn.control.fill({ mode: 'delay', delayMs: 20, times: 1 })
    await buy('late', usd(100))
    standIn.control.clock({ open: false, expireDayOrders: false })
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect((await read('late')).state).toBe('live')
    standIn.control.clock({ open: true })
    await expect.poll(async () => (await read('late')).state).toBe('filled')
  })
})

describe('refusals', () => {
  const rejected = (status: number, code: number) => ({ kind: 'rejected', status, code })

  it('less than a dollar, more than the cash or the shares', async () => {
    await expect(buy('1', usd(0.99))).rejects.toMatchObject(rejected(403, 40310000))
    await expect(buy('2', usd(100000.01))).rejects.toMatchObject(rejected(403, 40310000))
    await expect(sell('3', shares(1))).rejects.toMatchObject(rejected(403, 40310000))
    await buy('4', usd(400))
    await expect(sell('5', shares(2))).rejects.toMatchObject(rejected(403, 40310000))
    expect(standIn.control.orders()).toHaveLength(1)
  })

  it('what live orders have reserved already', async () => {
    standIn.control.account({ name: 'enclave', cash: '150', positions: { MSFT: '2' } })
    standIn.control.fill({ mode: 'hold' })
    await buy('1', usd(100))
    expect((await broker.getAccount()).buyingPower).toBe(usd(50))
    await expect(buy('2', usd(50.01))).rejects.toMatchObject(rejected(403, 40310000))
    await sell('3', shares(1.5), 'MSFT')
    await expect(sell('4', shares(1), 'MSFT')).rejects.toMatchObject(rejected(403, 40310000))
    await sell('5', shares(0.5), 'MSFT')
  })

  it('an opposite live order in the account, for as long as it is live', async () => {
    standIn.control.account({ name: 'enclave', positions: { AAPL: '2' } })
    standIn.control.fill({ mode: 'hold', times: 1 })
    await buy('1', usd(100))
    await expect(sell('2', shares(1))).rejects.toMatchObject(rejected(403, 40310000))
    standIn.control.release({})
    await sell('2', shares(1))
  })

  it('sizes that Alpaca does not take', async () => {
    const post = async (size: Record<string, unknown>) => {
      const response = await fetch(`${standIn.url}/v2/orders`, {
        method: 'POST',
        headers: {
          'APCA-API-KEY-ID': ENCLAVE_ACCOUNT.keyId,
          'APCA-API-SECRET-KEY': ENCLAVE_ACCOUNT.secretKey,
        },
        body: JSON.stringify({ symbol: 'AAPL', side: 'buy', type: 'market', time_in_force: 'day', ...size }),
      })
      return [response.status, Object(await response.json()).code]
    }
    expect(await post({ notional: '10.001' })).toEqual([422, 42210000])
    expect(await post({ qty: '1.0000000001' })).toEqual([422, 42210000])
    expect(await post({ qty: '1', notional: '1' })).toEqual([422, 40010001])
    expect(await post({})).toEqual([422, 40010001])
    expect(await post({ qty: '0' })).toEqual([422, 40010001])
    expect(await post({ qty: '-1' })).toEqual([422, 40010001])
    expect(await post({ qty: '1', type: 'limit' })).toEqual([422, 40010001])
    expect(await post({ qty: '1', client_order_id: 'x'.repeat(49) })).toEqual([422, 40010001])
    expect(await post({ notional: 10.5 })).toEqual([200, undefined])
    expect(await post({ notional: '10.50', qty: null })).toEqual([200, undefined])
  })

  it('assets that are unknown, halted or not fractionable', async () => {
    await expect(buy('1', usd(10), 'NOPE')).rejects.toMatchObject({ kind: 'rejected', status: 422 })
    standIn.control.asset({ symbol: 'AAPL', tradable: false })
    await expect(buy('1', usd(10))).rejects.toMatchObject({ kind: 'rejected', status: 422 })
    standIn.control.asset({ symbol: 'MSFT', fractionable: false })
    await expect(buy('1', usd(10), 'MSFT')).rejects.toMatchObject({ kind: 'rejected', status: 403 })
    expect(await broker.getAsset('MSFT')).toMatchObject({ fractionable: false, tradable: true })
    expect(await broker.getAsset('NOPE')).toBeNull()
  })

  it('a client_order_id that was ever used in the account', async () => {
    await buy('once', usd(10))
    await expect(buy('once', usd(10))).rejects.toMatchObject({
      kind: 'duplicate-client-order-id',
      existing: { clientOrderId: 'once', symbol: 'AAPL', side: 'buy' },
    })
    expect(standIn.control.orders()).toHaveLength(1)
  })
})

describe('accounts', () => {
  it('see nothing of each other', async () => {
    await buy('mine', usd(100))
    const server = brokerOf(standIn.url, SERVER_ACCOUNT)
    expect(await server.getOrderByClientOrderId('mine')).toBeNull()
    expect(await server.getPositions()).toEqual([])
    expect((await server.getAccount()).cash).toBe(0n)
    expect((await server.getSnapshots(['AAPL'])).get('AAPL')?.last).toBe(usd(200))
    const { id } = await read('mine')
    await expect(server.cancelOrder(id)).rejects.toMatchObject({ kind: 'not-found' })
  })

  it('need both of their own keys', async () => {
    for (const keys of [
      { keyId: ENCLAVE_ACCOUNT.keyId, secretKey: SERVER_ACCOUNT.secretKey },
      { keyId: 'unknown', secretKey: ENCLAVE_ACCOUNT.secretKey },
    ]) {
      await expect(brokerOf(standIn.url, keys).getClock()).rejects.toMatchObject({ kind: 'unauthorized' })
    }
  })
})

describe('prices', () => {
  it('walk the same way from the same seed, and another way from another', async () => {
    const walked = async (seed: number) => {
      const other = await startStandIn({ seed })
      other.control.walk({ steps: 50 })
      const snapshots = await brokerOf(other.url).getSnapshots(['AAPL', 'MSFT'])
      await other.stop()
      return [...snapshots.values()].map(({ last }) => last)
    }
    const first = await walked(7)
    expect(await walked(7)).toEqual(first)
    expect(await walked(8)).not.toEqual(first)
    expect(first).not.toContain(usd(200))
  })

  it('walk by themselves when told to', async () => {
    const walking = await startStandIn({ walkIntervalMs: 5 })
    const last = async () => (await brokerOf(walking.url).getSnapshots(['AAPL'])).get('AAPL')?.last
    await expect.poll(last).not.toBe(usd(200))
    await walking.stop()
  })

  it('can be set, and left out of the snapshot', async () => {
    standIn.control.price({ symbol: 'AAPL', price: '180', bid: '179.9', ask: '180.2' })
    const snapshot = async () => (await broker.getSnapshots(['AAPL', 'MSFT'])).get('AAPL')
    expect(await snapshot()).toMatchObject({
      last: usd(180),
      bid: usd(179.9),
      ask: usd(180.2),
      previousClose: usd(200),
    })
    standIn.control.snapshot({ symbol: 'AAPL', omit: ['latestTrade', 'prevDailyBar'] })
    expect(await snapshot()).toMatchObject({ last: null, bid: usd(179.9), previousClose: null })
    standIn.control.snapshot({ symbol: 'AAPL', omit: 'all' })
    expect(await snapshot()).toBeUndefined()
  })
})
