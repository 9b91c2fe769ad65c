import { expect, it } from 'vitest'
import { shares, usd } from '../support/brokerStandIn.js'
import { useStandIn } from './useStandIn.js'

const { standIn, broker, read } = useStandIn()

const buy = (clientOrderId: string) =>
  broker().placeOrder({ symbol: 'AAPL', side: 'buy', qty: shares(4), clientOrderId })

it('the answer to POST is pending_new while the market is open, and accepted while it is closed', async () => {
  expect((await buy('day')).status).toBe('pending_new')
  standIn().control.clock({ open: false })
  expect((await buy('night')).status).toBe('accepted')
})

it.each(['held', 'suspended', 'stopped', 'accepted_for_bidding', 'pending_replace'] as const)(
  'an order waits as %s until it fills',
  async (waitsAs) => {
    standIn().control.fill({ mode: 'hold', waitsAs })
    await buy('a')
    expect(await read('a')).toMatchObject({ status: waitsAs, state: 'live', filledQty: 0n })
    standIn().control.release({})
    expect(await read('a')).toMatchObject({ state: 'filled' })
  },
)

it('an order is calculated with all of its fills before it is filled, and cannot be cancelled then', async () => {
  standIn().control.fill({ mode: 'immediate', endsThrough: 'calculated', endDelayMs: 60_000 })
  await buy('a')
  const order = await read('a')
  expect(order).toMatchObject({ status: 'calculated', state: 'live', filledQty: shares(4) })
  expect(await broker().cancelOrder(order.id)).toBe('not-cancelable')
  standIn().control.clock({ open: false })
  expect(await read('a')).toMatchObject({ state: 'filled' })
})

it('an order is done for the day with a part of its fills, then expires', async () => {
  standIn().control.fill({ mode: 'expire', fraction: '0.5', endsThrough: 'done_for_day', endDelayMs: 300 })
  await buy('a')
  expect(await read('a')).toMatchObject({ status: 'done_for_day', state: 'live', filledQty: shares(2) })
  await expect.poll(async () => (await read('a')).state, { timeout: 10_000 }).toBe('expired')
})

it('an order that is rejected may state its filled quantity as null, or not at all', async () => {
  const keys = { 'APCA-API-KEY-ID': 'PKENCLAVE', 'APCA-API-SECRET-KEY': 'enclave-secret' }
  const filledQty = async (id: string) => {
    const response = await fetch(`${standIn().url}/v2/orders:by_client_order_id?client_order_id=${id}`, {
      headers: keys,
    })
    return Object(await response.json()).filled_qty
  }
  standIn().control.fill({ mode: 'reject', filledQty: 'null', times: 1 })
  await buy('a')
  expect(await filledQty('a')).toBeNull()
  standIn().control.fill({ mode: 'reject', filledQty: 'absent', times: 1 })
  await buy('b')
  expect(await filledQty('b')).toBeUndefined()
})

it('an order that another one carried on is read as one order with the fills of both, and ends as the second does', async () => {
  standIn().control.fill({ mode: 'replace', fraction: '0.25', delayMs: 1_000 })
  standIn().control.price({ symbol: 'AAPL', price: '100', ask: '100' })
  const placed = await buy('a')
  await expect.poll(async () => (await read('a')).fills.length, { timeout: 10_000 }).toBe(1)
  standIn().control.price({ symbol: 'AAPL', price: '101', ask: '101' })
  await expect.poll(async () => (await read('a')).state, { timeout: 10_000 }).toBe('filled')
  const order = await read('a')
  expect(order).toMatchObject({ clientOrderId: 'a', qty: shares(4), filledQty: shares(4) })
  expect(order.fills).toEqual([
    { qty: shares(1), avgPrice: '100' },
    { qty: shares(3), avgPrice: '101' },
  ])
  expect(order.id).not.toBe(placed.id)
})

it('an order that another one carried on is cancelled by cancelling the second', async () => {
  standIn().control.fill({ mode: 'replace', fraction: '0.25', delayMs: 1_500 })
  await buy('a')
  await expect.poll(async () => (await read('a')).filledQty, { timeout: 10_000 }).toBe(shares(1))
  standIn().control.clock({ open: false, expireDayOrders: false })
  expect(await broker().cancelOrder((await read('a')).id)).toBe('requested')
  expect(await read('a')).toMatchObject({ state: 'canceled', filledQty: shares(1) })
})

it('cash moves in whole cents, each fill by itself, and fees come off what is shown', async () => {
  standIn().control.account({ name: 'enclave', cash: '1000', positions: { AAPL: '2' } })
  standIn().control.price({ symbol: 'AAPL', price: '100', bid: '99.999' })
  await broker().placeOrder({ symbol: 'AAPL', side: 'sell', qty: 123_456_789n, clientOrderId: 's' })
  // 0.123456789 × 99.999 = 12.3455554…: 12.35, less a cent for TAF and one for CAT.
  expect(await broker().getAccount()).toMatchObject({ cash: usd(1_012.33) })
  standIn().control.clock({ open: false })
  expect(await broker().getAccount()).toMatchObject({ cash: usd(1_012.33) })
  standIn().control.clock({ open: true })
  standIn().control.price({ symbol: 'AAPL', price: '100' })
  await broker().placeOrder({ symbol: 'AAPL', side: 'sell', qty: shares(1), clientOrderId: 't' })
  await broker().placeOrder({ symbol: 'AAPL', side: 'sell', qty: shares(0.5), clientOrderId: 'u' })
  // 99.99 and 49.995, which is rounded down: of two sales of one day each fee is rounded up once.
  expect(await broker().getAccount()).toMatchObject({ cash: usd(1_012.33 + 99.99 + 49.99 - 0.02) })
})
