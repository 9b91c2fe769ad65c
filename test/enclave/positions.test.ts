import { expect, it } from 'vitest'
import * as z from 'zod'
import { createAuthorizer } from '../../src/enclave/authorizer.js'
import { createChainState } from '../../src/enclave/chainState.js'
import { createRunClock } from '../../src/enclave/clock.js'
import { hasRoom } from '../../src/enclave/room.js'
import { createPortfolioStore } from '../../src/enclave/stores.js'
import { signedAuthorizationSchema } from '../../src/protocol/authorization.js'
import { type Hex, ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { MAX_PORTFOLIO_BYTES, sealBlob } from '../../src/protocol/ledgerBlob.js'
import { emptyPortfolio, type Portfolio, portfolioSchema } from '../../src/protocol/portfolio.js'
import { sealUserBlob } from '../../src/protocol/userBlob.js'
import { ENCLAVE_KEYS, type OpenedOrder, USER_PUBKEY } from './support/parties.js'
import { buy, sell } from './support/scenarios.js'
import { useWorld } from './support/world.js'

const world = useWorld()
const ALICE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const ID: Hex = `0x${'ab'.repeat(32)}`
const symbolOf = (index: number) => `S${String(index).padStart(4, '0')}`

/** So many more positions of a share each. */
function withPositions(portfolio: Portfolio, count: number): Portfolio {
  const more = Array.from({ length: count }, (_, index) => [symbolOf(index), { qty: 10n ** 9n, locked: 0n }])
  return { ...portfolio, positions: { ...portfolio.positions, ...Object.fromEntries(more) } }
}

/** As many positions more as leave room. */
function filled(portfolio: Portfolio, hasRoomLeft: (portfolio: Portfolio) => boolean): Portfolio {
  let count = 1
  while (hasRoomLeft(withPositions(portfolio, count))) count++
  return withPositions(portfolio, count - 1)
}

/** With so many unpaid dividends. */
function owed(portfolio: Portfolio, count: number): Portfolio {
  const dividends = Array.from({ length: count }, (_, index) => [String(1_000 + index), 10n ** 9n])
  return { ...portfolio, entitlements: Object.fromEntries(dividends) }
}

const order = {
  ...({ side: 'BUY', symbol: 'AAPL', notional: 10n ** 12n, escrow: 10n ** 12n } as const),
  ...{ locked: 0n, brokerOrderId: '', placedAt: 1_800_000_000 },
}
const openOrders = Object.fromEntries(
  Array.from({ length: 20 }, (_, index) => [`0x${String(index).padStart(64, '0')}`, order]),
)
const roomForMore = (portfolio: Portfolio) => hasRoom(portfolio, { spareSale: true })

it('a portfolio that was full at its last buy fits an authorization with a dividend of each position', async () => {
  const limit = { price: 2n ** 64n - 1n, timeInForce: 'GTD' } as const
  const ordersOf = (brokerOrderId: string) =>
    Object.fromEntries(Object.keys(openOrders).map((id) => [id, { ...order, limit, brokerOrderId }]))
  const full = filled({ ...emptyPortfolio(USER_PUBKEY), openOrders: ordersOf('') }, roomForMore)
  const { length: count } = Object.keys(full.positions)
  expect(count).toBeGreaterThan(150)
  const grown = owed(
    { ...full, openOrders: ordersOf('never-placed'), writtenAt: 1_800_000_000, actions: 99_999 },
    count,
  )
  const value = z.encode(portfolioSchema, grown)
  const place = { chainId: 1, ledger: ALICE, id: ID, version: 1n } as const
  const enclaveBlob = await sealBlob(value, new Uint8Array(32).fill(1), place, undefined, MAX_PORTFOLIO_BYTES)
  const userBlob = await sealUserBlob(value, USER_PUBKEY, ID, 1n, MAX_PORTFOLIO_BYTES)
  const bound = { orderId: ID, account: ALICE, asset: ID, amount: '1', commit: ID, state: '1' }
  const message = { ...bound, version: '1', previous: ID, actions: ID, enclaveBlob, userBlob }
  const signed = { primaryType: 'PortfolioUpdate', message, signature: `0x${'11'.repeat(64)}1b` }
  expect(signedAuthorizationSchema.safeParse(signed).success).toBe(true)
})

/** Writes what Alice holds, as a run of her open order would. */
async function write({ orderId }: OpenedOrder, change: (portfolio: Portfolio) => Portfolio): Promise<void> {
  const deps = world().deps()
  const chain = createChainState({ ...deps, pollMs: 0 })
  const portfolios = createPortfolioStore(chain, ENCLAVE_KEYS)
  const account = world().chain.account('alice')
  const { portfolio, ...stored } = await portfolios.load(account, (await chain.look()).head)
  if (!portfolio) throw new Error('Alice has no portfolio')
  const { commit } = await chain.escrow.orders(orderId)
  const sealed = await portfolios.seal(account, change(portfolio), stored)
  const clock = createRunClock(deps.clock, Math.floor(deps.clock.now() / 1_000) + 60)
  const bound = { orderId, account, asset: ZERO_BYTES32, amount: 0n, commit, state: 1n }
  await createAuthorizer({ ...deps, chain, clock }).submit({
    primaryType: 'PortfolioUpdate',
    message: { ...bound, ...sealed },
  })
}

it('a full portfolio refuses a buy before the broker hears of it, sells, and ends the order in hand', async () => {
  await world().settled(buy(1_000))
  const inHand = await world().live(sell(100))
  await write(inHand, (portfolio) => filled(portfolio, roomForMore))
  const { length: sent } = world().broker.control.orders()
  expect(await world().refused({ ...buy(100), symbol: 'MSFT' })).toBe('portfolio-full')
  expect(world().broker.control.orders()).toHaveLength(sent)
  world().broker.control.clear({ what: 'fills' })
  await world().settled(sell(100))
  world().broker.control.release({ symbol: 'AAPL' })
  expect(await world().run(inHand)).toMatchObject({ outcome: 'settled' })
  expect((await world().portfolio('alice'))?.openOrders).toEqual({})
})
