import type { MarketView } from '../../src/client/index.js'
import { feeNames, feesOfAmount } from '../../src/protocol/fees.js'
import type { Side } from '../../src/protocol/intent.js'
import { money } from './format.js'

/** An order's fees, shown before it is placed. Empty if it pays none. */
export function feeWords(
  side: Side,
  { fees }: Pick<MarketView, 'fees'>,
  { amount, price }: { amount: bigint | null; price: bigint | null },
): string {
  if (side === 'BUY') {
    const later = feeNames(fees, 'both')
    return later === '' ? '' : `No fee now. When you sell, you pay the broker’s ${later} fee for both trades.`
  }
  const names = feeNames(fees)
  if (side !== 'SELL' || names === '') return ''
  const about = amount === null ? null : feesOfAmount(fees, amount, price)
  return about === null
    ? `The broker’s fees (${names}) are deducted from the proceeds.`
    : `The broker’s fees (${names}) are about ${money(about)} USDC.`
}
