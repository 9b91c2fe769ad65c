import { expect, it } from 'vitest'
import { shares, usd } from '../support/brokerStandIn.js'
import { useWorld } from './support/world.js'

const world = useWorld()
const buy = { who: 'alice', side: 'BUY', symbol: 'AAPL', amount: usd(1_000), escrow: usd(1_000) } as const
const sell = { who: 'alice', side: 'SELL', symbol: 'AAPL', amount: usd(400) } as const
const takeShares = { who: 'alice', side: 'WITHDRAW', symbol: 'AAPL', amount: shares(1) } as const

const withdrawn = (amount: bigint) => ({ who: 'alice', side: 'WITHDRAW', symbol: 'USDC', amount }) as const

it('a withdrawal of cash is refunded when the pool is short', async () => {
  await world().settled(buy)
  await world().settled(sell)
  await world().chain.send('owner', 'pool', 'transferTreasury', usd(1_000))
  const order = await world().open(withdrawn(usd(100)))
  const result = await world().run(order)
  expect(result.outcome).toBe('refunded')
  expect(await world().noticeCode(order, result)).toBe('pool-short')
  expect((await world().portfolio('alice'))?.cash).toBeGreaterThan(usd(399))
})

it('a withdrawal of shares is refunded when the shares are not at the broker', async () => {
  await world().settled(buy)
  world().broker.control.account({ name: 'enclave', positions: { AAPL: '0.5' } })
  const order = await world().open(takeShares)
  expect(await world().noticeCode(order, await world().run(order))).toBe('pool-short')
})
