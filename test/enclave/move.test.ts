// The move of a lost wallet's portfolio to a new one: what the enclave writes, what it refuses, and that nobody else's assets move.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { divided, POSITIONS_AT_ONCE } from '../../src/enclave/order/move.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { emptyPortfolio, type Portfolio } from '../../src/protocol/portfolio.js'
import { usd } from '../support/brokerStandIn.js'
import { approveMove, PUBLIC_KEY } from '../support/oneOfEach.js'
import { SEED } from '../support/seed.js'
import { ORG_ID } from './support/parties.js'
import { buy, buyFromCash, sell } from './support/scenarios.js'
import { useWorld } from './support/world.js'

const world = useWorld()

const DONE = { outcome: 'done' }
const rejected = (code: string) => ({ outcome: 'rejected', code })

/** Alice has cash and shares, and bob has shares; carol is the person who was alice. */
async function lost(): Promise<void> {
  await world().settled(buy(1_000))
  await world().settled(sell(400))
  await world().settled({ ...buy(500), who: 'bob' })
  await world().chain.send('owner', 'token', 'setKyc', world().chain.account('carol'), true)
}

const approved = () => approveMove(world().chain, 'alice', 'carol', PUBLIC_KEY)
const carryOut = (signedBy: 'owner' | 'admin' = 'owner') => {
  const [from, to] = [world().chain.account('alice'), world().chain.account('carol')]
  return world().resolve({ resolves: 'move', v: 1, from, to }, { signedBy })
}

it('a move that is due writes both portfolios, once, and no other', async () => {
  await lost()
  await approved()
  const [before, others] = [await world().portfolio('alice'), await world().portfolioHash('bob')]
  expect(await carryOut()).toEqual(DONE)
  expect(await world().portfolio('carol')).toEqual({ ...before, nonce: 0, userPubKey: PUBLIC_KEY })
  expect(await world().portfolio('alice')).toEqual({ ...before, cash: 0n, positions: {} })
  expect(await world().portfolioHash('bob')).toBe(others)
  await world().checkInvariants()
  expect(await carryOut()).toEqual(rejected('move-not-due'))
})

it('nothing moves before the delay has passed, after an objection, or by another’s word than the owner’s', async () => {
  await lost()
  const { send, account } = world().chain
  await send('admin', 'registry', 'proposeMove', account('alice'), account('carol'))
  expect(await carryOut()).toEqual(rejected('move-not-due'))
  await send('carol', 'registry', 'acceptMove', account('alice'), PUBLIC_KEY)
  await send('owner', 'registry', 'approveMove', account('alice'), account('carol'))
  expect(await carryOut()).toEqual(rejected('move-not-due'))
  await send('alice', 'registry', 'withdrawMove', account('alice'))
  await approved()
  expect(await carryOut('admin')).toEqual(rejected('not-owner'))
  await send('alice', 'registry', 'withdrawMove', account('alice'))
  expect(await carryOut()).toEqual(rejected('move-not-due'))
})

it('a portfolio with an order does not move until the order has ended', async () => {
  await lost()
  await approved()
  const order = await world().open(buyFromCash)
  expect(await carryOut()).toEqual(rejected('orders-open'))
  expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
  expect(await carryOut()).toEqual(DONE)
  await world().checkInvariants()
})

it.each<[string, () => Promise<unknown>]>([
  ['holding-frozen', () => flag('setFrozen', nameToBytes32('AAPL'), world().chain.account('alice'), true)],
  ['new-wallet-not-cleared', () => flag('setKyc', world().chain.account('carol'), false)],
  [
    'new-wallet-in-use',
    () =>
      world().settled({ who: 'carol', side: 'DEPOSIT', symbol: 'USDC', amount: usd(50), escrow: usd(50) }),
  ],
])('a move is rejected: %s', async (code, change) => {
  await lost()
  await approved()
  if (code === 'new-wallet-in-use') await join('carol')
  await change()
  expect(await carryOut()).toEqual(rejected(code))
})

it('a key that is no point on the curve is rejected, and another one can be given', async () => {
  await lost()
  await approveMove(world().chain, 'alice', 'carol', `0x02${'ff'.repeat(32)}`)
  expect(await carryOut()).toEqual(rejected('invalid-public-key'))
  await world().chain.send('carol', 'registry', 'acceptMove', world().chain.account('alice'), PUBLIC_KEY)
  expect(await carryOut()).toEqual(DONE)
})

/** Few symbols, so that both wallets hold some of the same. */
const symbol = fc.nat({ max: 199 }).map((number) => `S${number}`)
const holdings = fc.dictionary(symbol, fc.bigInt({ min: 1n, max: 10n ** 12n }), { maxKeys: 150 })
const entitlements = fc.dictionary(fc.nat({ max: 20 }).map(String), fc.bigInt({ min: 1n, max: 10n ** 12n }))
const portfolio = fc
  .record({ cash: fc.bigInt({ min: 0n, max: 10n ** 15n }), holdings, entitlements })
  .map(({ cash, holdings: held, entitlements: owed }): Portfolio => {
    const positions = Object.entries(held).map(([symbol, qty]) => [symbol, { qty, locked: 0n }] as const)
    return {
      ...{ ...emptyPortfolio(PUBLIC_KEY), cash, positions: Object.fromEntries(positions) },
      ...(Object.keys(owed).length > 0 && { entitlements: owed }),
    }
  })

it('each part leaves the sum of both portfolios as it was, and the last part leaves nothing', () => {
  const totals = (...all: Portfolio[]) => {
    const sums: Record<string, bigint> = { USDC: 0n }
    for (const { cash, positions, entitlements: owed = {} } of all) {
      sums.USDC = (sums.USDC ?? 0n) + cash
      for (const [index, qty] of Object.entries(owed)) sums[index] = (sums[index] ?? 0n) + qty
      for (const [symbol, { qty }] of Object.entries(positions)) sums[symbol] = (sums[symbol] ?? 0n) + qty
    }
    return sums
  }
  fc.assert(
    fc.property(portfolio, portfolio, (from, to) => {
      let [left, moved, partsLeft] = [from, to, 1]
      for (let parts = 1; partsLeft > 0; parts++) {
        const before = left
        ;({ left, moved, partsLeft } = divided(left, moved))
        expect(totals(left, moved)).toEqual(totals(from, to))
        const count = Object.keys(before.positions).length - Object.keys(left.positions).length
        expect(count).toBeLessThanOrEqual(POSITIONS_AT_ONCE)
        expect(parts).toBeLessThan(10)
      }
      const { entitlements: _, ...kept } = from
      expect(left).toEqual({ ...kept, cash: 0n, positions: {} })
      expect(moved.userPubKey).toBe(to.userPubKey)
    }),
    { seed: SEED },
  )
})

const flag = (method: string, ...args: unknown[]) => world().chain.send('owner', 'token', method, ...args)
async function join(who: 'carol'): Promise<void> {
  const { send, account, addresses } = world().chain
  await send(who, 'usdc', 'mint', account(who), usd(50))
  await send(who, 'usdc', 'approve', addresses.orderEscrow, usd(50))
  await send('admin', 'registry', 'setMember', account(who), true)
  await send(who, 'registry', 'join', ORG_ID)
}
