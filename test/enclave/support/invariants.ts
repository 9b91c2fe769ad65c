// What always holds: nobody's cash or shares are more than there is.
import { expect } from 'vitest'
import type { ChainState } from '../../../src/enclave/chainState.js'
import type { PortfolioStore } from '../../../src/enclave/portfolioStore.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { clientOrderIdOf, nameToBytes32 } from '../../../src/protocol/identifiers.js'
import type { OpenOrder, Portfolio } from '../../../src/protocol/portfolio.js'
import { divide, parseDecimal } from '../../../src/protocol/units.js'
import type { ActivityView, BrokerStandIn } from '../../../src/sandbox/broker/index.js'
import { borneByPlatform } from '../../support/brokerBooks.js'

export interface InvariantDeps {
  chain: ChainState
  portfolios: PortfolioStore
  accounts: Hex[]
  broker: BrokerStandIn
  /** What earlier stand-ins of the same account booked. */
  before: readonly ActivityView[]
  brokerCashAtStart: string
  /** USDC base units that buys cost which were reclaimed after their fill: the platform's loss. */
  loss: bigint
}

interface HeldOrder extends OpenOrder {
  orderId: Hex
  /** Share base units filled so far, and their price in millionths of a dollar to nine places. */
  filled: bigint
  /** USDC base units, rounded up. */
  value: bigint
}

/**
 * Pool USDC + escrowed USDC of held buys + change of the broker's cash + what buys from cash cost that are filled and
 * not yet settled ≥ the sum of all `cash`; the broker's quantity + what is sold and not yet settled ≥ the sum of all
 * positions + withdrawn shares. The platform bears two things: the fees of purchases until the shares are sold, and half a
 * cent of each fill of an order beyond the first, as the broker rounds each.
 */
export async function checkInvariants(deps: InvariantDeps): Promise<void> {
  const { chain } = deps
  const { number } = await chain.latest()
  const loaded = await Promise.all(deps.accounts.map((account) => deps.portfolios.load(account, number)))
  const portfolios = loaded.flatMap(({ portfolio }) => portfolio ?? [])
  const held = portfolios.flatMap((portfolio) => heldOrders(portfolio, deps.broker))
  await checkCash(deps, portfolios, held, number)
  await checkShares(deps, portfolios, held, number)
}

async function checkCash(
  deps: InvariantDeps,
  portfolios: Portfolio[],
  held: HeldOrder[],
  block: number,
): Promise<void> {
  const { chain, broker } = deps
  const pool = await (await chain.usdc()).balanceOf(chain.addresses.platformPool, block)
  const open = await Promise.all(
    held.map(async (order) => (await chain.escrow.orders(order.orderId, block)).state),
  )
  const escrowed = sum(held.filter((_, i) => open[i] === 'OPEN').map(({ escrow }) => escrow))
  const change = usdc(cashOf(broker)) - usdc(deps.brokerCashAtStart)
  const spent = sum(
    held.filter(({ side, escrow }) => side === 'BUY' && escrow === 0n).map(({ value }) => value),
  )
  const cash = sum(portfolios.map((portfolio) => portfolio.cash))
  const borne = deps.loss + borneByPlatform([...deps.before, ...broker.control.activities()])
  expect(pool + escrowed + change + spent + borne).toBeGreaterThanOrEqual(cash)
}

async function checkShares(
  deps: InvariantDeps,
  portfolios: Portfolio[],
  held: HeldOrder[],
  block: number,
): Promise<void> {
  const { chain, broker } = deps
  const symbols = new Set(portfolios.flatMap(({ positions }) => Object.keys(positions)))
  for (const symbol of symbols) {
    const id = nameToBytes32(symbol)
    const supply = await chain.token.totalSupply(id, block)
    const withdrawn = supply - (await chain.token.balanceOf(chain.addresses.platformPool, id, block))
    const positions = sum(portfolios.map(({ positions }) => positions[symbol]?.qty ?? 0n))
    const sold = sum(held.filter((o) => o.side === 'SELL' && o.symbol === symbol).map(({ filled }) => filled))
    expect(quantityOf(broker, symbol) + sold).toBeGreaterThanOrEqual(positions + withdrawn)
  }
  for (const { positions, openOrders } of portfolios) {
    for (const [symbol, { qty, locked }] of Object.entries(positions)) {
      const locks = Object.values(openOrders).filter((order) => order.symbol === symbol)
      expect(locked).toBe(sum(locks.map((order) => order.locked)))
      expect(locked).toBeLessThanOrEqual(qty)
    }
  }
}

function heldOrders({ openOrders }: Portfolio, broker: BrokerStandIn): HeldOrder[] {
  return Object.entries(openOrders).map(([id, entry]) => {
    const orderId: Hex = `0x${id.slice(2)}`
    const order = broker.control.orders().find((o) => o.client_order_id === clientOrderIdOf(orderId))
    const filled = parseDecimal(order?.filled_qty ?? '0', 9)
    const price = parseDecimal(order?.filled_avg_price ?? '0', 9)
    return { ...entry, orderId, filled, value: divide(filled * price, 10n ** 12n, 'up') }
  })
}

function cashOf(broker: BrokerStandIn): string {
  const account = broker.control.accounts().find(({ name }) => name === 'enclave')
  if (!account) throw new Error('the broker has no account of the enclave')
  return account.cash
}

function quantityOf(broker: BrokerStandIn, symbol: string): bigint {
  const account = broker.control.accounts().find(({ name }) => name === 'enclave')
  return parseDecimal(account?.positions[symbol] ?? '0', 9)
}

function usdc(text: string): bigint {
  return parseDecimal(text, 6, 'down')
}

function sum(values: bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n)
}
