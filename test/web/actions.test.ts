import { expect, it } from 'vitest'
import type { HistoryEntry } from '../../src/client/history.js'
import type { CorporateAction } from '../../src/client/index.js'
import { carriedWords, claimWords } from '../../web/words/actions.js'

type Carried = Extract<HistoryEntry, { kind: 'carried' }>
const HASH = `0x${'0a'.repeat(32)}` as const
const at = { index: 0, symbol: 'AAPL', recordAt: 0 }
const ratio = { numerator: 4n, denominator: 1n }

const carried = (action: CorporateAction, effect: Partial<Carried>): Carried => ({
  ...{ kind: 'carried', orderId: null, action, cash: 0n, shares: {}, paidFor: null, txHash: HASH },
  ...{ isFinal: true, timestamp: Date.UTC(2026, 8, 3, 12) / 1_000 },
  cursor: { blockNumber: 0, blockHash: HASH, logIndex: 0, part: 0 },
  ...effect,
})

const split = { kind: 'SPLIT', ...at, ...ratio } as const
const entitlement = { kind: 'ENTITLEMENT', ...at } as const
const payment = { kind: 'PAYMENT', ...at, ...ratio, entitlement: 0 } as const
const change = { kind: 'SYMBOL_CHANGE', ...at, successor: 'APPL' } as const
const paid = { cash: 1_250_000n, entitled: 5_000_000_000n }

it.each<[CorporateAction, Partial<Carried>, string]>([
  [split, { shares: { AAPL: 7_500_000_000n } }, 'split 4:1: 7.5 shares more'],
  [{ kind: 'REMOVAL', ...at }, { shares: { AAPL: -2_000_000_000n } }, 'removed: 2 shares fewer'],
  [change, { shares: { AAPL: -2_000_000_000n, APPL: 2_000_000_000n } }, 'new symbol APPL: 2 shares'],
  [entitlement, { entitled: 2_000_000_000n }, 'ex-dividend: 2 shares'],
  [entitlement, { entitled: null }, 'ex-dividend: an unknown number of shares'],
  [payment, paid, 'dividend: 1.25 USDC on 5 shares'],
  [payment, { ...paid, paidFor: 'split' }, 'cash in lieu: 1.25 USDC on 5 shares'],
])('a corporate action is told with what it did: %o', (action, effect, says) => {
  expect(carriedWords(carried(action, effect))).toBe(`3 Sept 2026: AAPL, ${says}`)
})

it('a claim is named until it leaves the portfolio, with what it is for', () => {
  const entries = (['merger', null, 'spin-off'] as const).map((paidFor, index) =>
    carried({ ...entitlement, index }, { paidFor, entitled: 1n }),
  )
  expect(claimWords(entries, { entitlements: { 0: 3_200_000_000n, 1: 10_000_000_000n } })).toBe(
    'merger cash for 3.2 AAPL, dividend for 10 AAPL',
  )
  expect(claimWords(entries, {})).toBe('')
})
