// Actor: a cleared account with shares in its wallet.
// Cost: the gas of an opening.
// Effect: none was seen. If the escrow's content were not part of the order, shares that came in under another side or symbol would
// reach the pool without a credit, or a deposit of one share would be credited as many, or as shares of another symbol.
// Now: an escrow of shares is a deposit of exactly that symbol and amount, or it is refunded (`escrow-mismatch`).
import { expect, it } from 'vitest'
import { buy } from '../enclave/support/scenarios.js'
import { useWorld } from '../enclave/support/world.js'
import { shares, usd } from '../support/brokerStandIn.js'

const world = useWorld()
const brought = { symbol: 'AAPL', amount: shares(1) }

it.each([
  ['a buy', { side: 'BUY', symbol: 'AAPL', amount: usd(100) }],
  ['a sale', { side: 'SELL', symbol: 'AAPL', amount: usd(100) }],
  ['a withdrawal of shares', { side: 'WITHDRAW', symbol: 'AAPL', amount: shares(1) }],
  ['a withdrawal of cash', { side: 'WITHDRAW', symbol: 'USDC', amount: usd(10) }],
  ['a deposit of more shares', { side: 'DEPOSIT', symbol: 'AAPL', amount: shares(1) + 1n }],
  ['a deposit of fewer shares', { side: 'DEPOSIT', symbol: 'AAPL', amount: shares(1) - 1n }],
  ['a deposit of another symbol', { side: 'DEPOSIT', symbol: 'MSFT', amount: shares(1) }],
  ['a deposit of USDC', { side: 'DEPOSIT', symbol: 'USDC', amount: shares(1) }],
] as const)('shares that are escrowed for %s go back', async (_, wish) => {
  await world().settled(buy(1_000))
  await world().settled({ who: 'alice', side: 'WITHDRAW', symbol: 'AAPL', amount: shares(2) })
  const before = await world().portfolio('alice')
  expect(await world().refused({ who: 'alice', ...wish, shares: brought })).toBe('escrow-mismatch')
  expect(await world().tokens('alice', 'AAPL')).toBe(shares(2))
  expect(await world().portfolio('alice')).toEqual(before)
  await world().checkInvariants()
})

it('a deposit of shares without any in the escrow is refunded', async () => {
  const wish = { who: 'alice', side: 'DEPOSIT', symbol: 'AAPL', amount: shares(1) } as const
  expect(await world().refused(wish)).toBe('escrow-mismatch')
  expect(await world().portfolio('alice')).toBeNull()
})
