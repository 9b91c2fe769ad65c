// When a symbol's fills may be shown in a batch. A batch of one account's fill would show its size to everybody.
import type { BrokerOrder } from '../broker/index.js'
import { ZERO_ADDRESS } from '../protocol/address.js'
import type { Hex } from '../protocol/hex.js'
import type { BlockPoint } from './chainState.js'
import type { Run } from './run.js'

/** How long the fills of a symbol wait for company. */
export interface Batching {
  /** Accounts that must have traded the symbol since its last batch. */
  accounts: number
  /** After this, a fill is in the next batch whoever else has traded. Milliseconds. */
  maxDelayMs: number
}

/** Orders are for the day: one that was filled was submitted this long before at most, weekends and all. */
const MAX_ORDER_LIFE_MS = 4 * 86_400_000

/** Fills that may still wait for company, and whose orders they are. */
export interface RecentFills {
  readonly orders: readonly BrokerOrder[]
  /** By `client_order_id`; absent where no account opened the order. */
  readonly accounts: ReadonlyMap<string, Hex>
}

/**
 * Reads the fills of all symbols, and asks the chain for all of their accounts at once, sorted: the node must not learn
 * which orders are of one symbol.
 */
export async function readRecentFills(run: Run, block: BlockPoint): Promise<RecentFills> {
  const { broker, batching, chain, clock } = run
  const deployedAt = (await chain.deployedAt()) * 1_000
  // An older fill has waited long enough, whether it is found or not.
  const from = Math.max(deployedAt, clock.now() - batching.maxDelayMs) - MAX_ORDER_LIFE_MS
  const orders = (await broker.getOrders({ after: new Date(Math.max(0, from)) })).filter(
    ({ filledQty }) => filledQty > 0n,
  )
  const ids = [...new Set(orders.map(({ clientOrderId }) => clientOrderId))]
    .filter((id) => PREFIX.test(id))
    .sort()
  const holders = await Promise.all(ids.map((id) => chain.escrow.takenBy(`0x${id}`, block.hash)))
  const accounts = ids.map((id, index): [string, Hex] => [id, holders[index] ?? ZERO_ADDRESS])
  return { orders, accounts: new Map(accounts.filter(([, account]) => account !== ZERO_ADDRESS)) }
}

/**
 * Whether the fills of a symbol since its last batch may be shown now, and until when fills are counted then (Unix
 * milliseconds). A difference that no fill explains, such as a split, is batched at once.
 */
export function isBatchDue(
  { batching, clock }: Pick<Run, 'batching' | 'clock'>,
  symbol: string,
  { countedUntil }: { countedUntil: bigint },
  { orders, accounts }: RecentFills,
): { isDue: boolean; countedUntil: bigint } {
  const since = Number(countedUntil)
  const fills = orders.filter((order) => order.symbol === symbol && timeOf(order) > since)
  if (fills.length === 0) return { isDue: true, countedUntil }
  const times = fills.map(timeOf)
  const traded = new Set(fills.flatMap(({ clientOrderId }) => accounts.get(clientOrderId) ?? []))
  const hasWaited = clock.now() - Math.min(...times) >= batching.maxDelayMs
  return {
    isDue: hasWaited || traded.size >= batching.accounts,
    countedUntil: BigInt(Math.max(...times, since)),
  }
}

/** When it was filled; of one that was filled in part, when it was placed. */
function timeOf({ filledAt, createdAt }: BrokerOrder): number {
  return (filledAt ?? createdAt).getTime()
}

/** The first 16 bytes of an orderId. */
const PREFIX = /^[0-9a-f]{32}$/
