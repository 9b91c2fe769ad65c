import { expect, it } from 'vitest'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { shares, usd } from '../support/brokerStandIn.js'
import { buy, sell } from './support/scenarios.js'
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

it('a deposit of USDC becomes cash in one settlement, while the market is closed, and nothing is at the broker', async () => {
  world().broker.control.clock({ open: false })
  const order = await world().settled(cash)
  expect(await cashOf()).toBe(usd(300))
  expect(await world().usdc('alice')).toBe(WALLET - usd(300))
  expect(world().broker.control.orders()).toEqual([])
  expect(await world().run(order)).toEqual({ outcome: 'done' })
  expect(await cashOf()).toBe(usd(300))
  await world().checkInvariants()
})

const held = { symbol: 'AAPL', amount: shares(2) } as const
const returned = { who: 'alice', side: 'DEPOSIT', symbol: 'AAPL', amount: shares(2), shares: held } as const
const position = async () => (await world().portfolio('alice'))?.positions.AAPL?.qty ?? 0n
const freeze = (on: boolean) =>
  world().chain.send('owner', 'token', 'setFrozen', nameToBytes32('AAPL'), world().chain.account('alice'), on)
/** Alice's wallet has three shares. */
const withdrawn = async () => {
  await world().settled(buy(1_000))
  await world().settled({ who: 'alice', side: 'WITHDRAW', symbol: 'AAPL', amount: shares(3) })
}

it('a deposit of shares adds to the position, while the market is closed and the symbol is delisted', async () => {
  await withdrawn()
  const before = await position()
  world().broker.control.clock({ open: false })
  await world().chain.send('owner', 'token', 'setListed', nameToBytes32('AAPL'), false)
  const order = await world().open(returned)
  await world().checkInvariants()
  expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
  expect(await position()).toBe(before + shares(2))
  expect(await world().tokens('alice', 'AAPL')).toBe(shares(1))
  expect(await world().run(order)).toEqual({ outcome: 'done' })
  await world().checkInvariants()
})

it('a deposit of shares that are frozen before its run is refunded, and waits as a claim', async () => {
  await withdrawn()
  const before = await position()
  await world().chain.send('owner', 'token', 'setListed', nameToBytes32('AAPL'), false)
  const order = await world().open(returned)
  await freeze(true)
  expect(await world().noticeCode(order, await world().run(order))).toBe('frozen')
  expect(await position()).toBe(before)
  expect(await world().tokens('alice', 'AAPL')).toBe(shares(1))
  await world().checkInvariants()
  await freeze(false)
  await world().chain.send('alice', 'escrow', 'claim', nameToBytes32('AAPL'), world().chain.account('alice'))
  expect(await world().tokens('alice', 'AAPL')).toBe(shares(3))
  await world().checkInvariants()
})

it('a withdrawal of cash is refunded when the pool is short', async () => {
  await world().settled(buy(1_000))
  await world().settled(sell(400))
  await world().chain.send('owner', 'pool', 'transferTreasury', usd(1_000))
  const wish = { who: 'alice', side: 'WITHDRAW', symbol: 'USDC', amount: usd(100) } as const
  expect(await world().refused(wish)).toBe('pool-short')
  expect(await cashOf()).toBeGreaterThan(usd(399))
})

it('a withdrawal of shares is refunded when the shares are not at the broker', async () => {
  await world().settled(buy(1_000))
  world().broker.control.account({ name: 'enclave', positions: { AAPL: '0.5' } })
  const wish = { who: 'alice', side: 'WITHDRAW', symbol: 'AAPL', amount: shares(1) } as const
  expect(await world().refused(wish)).toBe('pool-short')
})
