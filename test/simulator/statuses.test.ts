import { expect, it } from 'vitest'
import { shares, usd } from '../support/brokerStandIn.js'
import { useStandIn } from './useStandIn.js'

const { standIn, broker } = useStandIn()

// The statuses that an order passes through are told in test/enclave/statuses.test.ts.
const buy = (clientOrderId: string) =>
  broker().placeOrder({ symbol: 'AAPL', side: 'buy', qty: shares(4), clientOrderId })

it('the answer to POST is pending_new while the market is open, and accepted while it is closed', async () => {
  expect((await buy('day')).status).toBe('pending_new')
  standIn().control.clock({ open: false })
  expect((await buy('night')).status).toBe('accepted')
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
