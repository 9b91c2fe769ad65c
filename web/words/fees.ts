import type { MarketView } from '../../src/client/index.js'
import { feeNames, feesOfAmount } from '../../src/protocol/fees.js'
import { money } from './format.js'

/** What an order pays in fees, before it is placed. Empty where it pays none. */
export function feeWords(
  side: 'BUY' | 'SELL' | 'WITHDRAW',
  { fees }: Pick<MarketView, 'fees'>,
  { amount, price }: { amount: bigint | null; price: bigint | null },
): string {
  if (side === 'BUY') {
    const later = feeNames(fees, 'both')
    return later === '' ? '' : `No fee now: a sale of the shares pays the broker’s ${later} for both.`
  }
  const names = feeNames(fees)
  if (side === 'WITHDRAW' || names === '') return ''
  const about = amount === null ? null : feesOfAmount(fees, amount, price)
  return about === null
    ? `The broker’s fees (${names}) come off what the sale brings.`
    : `About ${money(about)} USDC of it pays the broker’s fees (${names}).`
}
