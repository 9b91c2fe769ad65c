import { describe, expect, it } from 'vitest'
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

describe('fills', () => {
  it('answers pending_new, then fills a buy by amount at the ask, floored to nine decimals', async () => {
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

  it('sells by quantity at the bid and drops an empty position', async () => {
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

  it('keeps what is not filled yet live, and averages fills at different prices', async () => {
    standIn().control.fill({ mode: 'partial', fraction: '0.25', times: 1 })
    standIn().control.price({ symbol: 'AAPL', price: '100', ask: '100' })
    await broker().placeOrder({ symbol: 'AAPL', side: 'buy', qty: shares(4), clientOrderId: 'p' })
    expect(await read('p')).toMatchObject({ status: 'partially_filled', state: 'live', filledQty: shares(1) })
    standIn().control.price({ symbol: 'AAPL', price: '101', ask: '101' })
    standIn().control.release({ clientOrderId: 'p' })
    expect(await read('p')).toMatchObject({
      state: 'filled',
      filledQty: shares(4),
      fills: [{ avgPrice: '100.75' }],
    })
    expect(view().cash).toBe('99596.99')
  })

  it('spends no more than the notional when a partial fill goes on at another price', async () => {
    standIn().control.fill({ mode: 'partial', fraction: '0.5', times: 1 })
    await buy('p', usd(100))
    standIn().control.price({ symbol: 'AAPL', price: '90' })
    standIn().control.release({})
    const order = await read('p')
    expect(order.state).toBe('filled')
    expect(fillValue(order, 'up')).toBe(usd(100))
    expect(Number(view().cash)).toBeGreaterThanOrEqual(99899.98)
  })

  it('sells no more than is held when a sale by amount meets a lower price', async () => {
    standIn().control.account({ name: 'enclave', cash: '0', positions: { AAPL: '1' } })
    standIn().control.fill({ mode: 'hold' })
    await broker().placeOrder({ symbol: 'AAPL', side: 'sell', notional: usd(150), clientOrderId: 's' })
    standIn().control.price({ symbol: 'AAPL', price: '100', bid: '100' })
    standIn().control.release({})
    expect(await read('s')).toMatchObject({ state: 'canceled', filledQty: shares(1) })
    expect(view()).toMatchObject({ cash: '99.98', positions: {} })
  })

  it('does not spend cash that is not there when a buy by quantity meets a higher price', async () => {
    standIn().control.account({ name: 'enclave', cash: '210' })
    standIn().control.fill({ mode: 'hold' })
    await broker().placeOrder({ symbol: 'AAPL', side: 'buy', qty: shares(1), clientOrderId: 'b' })
    standIn().control.price({ symbol: 'AAPL', price: '250' })
    standIn().control.release({})
    expect(await read('b')).toMatchObject({ state: 'rejected', filledQty: 0n })
    expect(view()).toMatchObject({ cash: '210', positions: {} })
  })

  it('ends orders as told: rejected, expired, expired in part', async () => {
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

  it('fills after a delay', async () => {
    standIn().control.fill({ mode: 'delay', delayMs: 1_000 })
    await buy('d', usd(100))
    expect((await read('d')).status).toBe('new')
    await expect.poll(async () => (await read('d')).state, { timeout: 10_000 }).toBe('filled')
  })
})

describe('cancelling', () => {
  it('cancels a live order, keeps its fills, and succeeds when repeated', async () => {
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

  it('cannot cancel what is filled', async () => {
    const { id } = await buy('f', usd(100))
    expect(await broker().cancelOrder(id)).toBe('not-cancelable')
  })

  it('can lose the race to a fill', async () => {
    standIn().control.fill({ mode: 'hold', cancelDelayMs: 60_000 })
    const { id } = await buy('race', usd(100))
    expect(await broker().cancelOrder(id)).toBe('requested')
    expect(await read('race')).toMatchObject({ status: 'pending_cancel', state: 'live' })
    standIn().control.release({})
    expect((await read('race')).state).toBe('filled')
  })

  it('knows no other order', async () => {
    const gone = broker().cancelOrder('61e69015-8549-4bfd-b9c3-01e75843f47d')
    await expect(gone).rejects.toMatchObject({ kind: 'not-found' })
  })
})
