import { describe, expect, it } from 'vitest'
import { shares, usd } from '../support/brokerStandIn.js'
import { useWorld } from './support/world.js'

const world = useWorld()
const buy = { who: 'alice', side: 'BUY', symbol: 'AAPL', amount: usd(1_000), escrow: usd(1_000) } as const
const sell = { who: 'alice', side: 'SELL', symbol: 'AAPL', amount: usd(400) } as const

async function position(symbol: string) {
  return (await world().portfolio('alice'))?.positions[symbol]
}

describe('a sale', () => {
  it('sells by quantity, computed from the higher of bid and last trade, and credits its proceeds', async () => {
    await world().settled(buy)
    const before = await world().portfolio('alice')
    world().broker.control.price({ symbol: 'AAPL', price: '200', bid: '201', ask: '202' })
    await world().settled(sell)
    const [, order] = world().broker.control.orders()
    // 400 / 201, at nine decimals, rounded down.
    expect(order).toMatchObject({ side: 'sell', qty: '1.990049751', notional: null })
    const after = await world().portfolio('alice')
    expect(after?.positions.AAPL?.qty).toBe((before?.positions.AAPL?.qty ?? 0n) - 1_990_049_751n)
    // 1.990049751 shares at the bid of 201 are 399.999999951 USD: 399.99, less a cent for TAF and one for CAT.
    expect(after?.cash).toBe((before?.cash ?? 0n) + usd(399.97))
    await world().checkInvariants()
  })

  it('never sells more than it locked when the price falls between quote and fill', async () => {
    await world().settled(buy)
    world().broker.control.fill({ mode: 'hold', times: 1 })
    const order = await world().open(sell)
    expect(await world().run(order)).toMatchObject({ outcome: 'placed' })
    const locked = (await position('AAPL'))?.locked
    expect(locked).toBe(shares(2))
    world().broker.control.price({ symbol: 'AAPL', price: '100', bid: '99', ask: '101' })
    world().broker.control.release({ symbol: 'AAPL' })
    expect(await world().run(order, { envelope: null })).toMatchObject({ outcome: 'settled' })
    const after = await world().portfolio('alice')
    expect(after?.positions.AAPL?.locked).toBe(0n)
    // Two shares at 99, less fees: less than was wanted, and no other employee's shares.
    expect(after?.cash).toBe(usd(197.98))
    await world().checkInvariants()
  })

  it('takes a later, higher price for the quantity when it is placed only then', async () => {
    await world().settled(buy)
    world().broker.control.clock({ open: false })
    const order = await world().open({ ...sell, deadlineIn: 86_400 })
    expect(await world().run(order)).toMatchObject({ outcome: 'queued' })
    expect((await position('AAPL'))?.locked).toBe(shares(2))
    world().broker.control.clock({ open: true })
    world().broker.control.price({ symbol: 'AAPL', price: '400' })
    expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
    expect(world().broker.control.orders()[1]).toMatchObject({ qty: '1' })
    expect((await position('AAPL'))?.locked).toBe(0n)
    await world().checkInvariants()
  })

  it('lets two sales share a position, and refuses a third when nothing is free', async () => {
    await world().settled({ ...buy, amount: usd(600), escrow: usd(600) })
    world().broker.control.fill({ mode: 'hold' })
    const first = await world().open(sell)
    const second = await world().open(sell)
    const third = await world().open(sell)
    expect(await world().run(first)).toMatchObject({ outcome: 'placed' })
    expect(await world().run(second)).toMatchObject({ outcome: 'placed' })
    const refused = await world().run(third)
    expect(await world().noticeCode(third, refused)).toBe('insufficient-shares')
    const { qty, locked } = (await position('AAPL')) ?? { qty: 0n, locked: 0n }
    expect(locked).toBe(qty)
    world().broker.control.release({ symbol: 'AAPL' })
    expect(await world().run(second)).toMatchObject({ outcome: 'settled' })
    expect(await world().run(first)).toMatchObject({ outcome: 'settled' })
    expect(await position('AAPL')).toBeUndefined()
    await world().checkInvariants()
  })

  it('fails, to be tried again, while there is no last trade', async () => {
    await world().settled(buy)
    world().broker.control.snapshot({ symbol: 'AAPL', omit: ['latestTrade'] })
    const order = await world().open(sell)
    expect(await world().run(order)).toEqual({ outcome: 'failed', code: 'broker-unavailable' })
    world().broker.control.snapshot({ symbol: 'AAPL', omit: [] })
    expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
  })
})

describe('a buy from cash', () => {
  it('escrows nothing and reserves what it may cost until it is settled', async () => {
    await world().settled(buy)
    await world().settled({ ...sell, amount: usd(900) })
    const cash = (await world().portfolio('alice'))?.cash ?? 0n
    world().broker.control.fill({ mode: 'hold', times: 1 })
    const first = await world().open({ who: 'alice', side: 'BUY', symbol: 'MSFT', amount: usd(600) })
    expect(await world().run(first)).toMatchObject({ outcome: 'placed' })
    const second = await world().open({ who: 'alice', side: 'BUY', symbol: 'MSFT', amount: usd(600) })
    const refused = await world().run(second)
    expect(refused.outcome).toBe('refunded')
    expect(await world().noticeCode(second, refused)).toBe('insufficient-cash')
    const third = await world().open({ who: 'alice', side: 'WITHDRAW', symbol: 'USDC', amount: usd(600) })
    expect(await world().noticeCode(third, await world().run(third))).toBe('insufficient-cash')
    world().broker.control.release({ symbol: 'MSFT' })
    expect(await world().run(first)).toMatchObject({ outcome: 'settled' })
    const after = await world().portfolio('alice')
    expect(after?.cash).toBeGreaterThanOrEqual(cash - usd(600))
    expect(after?.cash).toBeLessThan(cash - usd(599))
    expect(after?.positions.MSFT?.qty).toBeGreaterThan(0n)
    await world().checkInvariants()
  })
})
