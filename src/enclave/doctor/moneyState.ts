// Reads what the invariants compare, from a chain and a broker, while both keep changing.
import { Interface, type JsonRpcApiProvider } from 'ethers'
import { z } from 'zod'
import type { Broker } from '../../broker/index.js'
import { orderEscrowAbi } from '../../chain/generated/orderEscrowAbi.js'
import { addressValue, bytes32Value, uintValue } from '../../chain/values.js'
import type { Hex } from '../../protocol/hex.js'
import { bytes32ToName, nameToBytes32 } from '../../protocol/identifiers.js'
import type { Portfolio } from '../../protocol/portfolio.js'
import type { ChainState } from '../chainState.js'
import { RunFailure } from '../failures.js'
import type { BlockPoint } from '../heads.js'
import { USDC } from '../money.js'
import type { PortfolioStore } from '../portfolioStore.js'
import type { MoneyState } from './invariants.js'
import type { Payout } from './replay.js'

/** The books of the account at the broker. */
export type BrokerBooks = MoneyState['broker']

export interface MoneySources {
  readonly chain: ChainState
  readonly provider: JsonRpcApiProvider
  readonly portfolios: PortfolioStore
  /** Read after the chain: what is filled in between is a trade that is not settled yet. */
  readonly books: (symbols: readonly string[]) => Promise<BrokerBooks>
  /** Every wallet that can hold USDC, where all of them are known. */
  readonly wallets?: readonly Hex[] | undefined
}

const escrowInterface = new Interface(orderEscrowAbi)
const OPENED = escrowInterface.getEvent('OrderOpened')?.topicHash ?? ''
const SETTLED = escrowInterface.getEvent('OrderSettled')?.topicHash ?? ''
const openedSchema = z.object({ orderId: bytes32Value, account: addressValue })
const settledSchema = z.object({
  orderId: bytes32Value,
  /** Null where nothing is paid out: a trade. */
  payoutAsset: bytes32Value.transform(bytes32ToName),
  payout: uintValue,
})

/** Blocks of one query for logs; halved when the node refuses as many. */
const SPAN = 5_000

/** @throws ChainUnavailableError, ChainAnswerError, BrokerError */
export async function readMoneyState(sources: MoneySources): Promise<MoneyState> {
  const { chain, provider } = sources
  const { head } = await chain.look()
  const { opened, payouts } = await readEvents(provider, chain, head)
  const orders = new Map(
    await Promise.all(
      [...opened.keys()].map(
        async (orderId) => [orderId, await chain.escrow.orders(orderId, head.hash)] as const,
      ),
    ),
  )
  const portfolios = await readPortfolios(sources, [...new Set(opened.values())], head)
  const symbols = await symbolsOf(chain, portfolios, head)
  const [usdc, shares] = await Promise.all([readUsdc(sources, head), readShares(chain, symbols, head)])
  return { orders, payouts, portfolios, usdc, shares, broker: await sources.books(symbols) }
}

/** What the broker says of the account; `cash` is all of it. */
export async function readBooks(broker: Broker, since: Date): Promise<BrokerBooks> {
  const [account, positions, orders, activities] = await Promise.all([
    broker.getAccount(),
    broker.getPositions(),
    broker.getOrders({ after: since }),
    broker.getActivities({ after: since }),
  ])
  // Fees of the first day may belong to an earlier deployment.
  const firstDay = since.toISOString().slice(0, 10)
  return {
    cash: account.cash,
    positions: new Map(positions.map(({ symbol, qty }) => [symbol, qty])),
    orders: new Map(orders.map((order) => [order.clientOrderId, order])),
    activities: { ...activities, fees: activities.fees.filter(({ day }) => day > firstDay) },
  }
}

