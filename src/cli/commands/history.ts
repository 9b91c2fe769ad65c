import {
  actionWords,
  adjustedPrices,
  averageCost,
  effectOf,
  type HistoryEntry,
  holdingsOf,
} from '../../client/history.js'
import { type Block, type Cell, fields, table } from '../../terminal/render.js'
import type { AddCommand } from '../context.js'
import { addHistoryCommand, shares, timeOf, usdc } from './historyOutput.js'

const ABOUT = `Reads the portfolio's versions from the chain, decrypts them, and lists each event, oldest first. A price before a split is also shown in the shares of today. Below are the holdings, with costs and gains by the lots of the statements. The output is confidential. With --escrow it needs no server.

Events that are not final may disappear when the chain is reorganized. "unreadable" is a version that none of the wallet's keys opens: give the file of drawn keys with --portfolio-keys.`

export const addHistory: AddCommand = (root, context) => {
  const summary = 'every buy, sale, refund and withdrawal, with prices and costs, from the chain'
  addHistoryCommand(
    root,
    context,
    { name: 'history', summary, about: ABOUT },
    ({ entries, isWhole, transaction }) => ({
      head: HEAD,
      rows: rowsOf(entries).map((cells, at) => [...cells, transaction(entries[at]?.txHash ?? null)]),
      json: entries,
      more: isWhole ? holdingBlocks(entries) : [],
    }),
  )
}

const HEAD = [
  'time',
  'event',
  'order',
  'symbol',
  'shares',
  'USDC',
  'price',
  'adjusted price',
  'cash change',
  'final',
  'transaction',
]

function rowsOf(entries: readonly HistoryEntry[]): Cell[][] {
  const adjusted = adjustedPrices(entries)
  return entries.map((entry, at) => cellsOf(entry, adjusted[at] ?? null))
}

function cellsOf(entry: HistoryEntry, adjusted: bigint | null): Cell[] {
  const { symbol, moved, value, price } = amountsOf(entry)
  return [
    timeOf(entry.timestamp),
    eventOf(entry),
    entry.orderId ?? '',
    symbol ?? '',
    shares(moved),
    usdc(value),
    usdc(price),
    usdc(adjusted),
    usdc(effectOf(entry).cash),
    entry.isFinal ? 'yes' : 'no',
  ]
}

/** The name of an event; of a corporate action its kind, with its ratio. */
function eventOf(entry: HistoryEntry): string {
  return entry.kind === 'carried' ? actionWords(entry) : entry.kind
}

interface Amounts {
  readonly symbol: string | null
  readonly moved: bigint | null
  readonly value: bigint | null
  readonly price: bigint | null
}

const NONE: Amounts = { symbol: null, moved: null, value: null, price: null }

/** The amounts of an event that are shown. */
function amountsOf(entry: HistoryEntry): Amounts {
  switch (entry.kind) {
    case 'opened':
      return depositOf(entry) ?? { ...NONE, value: entry.escrowed }
    case 'accepted':
      return { ...NONE, symbol: entry.symbol, value: entry.usdc, price: entry.limit?.price ?? null }
    case 'bought':
      return { symbol: entry.symbol, moved: entry.shares, value: entry.cost, price: entry.price }
    case 'sold':
      return { symbol: entry.symbol, moved: entry.shares, value: entry.proceeds, price: entry.price }
    case 'refunded':
    case 'reclaimed':
      return depositOf(entry) ?? { ...NONE, symbol: entry.symbol, value: entry.returned }
    case 'cash-withdrawn':
    case 'cash-deposited':
      return { ...NONE, symbol: 'USDC', value: entry.usdc }
    case 'shares-withdrawn':
    case 'shares-deposited':
      return { ...NONE, symbol: entry.symbol, moved: entry.shares }
    case 'carried': {
      const { action, cash, shares: changes, entitled = null } = entry
      const value = action.kind === 'PAYMENT' ? cash : null
      return { ...NONE, symbol: action.symbol, moved: changes[action.symbol] ?? entitled, value }
    }
    default:
      return NONE
  }
}

/** The shares that a deposit took out of the wallet, or that came back; null for every other order. */
function depositOf({
  deposit,
}: Extract<HistoryEntry, { kind: 'opened' | 'refunded' | 'reclaimed' }>): Amounts | null {
  return deposit === undefined ? null : { ...NONE, symbol: deposit.symbol, moved: deposit.shares }
}

function holdingBlocks(entries: readonly HistoryEntry[]): Block[] {
  const { cash, positions, realised, dividends, isComplete } = holdingsOf(entries)
  const symbols = [positions, realised, dividends].flatMap((amounts) => Object.keys(amounts))
  return [
    table(
      ['holding', 'shares', 'cost', 'average cost', 'realised', 'dividends'],
      [...new Set(symbols)].sort().map((symbol) => {
        const holding = positions[symbol] ?? { shares: 0n, cost: 0n }
        const [gain, paid] = [realised[symbol] ?? 0n, dividends[symbol] ?? 0n]
        const cost = [usdc(holding.cost), usdc(averageCost(holding))]
        return [symbol, shares(holding.shares), ...cost, usdc(gain), usdc(paid)]
      }),
    ),
    fields([
      ['cash', usdc(cash)],
      ['complete', isComplete ? 'yes' : 'no: the cost of some shares is unknown'],
    ]),
  ]
}
