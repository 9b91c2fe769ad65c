// What always holds of the platform's money, whatever happened.
import { expect } from 'vitest'
import { hexToBytes } from '../../../src/protocol/hex.js'
import { accountIdOf, nameToBytes32 } from '../../../src/protocol/identifiers.js'
import { ledgerKey, openBlob } from '../../../src/protocol/ledgerBlob.js'
import { type OpenOrder, type Portfolio, portfolioSchema } from '../../../src/protocol/portfolio.js'
import { parseDecimal, SHARE_DECIMALS, USDC_DECIMALS } from '../../../src/protocol/units.js'
import type { SandboxAccount } from '../../../src/sandbox/accounts.js'
import { BROKER_CASH } from '../../../src/sandbox/settings.js'
import { borneByPlatform } from '../../support/brokerBooks.js'
import type { Desk } from './desk.js'
import { brokerOrder } from './trader.js'

/** Opens every portfolio as the enclave would, and holds their sums against chain and broker. */
export async function checkInvariants(desk: Desk): Promise<void> {
  const opened = await Promise.all(
    desk.sandbox.accounts.employees.map((account) => openPortfolio(desk, account)),
  )
  const portfolios = opened.filter((portfolio) => portfolio !== null)
  const held = portfolios.flatMap(({ openOrders }) => entriesOf(openOrders))
  await checkCash(desk, portfolios, held)
  for (const symbol of desk.sandbox.info.symbols) await checkShares(desk, symbol, portfolios, held)
  for (const portfolio of portfolios) checkLocks(portfolio)
}

type Held = OpenOrder & { orderId: `0x${string}` }

function entriesOf(openOrders: Portfolio['openOrders']): Held[] {
  return Object.entries(openOrders).map(([id, order]) => ({ orderId: `0x${id.slice(2)}` as const, ...order }))
}

/** Pool USDC + escrowed USDC of held buys + change of the broker's cash ≥ the sum of all cash. */
async function checkCash(
  { sandbox, contracts, usdc }: Desk,
  portfolios: Portfolio[],
  held: Held[],
): Promise<void> {
  const pool = await usdc.balanceOf(contracts.pool.address)
  const states = await Promise.all(held.map(({ orderId }) => contracts.escrow.orders(orderId)))
  const escrowed = held.reduce(
    (sum, order, index) => sum + (states[index]?.state === 'OPEN' ? order.escrow : 0n),
    0n,
  )
  const account = sandbox.broker.accounts().find(({ name }) => name === 'enclave')
  const before = parseDecimal(BROKER_CASH, USDC_DECIMALS)
  const change = parseDecimal(account?.cash ?? '0', USDC_DECIMALS) - before
  const borne = borneByPlatform(sandbox.broker.activities())
  const owed = portfolios.reduce((sum, { cash }) => sum + cash, 0n)
  expect(pool + escrowed + change + borne, 'the cash that stands behind all cash').toBeGreaterThanOrEqual(
    owed,
  )
}

/** The broker's quantity + what is sold and not yet settled ≥ the sum of all positions + withdrawn shares. */
async function checkShares(desk: Desk, symbol: string, portfolios: Portfolio[], held: Held[]): Promise<void> {
  const { sandbox, contracts } = desk
  const id = nameToBytes32(symbol)
  const account = sandbox.broker.accounts().find(({ name }) => name === 'enclave')
  const quantity = parseDecimal(account?.positions[symbol] ?? '0', SHARE_DECIMALS)
  const sold = held
    .filter((order) => order.side === 'SELL' && order.symbol === symbol)
    .reduce((sum, { orderId }) => sum + soldQuantity(desk, orderId), 0n)
  const positions = portfolios.reduce((sum, portfolio) => sum + (portfolio.positions[symbol]?.qty ?? 0n), 0n)
  const supply = await contracts.token.totalSupply(id)
  const withdrawn = supply - (await contracts.token.balanceOf(contracts.pool.address, id))
  expect(quantity + sold, `the ${symbol} that stands behind all ${symbol}`).toBeGreaterThanOrEqual(
    positions + withdrawn,
  )
}

function soldQuantity({ sandbox }: Desk, orderId: `0x${string}`): bigint {
  return parseDecimal(brokerOrder(sandbox, orderId)?.filled_qty ?? '0', SHARE_DECIMALS)
}

/** A position's `locked` is the sum of what its open orders lock, and at most its quantity. */
function checkLocks({ positions, openOrders }: Portfolio): void {
  for (const [symbol, { qty, locked }] of Object.entries(positions)) {
    const orders = Object.values(openOrders).filter((order) => order.symbol === symbol)
    expect(locked).toBe(orders.reduce((sum, order) => sum + order.locked, 0n))
    expect(locked).toBeLessThanOrEqual(qty)
  }
}

async function openPortfolio(
  { sandbox, contracts }: Desk,
  { address }: SandboxAccount,
): Promise<Portfolio | null> {
  const id = accountIdOf(address)
  const block = await sandbox.provider.getBlockNumber()
  const [version, blob] = await Promise.all([
    contracts.ledger.portfolioVersion(id, block),
    contracts.ledger.enclaveBlob(id, block),
  ])
  if (version === 0n) return null
  const key = ledgerKey(hexToBytes(sandbox.secrets.ledgerMasterKey), 'account', id)
  const place = { chainId: sandbox.info.chainId, ledger: contracts.ledger.address, id, version }
  return portfolioSchema.parse(await openBlob(blob, key, place))
}
