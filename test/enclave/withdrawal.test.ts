import { describe, expect, it } from 'vitest'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { shares, usd } from '../support/brokerStandIn.js'
import { useWorld, WALLET } from './support/world.js'

const world = useWorld()
const buy = { who: 'alice', side: 'BUY', symbol: 'AAPL', amount: usd(1_000), escrow: usd(1_000) } as const
const sell = { who: 'alice', side: 'SELL', symbol: 'AAPL', amount: usd(400) } as const
const takeShares = { who: 'alice', side: 'WITHDRAW', symbol: 'AAPL', amount: shares(1) } as const

const withdrawn = (amount: bigint) => ({ who: 'alice', side: 'WITHDRAW', symbol: 'USDC', amount }) as const

describe('a withdrawal of cash', () => {
  it('pays out of the pool, whatever the clock says', async () => {
    await world().settled(buy)
    await world().settled(sell)
    world().broker.control.clock({ open: false })
    const cash = (await world().portfolio('alice'))?.cash ?? 0n
    await world().settled(withdrawn(cash))
    expect(await world().usdc('alice')).toBe(WALLET - usd(1_000) + cash)
    expect((await world().portfolio('alice'))?.cash).toBe(0n)
    await world().checkInvariants()
  })

  it('is refunded when the pool is short', async () => {
    await world().settled(buy)
    await world().settled(sell)
    await world().chain.send('owner', 'pool', 'transferTreasury', usd(1_000))
    const order = await world().open(withdrawn(usd(100)))
    const result = await world().run(order)
    expect(result.outcome).toBe('refunded')
    expect(await world().noticeCode(order, result)).toBe('pool-short')
    expect((await world().portfolio('alice'))?.cash).toBeGreaterThan(usd(399))
  })
})

describe('a withdrawal of shares', () => {
  it('mints what the pool is short of, pays tokens and takes them out of the position', async () => {
    await world().settled(buy)
    const before = (await world().portfolio('alice'))?.positions.AAPL?.qty ?? 0n
    await world().settled(takeShares)
    expect(await world().tokens('alice', 'AAPL')).toBe(shares(1))
    expect((await world().portfolio('alice'))?.positions.AAPL).toEqual({
      qty: before - shares(1),
      locked: 0n,
    })
    expect(await world().chain.read('token', 'totalSupply', nameToBytes32('AAPL'))).toBe(shares(1))
    await world().checkInvariants()
  })

  it('works for a symbol that was delisted after the buy', async () => {
    await world().settled(buy)
    await world().chain.send('owner', 'token', 'setListed', nameToBytes32('AAPL'), false)
    await world().settled(takeShares)
    expect(await world().tokens('alice', 'AAPL')).toBe(shares(1))
  })

  it('is refunded when the shares are not at the broker', async () => {
    await world().settled(buy)
    world().broker.control.account({ name: 'enclave', positions: { AAPL: '0.5' } })
    const order = await world().open(takeShares)
    expect(await world().noticeCode(order, await world().run(order))).toBe('pool-short')
  })
})

describe('an employee who was removed', () => {
  it('may still sell and withdraw cash, but not buy, nor withdraw shares', async () => {
    await world().settled(buy)
    await world().chain.send('admin', 'registry', 'setMember', world().chain.account('alice'), false)
    // TSLA-like rules do not apply any more, and neither does the limit of an order.
    await world().settled({ ...sell, amount: usd(900) })
    await world().settled(withdrawn(usd(300)))
    expect(await world().usdc('alice')).toBe(WALLET - usd(700))
    const fromCash = await world().open({ who: 'alice', side: 'BUY', symbol: 'AAPL', amount: usd(100) })
    expect(await world().noticeCode(fromCash, await world().run(fromCash))).toBe('no-institution')
    const order = await world().open({ ...takeShares, amount: 1n })
    expect(await world().noticeCode(order, await world().run(order))).toBe('withdrawals-not-allowed')
    await world().checkInvariants()
  })
})
