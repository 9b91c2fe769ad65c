import { expect, it } from 'vitest'
import { type BrokerOrder, fillValue, orderState } from '../../src/broker/index.js'
import { alpacaExample } from '../support/alpacaExamples.js'
import { brokerOf, usd } from '../support/brokerStandIn.js'
import { startRawServer } from '../support/rawServer.js'

const ORDER = { symbol: 'AAPL', side: 'buy', notional: usd(5), clientOrderId: 'mine' } as const

/** The documented order with these changes, as the client reads it. */
async function read(change: object): Promise<BrokerOrder | null> {
  const order = { ...Object(alpacaExample('order-filled')), client_order_id: 'mine', ...change }
  const url = await startRawServer((_request, response) => response.end(JSON.stringify(order)))
  return brokerOf(url).getOrderByClientOrderId('mine')
}

it('an order is live unless its status is one of the four that are final', () => {
  for (const status of ['filled', 'canceled', 'expired', 'rejected']) expect(orderState(status)).toBe(status)
  const live = ['new', 'accepted', 'pending_new', 'accepted_for_bidding', 'held', 'partially_filled']
  const ending = ['pending_cancel', 'pending_replace', 'stopped', 'suspended', 'calculated', 'done_for_day']
  for (const status of [...live, ...ending, 'replaced', 'a status of tomorrow', 'FILLED'])
    expect(orderState(status)).toBe('live')
})

it('fillValue rounds once, as told', () => {
  const order = { fills: [{ qty: 333_333_333n, avgPrice: '200.123456789' }] }
  // 0.333333333 × 200.123456789 = 66.707818862958847737
  expect(fillValue(order, 'down')).toBe(66_707_818n)
  expect(fillValue(order, 'up')).toBe(66_707_819n)
  expect(() => fillValue(order, 'exact')).toThrow()
})

it.each([
  { ...ORDER, notional: 1_234_567n },
  { ...ORDER, notional: 0n },
  { ...ORDER, notional: -10_000n },
  { symbol: 'AAPL', side: 'sell', qty: 0n, clientOrderId: 'mine' } as const,
  { ...ORDER, limitPrice: 0n },
  { ...ORDER, limitPrice: 1_005_000n },
  { ...ORDER, limitPrice: 990_050n },
])('a placement refuses a size that Alpaca cannot take, before it is sent', async (order) => {
  await expect(brokerOf('http://127.0.0.1:1').placeOrder(order)).rejects.toThrow(RangeError)
})

it('a placement never takes another order for its own', async () => {
  const url = await startRawServer((_request, response) => {
    response.end(JSON.stringify({ ...Object(alpacaExample('order-filled')), client_order_id: 'another' }))
  })
  await expect(brokerOf(url).placeOrder(ORDER)).rejects.toMatchObject({
    kind: 'ambiguous',
    reason: 'unreadable',
  })
  await expect(brokerOf(url).getOrderByClientOrderId('mine')).rejects.toMatchObject({ kind: 'unavailable' })
})

it.each([
  { filled_qty: '1', filled_avg_price: null },
  { filled_qty: '1', filled_avg_price: '1e3' },
  { filled_qty: '0', filled_avg_price: null, status: 'filled' },
  { filled_qty: '1.0000000001' },
  { filled_qty: null },
  { filled_qty: null, filled_avg_price: null, filled_at: null },
  { filled_qty: null, filled_avg_price: null, filled_at: null, status: 'partially_filled' },
  { filled_qty: null, filled_avg_price: null, filled_at: null, status: 'replaced', replaced_by: 'another' },
  { filled_qty: null, filled_avg_price: null, status: 'canceled' },
  { filled_qty: null, filled_at: null, status: 'expired' },
  { filled_qty: null, filled_at: null, status: 'rejected' },
  { filled_avg_price: '0.00' },
  { side: 'short' },
])('an order that could not be settled is not read: %j', async (change) => {
  await expect(read(change)).rejects.toMatchObject({ kind: 'unavailable', reason: 'unreadable' })
})

it.each([
  { filled_qty: null, filled_avg_price: null, filled_at: null, status: 'rejected' },
  { filled_qty: undefined, filled_avg_price: undefined, status: 'rejected' },
  { filled_qty: null, filled_avg_price: null, filled_at: null, status: 'canceled' },
  { filled_qty: undefined, filled_avg_price: undefined, filled_at: undefined, status: 'expired' },
])('an order that certainly filled nothing is read: %j', async (change) => {
  expect(await read(change)).toMatchObject({ state: change.status, filledQty: 0n, fills: [] })
})

const unreadable = { ...Object(alpacaExample('order-filled')), client_order_id: 'mine', filled_qty: null }

/** @param others those that carried it on, by id; one that is left out is not found */
async function mayFill(status: string, others: Record<string, object> = {}): Promise<boolean> {
  const url = await startRawServer(({ url: path = '' }, response) => {
    const id = /^\/v2\/orders\/(\w+)/.exec(path)?.[1]
    const order = id === undefined ? { ...unreadable, status, replaced_by: 'second' } : others[id]
    response.statusCode = order ? 200 : 404
    response.end(JSON.stringify(order ?? alpacaExample('error-not-found')))
  })
  return brokerOf(url).mayFill('mine')
}

it('an order that cannot be read may still fill while those may that carried it on, and not where one is gone', async () => {
  const second = { ...unreadable, id: 'second', status: 'replaced', replaced_by: 'third' }
  const third = { ...unreadable, id: 'third', status: 'new' }
  expect(await mayFill('replaced', { second, third })).toBe(true)
  expect(await mayFill('replaced', { second, third: { ...third, status: 'expired' } })).toBe(false)
  expect(await mayFill('replaced', { second })).toBe(false)
  expect(await mayFill('replaced', { second: { ...second, replaced_by: null } })).toBe(false)
  // Another order's answer says nothing.
  await expect(mayFill('replaced', { second: third })).rejects.toMatchObject({ reason: 'unreadable' })
})
