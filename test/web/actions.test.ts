import { expect, it } from 'vitest'
import type { HistoryEntry } from '../../src/client/history.js'
import type { CorporateAction } from '../../src/client/index.js'
import { carriedWords, claimWords, monthsOf } from '../../web/words/actions.js'

type Carried = Extract<HistoryEntry, { kind: 'carried' }>
const HASH = `0x${'0a'.repeat(32)}` as const
const at = { index: 0, symbol: 'AAPL', recordAt: 0 }
const ratio = { numerator: 4n, denominator: 1n }

function words(action: CorporateAction, change: Partial<Carried>): string {
  return carriedWords({
    ...{ kind: 'carried', orderId: null, action, cash: 0n, shares: {}, paidFor: null },
    ...{ txHash: HASH, isFinal: true },
    ...{ timestamp: Date.UTC(2026, 8, 3, 12) / 1_000 },
    cursor: { blockNumber: 0, blockHash: HASH, logIndex: 0, part: 0 },
    ...change,
  })
}

it.each<[CorporateAction, Partial<Carried>, string]>([
  [{ kind: 'SPLIT', ...at, ...ratio }, { shares: { AAPL: 7_500_000_000n } }, 'split 4:1: 7.5 shares more'],
  [{ kind: 'REMOVAL', ...at }, { shares: { AAPL: -2_000_000_000n } }, 'removed: 2 shares fewer'],
  [
    { kind: 'SYMBOL_CHANGE', ...at, successor: 'APPL' },
    { shares: { AAPL: -2_000_000_000n, APPL: 2_000_000_000n } },
    'new symbol APPL: 2 shares',
  ],
  [{ kind: 'ENTITLEMENT', ...at }, { entitled: 2_000_000_000n }, 'ex-dividend: 2 shares'],
  [{ kind: 'ENTITLEMENT', ...at }, { entitled: null }, 'ex-dividend: an unknown number of shares'],
  [
    { kind: 'PAYMENT', ...at, ...ratio, entitlement: 0 },
    { cash: 1_250_000n, entitled: 5_000_000_000n },
    'dividend: 1.25 USDC on 5 shares',
  ],
  [
    { kind: 'ENTITLEMENT', ...at },
    { entitled: 2_000_000_000n, paidFor: 'spin-off' },
    'claim to spin-off proceeds: 2 shares',
  ],
  [
    { kind: 'PAYMENT', ...at, ...ratio, entitlement: 0 },
    { cash: 1_250_000n, entitled: 5_000_000_000n, paidFor: 'split' },
    'cash in lieu: 1.25 USDC on 5 shares',
  ],
])('a corporate action is told with what it did: %o', (action, change, says) => {
  expect(words(action, change)).toBe(`3 Sept 2026: AAPL, ${says}`)
})

it('a claim is named until it leaves the portfolio, with what it is for', () => {
  const claim = (index: number, paidFor: Carried['paidFor']): HistoryEntry => ({
    ...{ kind: 'carried', orderId: null, cash: 0n, shares: {}, paidFor, entitled: 1n, txHash: HASH },
    ...{ action: { kind: 'ENTITLEMENT', ...at, index }, isFinal: true, timestamp: 0 },
    cursor: { blockNumber: 0, blockHash: HASH, logIndex: 0, part: 0 },
  })
  const entries = [claim(0, 'merger'), claim(1, null), claim(2, 'spin-off')]
  expect(claimWords(entries, { entitlements: { 0: 3_200_000_000n, 1: 10_000_000_000n } })).toBe(
    'merger cash for 3.2 AAPL, dividend for 10 AAPL',
  )
  expect(claimWords(entries, {})).toBe('')
})

it('the periods of a statement are the months with events and their years, the newest first', () => {
  const days = [
    '2025-12-31T23:59:59Z',
    '2026-01-01T00:00:00Z',
    '2026-01-15T00:00:00Z',
    '2026-03-01T00:00:00Z',
  ]
  const entries = days.map((day) => ({ timestamp: Date.parse(day) / 1_000 }))
  expect(monthsOf(entries)).toEqual(['2026-03', '2026-01', '2025-12', '2026', '2025'])
})
