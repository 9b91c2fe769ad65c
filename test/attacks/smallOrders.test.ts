// Actor: a cleared employee with many small positions.
// Cost: her own gas to open orders of 1.40 USD.
// Effect: no gain for her, and harm to the platform. A portfolio of 140 positions is a blob of several
// kilobytes, and each order writes it three times at the relayer's cost. A sale of 1.40 USD took 4.5 M gas, 23
// times what she pays. A blob that shrank after a sale and grew again after a buy cost as much once more.
// Now: an order has a least amount, except for a whole balance. A blob keeps its size while a portfolio shrinks
// by less than two blocks.
import { expect, it } from 'vitest'
import { createConfidentialLedger } from '../../src/chain/contracts.js'
import { hexLength } from '../../src/protocol/hex.js'
import { accountIdOf } from '../../src/protocol/identifiers.js'
import { encodePadded } from '../../src/protocol/plaintext.js'
import { buy, sell } from '../enclave/support/scenarios.js'
import { useWorld } from '../enclave/support/world.js'
import { shares, usd } from '../support/brokerStandIn.js'

const world = useWorld()
const limits = { order: usd(10), withdrawal: usd(10) }

it('an order below the platform’s smallest is refused, whatever the broker would take', async () => {
  expect(await world().refused(buy(1.4), { deps: { limits } })).toBe('below-minimum')
  await world().settled(buy(100))
  expect(await world().refused(sell(1.4), { deps: { limits } })).toBe('below-minimum')
})

it('a whole balance can be sold, and spent, however small it is', async () => {
  await world().settled(buy(1.4))
  await world().settled(sell(5), { deps: { limits } })
  const cash = (await world().portfolio('alice'))?.cash ?? 0n
  await world().settled({ who: 'alice', side: 'BUY', symbol: 'AAPL', amount: cash }, { deps: { limits } })
})

it('a position of whole shares can be sold below the broker’s minimum, which does not bind them', async () => {
  await world().settled(buy(1_001))
  const { qty } = (await world().portfolio('alice'))?.positions.AAPL ?? { qty: 0n }
  await world().settled({ who: 'alice', side: 'WITHDRAW', symbol: 'AAPL', amount: qty - shares(5) })
  world().broker.control.price({ symbol: 'AAPL', price: '0.15' })
  await world().settled(sell(1), { deps: { limits } })
  expect((await world().portfolio('alice'))?.positions).toEqual({})
})

it('a balance with an open order is not a whole one', async () => {
  await world().settled(buy(1_000))
  await world().settled(sell(500))
  const portfolio = await world().portfolio('alice')
  const { cash = 0n, positions: { AAPL } = {} } = portfolio ?? {}
  world().broker.control.fill({ mode: 'hold' })
  for (const wish of [{ who: 'alice', side: 'BUY', symbol: 'MSFT', amount: cash - 1n } as const, sell(490)]) {
    expect(await world().run(await world().open(wish))).toMatchObject({ outcome: 'placed' })
  }
  const locked = (await world().portfolio('alice'))?.positions.AAPL?.locked ?? 0n
  const dust = [
    { who: 'alice', side: 'WITHDRAW', symbol: 'USDC', amount: 1n } as const,
    { who: 'alice', side: 'WITHDRAW', symbol: 'AAPL', amount: (AAPL?.qty ?? 0n) - locked } as const,
  ]
  const deps = { limits: { order: 0n, withdrawal: usd(100) } }
  for (const wish of dust) expect(await world().refused(wish, { deps })).toBe('below-minimum')
})

it('a portfolio’s padding shrinks by one block at a time, and only once two are empty', () => {
  const bytes = (length: number, previous: number) => encodePadded('x'.repeat(length), 512, previous).length
  expect(bytes(100, 0)).toBe(512)
  expect(bytes(100, 1_024)).toBe(1_024)
  expect(bytes(100, 1_536)).toBe(1_024)
  expect(bytes(100, 3_072)).toBe(2_560)
  expect(bytes(3_000, 512)).toBe(3_072)
})

it('a blob on the chain that grew for open orders keeps its size once they have ended', async () => {
  const { chain, broker } = world()
  const ledger = createConfidentialLedger(chain.provider, chain.addresses.confidentialLedger)
  const size = async () => hexLength(await ledger.enclaveBlob(accountIdOf(chain.account('alice'))))
  await world().settled(buy(100))
  const before = await size()
  broker.control.fill({ mode: 'hold' })
  const open = []
  while ((await size()) === before) {
    const order = await world().open(buy(100))
    expect(await world().run(order)).toMatchObject({ outcome: 'placed' })
    open.push(order)
  }
  const grown = await size()
  broker.control.release({})
  for (const order of open) expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
  expect(await size()).toBe(grown)
})
