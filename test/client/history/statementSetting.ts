// Entries, one a day, and their statements.
import { expect } from 'vitest'
import { parseCsv } from '../../../src/client/csv.js'
import type { EntryBody } from '../../../src/client/history/entries.js'
import { type HistoryEntry, periodOf, statementOf } from '../../../src/client/history.js'
import type { CorporateAction } from '../../../src/protocol/corporateActions.js'
import type { Hex } from '../../../src/protocol/hex.js'

export const HASH: Hex = `0x${'01'.repeat(32)}`
export const ACCOUNT: Hex = `0x${'0a'.repeat(20)}`
const at = { orderId: HASH, version: 1n, price: null }
export const bought = (shares: bigint, cost: bigint, symbol = 'AAPL', escrowed = cost): EntryBody => ({
  ...{ kind: 'bought', ...at, symbol, shares, cost, escrowed, usdc: escrowed },
})
export const sold = (shares: bigint, proceeds: bigint, symbol = 'AAPL'): EntryBody => ({
  ...{ kind: 'sold', ...at, symbol, shares, proceeds, usdc: proceeds },
})
export const carried = (action: CorporateAction, shares: Record<string, bigint>, cash = 0n): EntryBody => ({
  ...{ kind: 'carried', orderId: null, action, cash, shares, paidFor: null },
})
export const splitOf = (numerator: bigint, denominator: bigint): CorporateAction => ({
  ...{ kind: 'SPLIT', index: 0, symbol: 'AAPL', recordAt: 0, numerator, denominator },
})
export const [FROM, DAY] = [Date.UTC(2026, 0, 15) / 1_000, 86_400]

/** One entry a day. */
export const history = (...bodies: readonly EntryBody[]): HistoryEntry[] =>
  bodies.map((body, index) => ({
    ...body,
    ...{ timestamp: FROM + index * DAY, txHash: HASH, isFinal: true },
    cursor: { blockNumber: index, blockHash: HASH, logIndex: 0, part: 0 },
  }))

const NEXT_YEAR = Date.UTC(2027, 0) / 1_000
/** Of a history that is final until the next year. */
export const statementIn = (entries: readonly HistoryEntry[], name: string) =>
  statementOf(entries, periodOf(name) ?? expect.fail(`${name} is no period`), NEXT_YEAR)

export const cellsOf = (bytes: Uint8Array) =>
  [...parseCsv(new TextDecoder().decode(bytes))].map(({ cells }) => cells)
