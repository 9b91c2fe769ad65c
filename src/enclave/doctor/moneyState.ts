// Reads what the invariants compare, from a chain and a broker, while both keep changing.
import * as z from 'zod'
import { type Broker, type BrokerOrder, joinedWith, type TradeActivity } from '../../broker/index.js'
import { blockTime, firstBlockSince } from '../../chain/blockTimes.js'
import { ChainAnswerError } from '../../chain/errors.js'
import { interfaces } from '../../chain/interfaces.js'
import { createLogReader } from '../../chain/logReader.js'
import type { Rpc } from '../../chain/rpc.js'
import { addressValue, bytes32Value, uintValue } from '../../chain/views.js'
import { type CorporateAction, retiredSymbols } from '../../protocol/corporateActions.js'
import type { Hex } from '../../protocol/hex.js'
import { bytes32ToName, nameToBytes32, orderPrefixOf } from '../../protocol/identifiers.js'
import type { Portfolio } from '../../protocol/portfolio.js'
import type { ChainState } from '../chainState.js'
import { RunFailure } from '../failures.js'
import { booksSince } from '../halts.js'
import type { BlockPoint } from '../heads.js'
import { USDC } from '../money.js'
import type { TimedFill } from '../order/placements.js'
import type { PortfolioStore } from '../stores.js'
import type { MoneyState } from './invariants.js'
import type { Payout } from './replay.js'

/** The books of the account at the broker. */
export type BrokerBooks = MoneyState['broker']

interface MoneySources {
  readonly chain: ChainState
  readonly rpc: Pick<Rpc, 'send'>
  readonly portfolios: PortfolioStore
  /** Read after the chain: what is filled in between is a trade that is not settled yet. */
  readonly books: (symbols: readonly string[]) => Promise<BrokerBooks>
}

const OPENED = interfaces.orderEscrow.getEvent('OrderOpened')?.topicHash ?? ''
const REFUNDED = interfaces.orderEscrow.getEvent('OrderRefunded')?.topicHash ?? ''
const ENTERED = interfaces.corporateActions.getEvent('ActionEnacted')?.topicHash ?? ''
const SETTLED = interfaces.orderEscrow.getEvent('OrderSettled')?.topicHash ?? ''
const MOVED = interfaces.confidentialLedger.getEvent('PortfolioMoved')?.topicHash ?? ''
const movedSchema = z.object({ from: addressValue, to: addressValue })
const openedSchema = z.object({ orderId: bytes32Value, account: addressValue })
const endedSchema = z.object({ orderId: bytes32Value })
const settledSchema = z.object({
  orderId: bytes32Value,
  /** Null where nothing is paid out: a trade. */
  payoutAsset: z.pipe(bytes32Value, z.transform(bytes32ToName)),
  payout: uintValue,
})

/** Blocks that one query spans at first. */
const SPAN = 5_000

/** @throws ChainUnavailableError, ChainAnswerError, BrokerError */
export async function readMoneyState(sources: MoneySources): Promise<MoneyState> {
  const { chain, rpc } = sources
  const { head } = await chain.look()
  const actions = await chain.actions(head)
  const { opened, payouts, moves, history } = await readEvents(rpc, chain, { head, actions })
  const orders = new Map(
    await Promise.all(
      [...opened.keys()].map(
        async (orderId) => [orderId, await chain.escrow.orders(orderId, head.hash)] as const,
      ),
    ),
  )
  const accounts = new Set([...opened.values(), ...moves.keys()])
  const portfolios = await readPortfolios(sources, [...accounts], head)
  const listed = await chain.token.listedSymbols(head.hash)
  const named = [...listed, ...[...orders.values()].map(({ symbol }) => symbol)].map(bytes32ToName)
  const held = [...portfolios.values()].flatMap((portfolio) => Object.keys(portfolio?.positions ?? {}))
  const all = [...named, ...held, ...retiredSymbols(actions)]
  const symbols = [...new Set(all)].filter((name) => name !== null)
  const [usdc, shares] = await Promise.all([readUsdc(chain, head), readShares(chain, symbols, head)])
  return { orders, payouts, moves, history, portfolios, usdc, shares, broker: await sources.books(symbols) }
}

/** The broker's books of the account; `cash` is all of it. */
export async function readBooks(broker: Broker, since: Date): Promise<BrokerBooks> {
  const [account, positions, orders, activities, booked] = await Promise.all([
    broker.getAccount(),
    broker.getPositions(),
    broker.getOrders({ after: since }),
    broker.getActivities({ after: since }),
    broker.getBookedEntries({ after: booksSince(since).after }),
  ])
  // Fees of the first day may belong to an earlier deployment.
  const firstDay = since.toISOString().slice(0, 10)
  return {
    cash: account.cash,
    positions: new Map(positions.map(({ symbol, qty }) => [symbol, qty])),
    orders: byFirstId(orders, activities.fills),
    activities: { ...activities, booked, fees: activities.fees.filter(({ day }) => day > firstDay) },
  }
}