/** Every order that was ever opened with its account, and what settlements have paid out. */
async function readEvents(provider: JsonRpcApiProvider, chain: ChainState, head: BlockPoint) {
  const opened = new Map<Hex, Hex>()
  const payouts = new Map<Hex, Payout>()
  const first = await firstBlockOf(provider, await chain.deployedAt(), head.number)
  const topics = [[OPENED, SETTLED]]
  let span = SPAN
  for (let from = first; from <= head.number; ) {
    const to = Math.min(from + span - 1, head.number)
    const filter = { address: chain.escrow.address, topics, fromBlock: from, toBlock: to }
    try {
      for (const log of await provider.getLogs(filter)) {
        const event = escrowInterface.parseLog(log)?.args.toObject()
        if (log.topics[0] === OPENED) {
          const { orderId, account } = openedSchema.parse(event)
          opened.set(orderId, account)
          continue
        }
        const { orderId, payoutAsset: asset, payout: amount } = settledSchema.parse(event)
        if (asset !== null) payouts.set(orderId, { asset, amount })
      }
      from = to + 1
    } catch (error) {
      if (span === 1) throw error
      span = Math.ceil(span / 2)
    }
  }
  return { opened, payouts }
}

/** The first block of a time or later, by bisection. Several blocks may have one time. */
async function firstBlockOf(provider: JsonRpcApiProvider, time: number, highest: number): Promise<number> {
  let [low, high] = [0, highest]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const block = await provider.getBlock(middle)
    if (block !== null && block.timestamp < time) low = middle + 1
    else high = middle
  }
  return low
}

async function readPortfolios(
  { portfolios }: MoneySources,
  accounts: readonly Hex[],
  head: BlockPoint,
): Promise<Map<Hex, Portfolio | null>> {
  const found = new Map<Hex, Portfolio | null>()
  for (const account of accounts) {
    try {
      const { portfolio, version } = await portfolios.load(account, head)
      if (version > 0n) found.set(account, portfolio)
    } catch (error) {
      if (!(error instanceof RunFailure)) throw error
      found.set(account, null)
    }
  }
  return found
}

async function symbolsOf(
  chain: ChainState,
  portfolios: ReadonlyMap<Hex, Portfolio | null>,
  { hash }: BlockPoint,
): Promise<string[]> {
  const listed = (await chain.token.listedSymbols(hash)).map(bytes32ToName)
  const held = [...portfolios.values()].flatMap((portfolio) => Object.keys(portfolio?.positions ?? {}))
  return [...new Set([...listed.filter((name) => name !== null), ...held])]
}

async function readUsdc({ chain, wallets }: MoneySources, { hash }: BlockPoint): Promise<MoneyState['usdc']> {
  const usdc = await chain.usdc()
  const { escrow, pool } = chain
  const [inPool, inEscrow, escrowed, claimed] = await Promise.all([
    usdc.balanceOf(pool.address, hash),
    usdc.balanceOf(escrow.address, hash),
    escrow.escrowed(hash),
    escrow.claimed(nameToBytes32(USDC), hash),
  ])
  const known = { pool: inPool, escrow: inEscrow, escrowed, claimed }
  if (wallets === undefined) return known
  const [supply, ...balances] = await Promise.all([
    usdc.totalSupply(hash),
    ...wallets.map((wallet) => usdc.balanceOf(wallet, hash)),
  ])
  return { ...known, elsewhere: { supply, wallets: balances.reduce((total, each) => total + each, 0n) } }
}

async function readShares(
  { token, pool, escrow }: ChainState,
  symbols: readonly string[],
  { hash }: BlockPoint,
): Promise<MoneyState['shares']> {
  const rows = symbols.map(async (symbol) => {
    const id = nameToBytes32(symbol)
    const [supply, inPool, inEscrow, claimed] = await Promise.all([
      token.totalSupply(id, hash),
      token.balanceOf(pool.address, id, hash),
      token.balanceOf(escrow.address, id, hash),
      escrow.claimed(id, hash),
    ])
    return [symbol, { supply, pool: inPool, escrow: inEscrow, claimed }] as const
  })
  return new Map(await Promise.all(rows))
}
