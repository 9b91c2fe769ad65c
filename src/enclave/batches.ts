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

/**
 * Whether the fills of a symbol since its last batch may be shown now, and until when fills are counted then (Unix
 * milliseconds). What no fill explains, such as a split, waits for nobody.
 */
export async function mayBatch(
  run: Run,
  symbol: string,
  { countedUntil }: { countedUntil: bigint },
  block: BlockPoint,
): Promise<{ allowed: boolean; countedUntil: bigint }> {
  const since = Number(countedUntil)
  const after = new Date(
    Math.max(0, Math.max(since, (await run.chain.deployedAt()) * 1_000) - MAX_ORDER_LIFE_MS),
  )
  const fills = (await run.broker.getOrders({ symbol, after })).filter(
    (order) => order.filledQty > 0n && timeOf(order) > since,
  )
  const first = fills[0]
  if (first === undefined) return { allowed: true, countedUntil }
  const last = Math.max(...fills.map(timeOf))
  const oldest = Math.min(...fills.map(timeOf))
  const { accounts, maxDelayMs } = run.batching
  const allowed =
    run.clock.now() - oldest >= maxDelayMs || (await accountsOf(run, fills, block)).size >= accounts
  return { allowed, countedUntil: BigInt(Math.max(last, since)) }
}

/** When it was filled; of one that was filled in part, when it was placed. */
function timeOf({ filledAt, createdAt }: BrokerOrder): number {
  return (filledAt ?? createdAt).getTime()
}

/** Whose the orders are, by the first 16 bytes of their ids. */
async function accountsOf({ chain }: Run, orders: BrokerOrder[], block: BlockPoint): Promise<Set<Hex>> {
  const prefixes = new Set(orders.map(({ clientOrderId }) => clientOrderId).filter((id) => PREFIX.test(id)))
  const holders = await Promise.all([...prefixes].map((id) => chain.escrow.takenBy(`0x${id}`, block.hash)))
  return new Set(holders.filter((holder) => holder !== ZERO_ADDRESS))
}

const PREFIX = /^[0-9a-f]{32}$/
