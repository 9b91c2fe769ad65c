import { type FeeSchedule, feesOfSale } from '../../protocol/fees.js'
import type { Hex } from '../../protocol/hex.js'
import type { Limit, Side } from '../../protocol/orderTerms.js'
import { ONE_CENT } from '../../protocol/units.js'
import type { Deposit, HistoryEntry } from './entries.js'

/** One order, derived from its entries. USDC amounts have 6 decimals, shares 9; null where no readable entry has the value. */
export interface OrderSummary {
  readonly orderId: Hex
  readonly state: 'OPEN' | 'SETTLED' | 'REFUNDED'
  readonly side: Side | null
  /** `USDC` for a withdrawal or a deposit of cash. */
  readonly symbol: string | null
  /** The USDC of the order; null if it moves shares. */
  readonly usdc: bigint | null
  /** Of a limit order. */
  readonly limit: Limit | null
  readonly escrowed: bigint
  /** The filled shares, or those that a withdrawal or a deposit moves. */
  readonly shares: bigint | null
  /** The cost of a buy, the net proceeds of a sale, or the USDC that came back. */
  readonly value: bigint | null
  /** Average price of one share. */
  readonly price: bigint | null
  /** Unix seconds; null if the order was opened before the first entry. */
  readonly openedAt: number | null
  readonly endedAt: number | null
  /** The transaction that opened it, and the one that ended it. */
  readonly openedIn: Hex | null
  readonly endedIn: Hex | null
  /** Whether all its entries are final. */
  readonly isFinal: boolean
}

/**
 * The orders of a history, in the order of their first entries. @param entries oldest first
 * @example const orders = ordersOf(entries)
 */
export function ordersOf(entries: Iterable<HistoryEntry>): readonly OrderSummary[] {
  const orders = new Map<Hex, OrderSummary>()
  for (const entry of entries) {
    const { orderId } = entry
    if (orderId === null) continue
    const before = orders.get(orderId) ?? unknownOrder(orderId)
    orders.set(orderId, { ...before, ...changeBy(before, entry), isFinal: before.isFinal && entry.isFinal })
  }
  return [...orders.values()]
}

function unknownOrder(orderId: Hex): OrderSummary {
  const terms = { side: null, symbol: null, usdc: null, limit: null, escrowed: 0n }
  const fill = { shares: null, value: null, price: null }
  const times = { openedAt: null, endedAt: null, openedIn: null, endedIn: null }
  return { orderId, state: 'OPEN', ...terms, ...fill, ...times, isFinal: true }
}

function changeBy(before: OrderSummary, entry: HistoryEntry): Partial<OrderSummary> {
  // A reclaimed order stays refunded when its fill is taken over.
  const settled = { ...endOf(entry), state: before.state === 'REFUNDED' ? 'REFUNDED' : 'SETTLED' } as const
  switch (entry.kind) {
    case 'opened':
      return {
        ...depositOf(entry),
        ...{ escrowed: entry.escrowed, openedAt: entry.timestamp, openedIn: entry.txHash },
      }
    case 'accepted': {
      const { side, symbol, usdc, limit = null } = entry
      return { side, symbol, usdc, limit }
    }
    case 'bought': {
      const { symbol, usdc, shares, cost: value, price } = entry
      return { ...settled, side: 'BUY', symbol, usdc, shares, value, price }
    }
    case 'sold': {
      const { symbol, usdc, shares, proceeds: value, price } = entry
      return { ...settled, side: 'SELL', symbol, usdc, shares, value, price }
    }
    case 'cash-withdrawn':
      return { ...settled, side: 'WITHDRAW', symbol: 'USDC', usdc: entry.usdc, value: entry.usdc }
    case 'shares-withdrawn':
      return { ...settled, side: 'WITHDRAW', symbol: entry.symbol, shares: entry.shares }
    case 'refunded':
    case 'reclaimed':
      return {
        ...endOf(entry),
        state: 'REFUNDED',
        side: entry.side ?? before.side,
        symbol: entry.symbol ?? before.symbol,
        usdc: entry.usdc ?? before.usdc,
        value: entry.returned,
        ...depositOf(entry),
      }
    case 'cash-deposited':
      return { ...settled, side: 'DEPOSIT', symbol: 'USDC', usdc: entry.usdc, value: entry.usdc }
    case 'shares-deposited':
      return { ...settled, side: 'DEPOSIT', symbol: entry.symbol, shares: entry.shares }
    case 'unreadable':
      return entry.action === 'settled' ? settled : {}
    default:
      return {}
  }
}

/** The terms of a deposit of shares, which never enter the portfolio as an order. No USDC comes back for it. */
function depositOf({ deposit }: { readonly deposit?: Deposit | undefined }): Partial<OrderSummary> {
  if (deposit === undefined) return {}
  return { side: 'DEPOSIT', symbol: deposit.symbol, shares: deposit.shares, value: null }
}

function endOf({ timestamp, txHash }: HistoryEntry): Pick<OrderSummary, 'endedAt' | 'endedIn'> {
  return { endedAt: timestamp, endedIn: txHash }
}

/** The gross proceeds of a sale, and its fees, in USDC base units. */
export interface SaleFees {
  readonly gross: bigint
  readonly fees: bigint
}

/**
 * Derives a sale's fees from its net proceeds, under the schedule of its day (`fees` of `getMarket()`). Null if the
 * proceeds fit no gross amount, or several: a fee by value rounds, and one that took everything hides the amount.
 * @example const fees = saleFees({ shares: 1_000_000_000n, proceeds: 211_780_000n }, (await client.getMarket()).fees)
 */
export function saleFees(
  { shares, proceeds }: Pick<Extract<HistoryEntry, { kind: 'sold' }>, 'shares' | 'proceeds'>,
  schedule: FeeSchedule,
): SaleFees | null {
  if (proceeds === 0n || proceeds % ONE_CENT !== 0n) return null
  const feesAt = (value: bigint) => feesOfSale(schedule, shares, value)
  const found: SaleFees[] = []
  let gross = proceeds + feesAt(proceeds)
  for (let step = 0; step < MAX_STEPS; step++) {
    // The fees are those of the exact amount, and the gross amount is that amount rounded down to the cent.
    const [least, most] = [feesAt(gross), feesAt(gross + ONE_CENT)]
    if (gross - most > proceeds) return found.length === 1 ? (found[0] ?? null) : null
    const fees = gross - proceeds
    if (fees >= least && fees <= most) found.push({ gross, fees })
    gross += ONE_CENT
  }
  return null
}

/** Fees of less than the trade reach the answer in a few steps. */
const MAX_STEPS = 1_000
