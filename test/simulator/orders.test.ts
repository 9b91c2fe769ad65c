import { expect, it } from 'vitest'
import { fillValue } from '../../src/broker/index.js'
import { shares, usd } from '../support/brokerStandIn.js'
import { useStandIn } from './useStandIn.js'

const { standIn, broker, buy, sell, read } = useStandIn()

function view(name = 'enclave') {
  const found = standIn()
    .control.accounts()
    .find((account) => account.name === name)
  if (!found) throw new Error(`no account ${name}`)
  return found
}

it('an order is answered by pending_new, and a buy filled by amount at the ask, floored to nine decimals', async () => {
  expect(await buy('b', usd(1000))).toMatchObject({ status: 'pending_new', state: 'live', filledQty: 0n })
  const order = await read('b')
  // 1000 / 200.01 = 4.99975001249937…
  expect(order).toMatchObject({
    state: 'filled',
    filledQty: 4_999_750_012n,
    fills: [{ avgPrice: '200.01' }],
  })
  // 4.999750012 × 200.01 = 999.99999990012: a thousand dollars to the cent, and a cent of it is a fee
  expect(view()).toMatchObject({ cash: '98999.99', positions: { AAPL: '4.999750012' } })
  expect(fillValue(order, 'up')).toBe(usd(1000))
  expect((await broker().getAccount()).cash).toBe(usd(98999.99))
  expect(await broker().getPositions()).toEqual([{ symbol: 'AAPL', qty: 4_999_750_012n }])
})

it('a sale by quantity is filled at the bid, and drops an empty position', async () => {
  await buy('b', usd(1000))
  standIn().control.price({ symbol: 'AAPL', price: '150', bid: '149.5' })
  await sell('s', 4_999_750_012n)
  expect(await read('s')).toMatchObject({
    state: 'filled',
    filledQty: 4_999_750_012n,
    fills: [{ avgPrice: '149.5' }],
  })
  expect(view().positions).toEqual({})
  expect(await broker().getPositions()).toEqual([])
})

it('orders end as told: rejected, expired, expired in part', async () => {
  standIn().control.fill({ mode: 'expire', fraction: '0.5', symbol: 'MSFT' })
  standIn().control.fill({ mode: 'reject', times: 1 })
  await buy('rejected', usd(100))
  standIn().control.fill({ mode: 'expire', times: 1 })
  await buy('expired', usd(100))
  await broker().placeOrder({ symbol: 'MSFT', side: 'buy', qty: shares(2), clientOrderId: 'part' })
  expect(await read('rejected')).toMatchObject({ state: 'rejected', filledQty: 0n })
  expect(await read('expired')).toMatchObject({ state: 'expired', filledQty: 0n })
  expect(await read('part')).toMatchObject({ state: 'expired', filledQty: shares(1) })
  expect(view().positions).toEqual({ MSFT: '1' })
})

it('a fill comes after its delay', async () => {
  standIn().control.fill({ mode: 'delay', delayMs: 1_000 })
  await buy('d', usd(100))
  expect((await read('d')).status).toBe('new')
  await expect.poll(async () => (await read('d')).state, { timeout: 10_000 }).toBe('filled')
})

it('cancelling ends a live order, keeps its fills, and succeeds when repeated', async () => {
  standIn().control.fill({ mode: 'partial', fraction: '0.5' })
  const { id } = await broker().placeOrder({
    symbol: 'AAPL',
    side: 'buy',
    qty: shares(2),
    clientOrderId: 'c',
  })
  expect(await broker().cancelOrder(id)).toBe('requested')
  expect(await read('c')).toMatchObject({ state: 'canceled', filledQty: shares(1) })
  expect(await broker().cancelOrder(id)).toBe('requested')
})

it('cancelling can lose the race to a fill', async () => {
  standIn().control.fill({ mode: 'hold', cancelDelayMs: 60_000 })
  const { id } = await buy('race', usd(100))
  expect(await broker().cancelOrder(id)).toBe('requested')
  expect(await read('race')).toMatchObject({ status: 'pending_cancel', state: 'live' })
  standIn().control.release({})
  expect((await read('race')).state).toBe('filled')
})
