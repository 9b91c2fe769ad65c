// How much of what the broker holds a symbol's next batch may show. A batch of one account's fill would show its size.
import type { BrokerOrder, BrokerPosition } from '../broker/index.js'
import { ZERO_ADDRESS } from '../protocol/address.js'
import type { Hex } from '../protocol/hex.js'
import { orderPrefixOf } from '../protocol/identifiers.js'
import type { ChainState } from './chainState.js'
import type { BlockPoint } from './heads.js'
import { min } from './money.js'
import type { Run } from './run.js'

/** Orders are for the day: one that was filled was submitted this long before at most, weekends and all. */
const MAX_ORDER_LIFE_MS = 4 * 86_400_000

/** The broker's holdings, and the recent orders that they follow from. */
export interface Holdings {
  /** The broker's time before the orders were read, in Unix milliseconds. */
  readonly readAt: number
  readonly positions: readonly BrokerPosition[]
  /** Those that are live or have fills. */
  readonly orders: readonly BrokerOrder[]
  /** By `client_order_id`; null or absent where no account opened the order. */
  readonly accounts: ReadonlyMap<string, Hex | null>
  /** Symbols that were filled while this was read: the positions may include fills that `orders` does not. */
  readonly filling: ReadonlySet<string>
}

/**
 * Reads the orders before the positions and again after them. It asks the chain for the accounts of all symbols' fills at
 * once, sorted: the node must not learn which orders are of one symbol.
 */
export async function readHoldings(run: Run, block: BlockPoint): Promise<Holdings> {
  const { broker, batching, chain, clock } = run
  const deployedAt = (await chain.deployedAt()) * 1_000
  // An older fill has waited long enough, whether it is found or not.
  const from = Math.max(deployedAt, clock.now() - batching.maxDelayMs) - MAX_ORDER_LIFE_MS
  const after = new Date(Math.max(0, from))
  const { timestamp } = await broker.getClock()
  const orders = await broker.getOrders({ after })
  const positions = await broker.getPositions()
  const filled = orders.filter(({ filledQty }) => filledQty > 0n).map(({ clientOrderId }) => clientOrderId)
  const filledBefore = new Map(orders.map(({ id, filledQty }) => [id, filledQty]))
  const filledSince = (await broker.getOrders({ after })).filter(
    ({ id, filledQty }) => filledQty !== (filledBefore.get(id) ?? 0n),
  )
  return {
    readAt: timestamp.getTime(),
    positions,
    orders: orders.filter(({ state, filledQty }) => state === 'live' || filledQty > 0n),
    accounts: await takersOf(chain, filled, block),
    filling: new Set(filledSince.map(({ symbol }) => symbol)),
  }
}

/**
 * The account that opened each order, null where none did, by `client_order_id`; without ids of another form than the platform's. It
 * asks for all at once, sorted: see `readHoldings`.
 */
export async function takersOf(
  { escrow }: Pick<ChainState, 'escrow'>,
  clientOrderIds: readonly string[],
  block: BlockPoint,
): Promise<Map<string, Hex | null>> {
  const prefixes = new Map(
    clientOrderIds.flatMap((id) => {
      const prefix = orderPrefixOf(id)
      return prefix === null ? [] : [[id, prefix] as const]
    }),
  )
  const asked = [...new Set(prefixes.values())].sort()
  const takers = await Promise.all(asked.map((prefix) => escrow.takenBy(`0x${prefix}`, block.hash)))
  const known = new Map(asked.map((prefix, index) => [prefix, takers[index]]))
  return new Map([...prefixes].map(([id, prefix]) => [id, accountOrNull(known.get(prefix))]))
}

/**
 * By how much the supply of a symbol may change now, and until when fills are counted then. An order counts once, when it
 * has ended: until then its fills stay hidden, as do those of later orders.
 *
 * Without company the supply changes by what waited long enough, and by no more than these fills explain. A difference
 * that they do not explain, such as a correction by the broker, is shown with company, or when no recent order could explain it.
 * @param symbol.held the broker's holding of it, less what wallets have under its former names
 */
export function dueChange(
  { batching, clock }: Pick<Run, 'batching' | 'clock'>,
  symbol: { names: readonly string[]; held: bigint; expectedSupply: bigint; countedUntil: bigint },
  { readAt, orders, accounts, filling }: Holdings,
): { change: bigint; countedUntil: bigint } {
  const { names, held, expectedSupply, countedUntil } = symbol
  if (names.some((name) => filling.has(name))) return { change: 0n, countedUntil }
  const ofSymbol = orders.filter((order) => names.includes(order.symbol))
  const uncounted = ofSymbol.filter((order) => !endedBefore(order, Number(countedUntil)))
  const ended = uncounted.filter((order) => endedBefore(order, readAt))
  const traded = new Set(ended.flatMap(({ clientOrderId }) => accounts.get(clientOrderId) ?? []))
  const hasCompany = traded.size >= batching.accounts
  const waitedSince = Math.min(readAt, clock.now() - batching.maxDelayMs)
  const until = Math.max(Number(countedUntil), hasCompany ? readAt : waitedSince)
  const shown = boughtBy(uncounted.filter((order) => endedBefore(order, until)))
  const change = held - (boughtBy(uncounted) - shown) - expectedSupply
  const isQuiet = ofSymbol.every((order) => endedBefore(order, waitedSince))
  return {
    change: hasCompany || isQuiet ? change : noFurtherThan(shown, change),
    countedUntil: BigInt(until),
  }
}

function endedBefore({ endedAt }: BrokerOrder, time: number): boolean {
  return endedAt !== null && endedAt.getTime() < time
}

/** Shares that orders bought, less those that they sold. */
function boughtBy(orders: readonly BrokerOrder[]): bigint {
  return orders.reduce((sum, { side, filledQty }) => sum + (side === 'buy' ? filledQty : -filledQty), 0n)
}

/** The part of a change that lies between nothing and a limit. */
function noFurtherThan(limit: bigint, change: bigint): bigint {
  if (change > 0n) return limit > 0n ? min(change, limit) : 0n
  return limit < 0n ? -min(-change, -limit) : 0n
}

function accountOrNull(taker: Hex | undefined): Hex | null {
  return taker === undefined || taker === ZERO_ADDRESS ? null : taker
}
