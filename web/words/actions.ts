import { actionWords, type HistoryEntry } from '../../src/client/history.js'
import type { Portfolio } from '../../src/client/index.js'
import { dayOf, money, shares } from './format.js'

/** What a corporate action did to the portfolio: `3 Sep 2026: AAPL, split 4:1: 7.5 shares more`. */
export function carriedWords(entry: Extract<HistoryEntry, { kind: 'carried' }>): string {
  const { timestamp, action, cash, shares: changes, entitled } = entry
  return `${dayOf(timestamp)}: ${action.symbol}, ${actionWords(entry)}: ${effect()}`

  function effect(): string {
    if (action.kind === 'PAYMENT') return `${money(cash)} USDC on ${shares(entitled ?? 0n)} shares`
    if (action.kind === 'ENTITLEMENT')
      return `${entitled === undefined || entitled === null ? 'an unknown number of' : shares(entitled)} shares`
    const change = changes[action.symbol] ?? 0n
    const moved = shares(change < 0n ? -change : change)
    if (action.kind === 'SYMBOL_CHANGE') return `${moved} shares`
    return `${moved} shares ${change < 0n ? 'fewer' : 'more'}`
  }
}

/** What a portfolio has claims to, in a few words: `merger cash for 3.2 TSLA, dividend for 10 AAPL`. */
export function claimWords(
  entries: readonly HistoryEntry[],
  { entitlements = {} }: Pick<Portfolio, 'entitlements'>,
): string {
  const claims = entries.flatMap((entry) => {
    if (entry.kind !== 'carried' || entry.action.kind !== 'ENTITLEMENT') return []
    const { action, paidFor } = entry
    const qty = entitlements[action.index]
    if (qty === undefined) return []
    const amount = { numerator: 0n, denominator: 1n }
    const payment = { ...action, ...amount, kind: 'PAYMENT', entitlement: action.index } as const
    return [`${actionWords({ action: payment, paidFor })} for ${shares(qty)} ${action.symbol}`]
  })
  return claims.join(', ')
}

/** The months and the years of a history, the newest first: `2026-11`, `2026-10`, …, `2026`. */
export function monthsOf(entries: readonly Pick<HistoryEntry, 'timestamp'>[]): readonly string[] {
  const months = entries.map(({ timestamp }) => new Date(timestamp * 1_000).toISOString().slice(0, 7))
  const years = months.map((month) => month.slice(0, 4))
  return [...new Set(months.toReversed()), ...new Set(years.toReversed())]
}
