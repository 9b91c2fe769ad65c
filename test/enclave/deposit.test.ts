import { describe, expect, it } from 'vitest'
import { usd } from '../support/brokerStandIn.js'
import { useWorld, WALLET } from './support/world.js'

const world = useWorld()

const cash = {
  who: 'alice',
  side: 'DEPOSIT',
  symbol: 'USDC',
  amount: usd(300),
  escrow: usd(300),
} as const
const cashOf = async () => (await world().portfolio('alice'))?.cash

describe('a deposit of USDC', () => {
  it('becomes cash in one settlement, while the market is closed, and nothing is at the broker', async () => {
    world().broker.control.clock({ open: false })
    const order = await world().settled(cash)
    expect(await cashOf()).toBe(usd(300))
    expect(await world().usdc('alice')).toBe(WALLET - usd(300))
    expect(world().broker.control.orders()).toEqual([])
    expect(await world().run(order)).toEqual({ outcome: 'done' })
    expect(await cashOf()).toBe(usd(300))
    await world().checkInvariants()
  })

  it('pays for a buy, and can be withdrawn', async () => {
    await world().settled(cash)
    await world().settled({ who: 'alice', side: 'BUY', symbol: 'AAPL', amount: usd(100) })
    await world().settled({ who: 'alice', side: 'WITHDRAW', symbol: 'USDC', amount: usd(200) })
    expect(await cashOf()).toBe(0n)
    expect(await world().usdc('alice')).toBe(WALLET - usd(100))
    await world().checkInvariants()
  })

  it('is refunded when its account has left between opening and run', async () => {
    const order = await world().open(cash)
    await world().chain.send('admin', 'registry', 'setMember', world().chain.account('alice'), false)
    const result = await world().run(order)
    expect(await world().noticeCode(order, result)).toBe('no-institution')
    expect(await world().usdc('alice')).toBe(WALLET)
    expect(await world().portfolio('alice')).toBeNull()
    await world().checkInvariants()
  })

  it('is refunded when its account cancels it first', async () => {
    const order = await world().open(cash)
    await world().cancel(order)
    expect(await world().run(order)).toMatchObject({ outcome: 'refunded' })
    expect(await world().usdc('alice')).toBe(WALLET)
  })

  it('waits during a pause', async () => {
    const order = await world().open(cash)
    await world().chain.send('guardian', 'authority', 'pause')
    expect(await world().run(order)).toMatchObject({ outcome: 'queued', code: 'paused' })
    expect(await world().state(order)).toBe('OPEN')
  })

  it('of another amount than the escrow’s is refunded', async () => {
    for (const amount of [usd(299), usd(301)]) {
      const order = await world().open({ ...cash, amount })
      expect(await world().noticeCode(order, await world().run(order))).toBe('escrow-mismatch')
    }
    const empty = await world().open({ ...cash, escrow: 0n })
    expect(await world().noticeCode(empty, await world().run(empty))).toBe('escrow-mismatch')
    expect(await world().portfolio('alice')).toBeNull()
    await world().checkInvariants()
  })
})