/**
 * By `client_order_id`; the renewals of a limit order are part of it.
 * @param orders the oldest first
 * @param entries the account's fills, which say when; else the end of the order does
 */
export function byFirstId(orders: readonly BrokerOrder[], entries: readonly TradeActivity[]) {
  const entered = Map.groupBy(entries, ({ orderId }) => orderId)
  const found = new Map<string, BrokerOrder & { timed: readonly TimedFill[] }>()
  for (const order of orders) {
    const { symbol, filledQty, endedAt } = order
    const own = entered.get(order.id) ?? []
    const isWhole = own.reduce((sum, { qty }) => sum + qty, 0n) === filledQty
    const timed = isWhole ? own : [{ symbol, qty: filledQty, at: endedAt }]
    const id = orderPrefixOf(order.clientOrderId) ?? order.clientOrderId
    const before = found.get(id)
    found.set(
      id,
      before ? { ...joinedWith(before, [order]), timed: [...before.timed, ...timed] } : { ...order, timed },
    )
  }
  return found
}

/** Every order that was ever opened with its account, the payouts of all settlements, and every move by its new wallet. */
async function readEvents(
  rpc: MoneySources['rpc'],
  chain: ChainState,
  { head, actions }: { head: BlockPoint; actions: readonly CorporateAction[] },
) {
  const opened = new Map<Hex, Hex>()
  const payouts = new Map<Hex, Payout>()
  const moves = new Map<Hex, Hex>()
  const queries = [
    { address: chain.escrow.address, topics: [[OPENED, SETTLED, REFUNDED]] },
    { address: await chain.token.actions(head.hash), topics: [ENTERED] },
    { address: chain.ledger.address, topics: [MOVED] },
  ]
  const reader = createLogReader({ rpc, queries, maxBlocks: SPAN })
  const timeOf = (block: number) => blockTime(rpc, block)
  const records = new Set(actions.flatMap(({ kind, recordAt }) => (kind === 'ENTITLEMENT' ? [recordAt] : [])))
  const after = new Map<number, number>()
  for (const at of records) after.set(at, await firstBlockSince(timeOf, at + 1, head.number))
  const [entered, ended, moments]: [number[], Map<Hex, number>, Map<number, number>] = [
    [],
    new Map(),
    new Map(),
  ]
  let place = 0
  let from = await firstBlockSince(timeOf, await chain.deployedAt(), head.number)
  while (from <= head.number) {
    const piece = await reader.readPiece({ from, to: head.number })
    if (piece === undefined) throw new ChainAnswerError('the node is behind')
    for (const log of piece.logs) {
      place++
      for (const [at, block] of after) if (log.blockNumber < block) moments.set(at, place + 1)
      if (log.topics[0] === ENTERED) {
        entered.push(place)
        continue
      }
      if (log.topics[0] === MOVED) {
        const { from: lost, to } = movedSchema.parse(
          interfaces.confidentialLedger.parseLog(log)?.args.toObject(),
        )
        moves.set(to, lost)
        continue
      }
      const event = interfaces.orderEscrow.parseLog(log)?.args.toObject()
      if (log.topics[0] === OPENED) {
        const { orderId, account } = openedSchema.parse(event)
        opened.set(orderId, account)
        continue
      }
      const ending = endedSchema.parse(event)
      ended.set(ending.orderId, place)
      if (log.topics[0] === REFUNDED) continue
      const { orderId, payoutAsset: asset, payout: amount } = settledSchema.parse(event)
      if (asset !== null) payouts.set(orderId, { asset, amount })
    }
    from = piece.to + 1
  }
  return { opened, payouts, moves, history: { actions, entered, ended, moments } }
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

async function readUsdc(chain: ChainState, { hash }: BlockPoint): Promise<MoneyState['usdc']> {
  const usdc = await chain.usdc()
  const { escrow, pool } = chain
  const [inPool, inEscrow, escrowed, claimed] = await Promise.all([
    usdc.balanceOf(pool.address, hash),
    usdc.balanceOf(escrow.address, hash),
    escrow.escrowed(hash),
    escrow.claimed(nameToBytes32(USDC), hash),
  ])
  return { pool: inPool, escrow: inEscrow, escrowed, claimed }
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
