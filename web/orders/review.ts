import type { MarketClock, MarketView } from '../../src/client/index.js'
import { feeNames, feesOfAmount } from '../../src/protocol/fees.js'
import type { Side } from '../../src/protocol/orderTerms.js'
import { notionalOf } from '../../src/protocol/units.js'
import { money, shares } from '../words/format.js'
import type { Ready } from './ticketCheck.js'
import { isMove, type Ticket } from './ticketOrder.js'

/** The order in one sentence, before it is signed. */
export function reviewWords(
  { side, symbol, unit }: Pick<Ticket, 'side' | 'symbol' | 'unit'>,
  order: Pick<Ready, 'units' | 'shares' | 'price' | 'limit' | 'isAll'>,
  { fees }: Pick<MarketView, 'fees'>,
): string {
  if (isMove(side)) {
    const amount = symbol === 'USDC' ? `${money(order.units)} USDC` : `${shares(order.units)} ${symbol}`
    return side === 'WITHDRAW'
      ? `Moves ${amount} from your portfolio to this wallet.`
      : `Moves ${amount} from this wallet to your portfolio.`
  }
  const amount = `${money(order.units)} USDC`
  if (order.price === null || order.shares === null) return `${VERBS[side]} ${symbol} for ${amount}.`
  const at = order.limit === null ? `at ${money(order.price)} now` : limitWords(side, order.limit)
  const worth = worthOf(order)
  const fee = feesOfAmount(fees, worth, order.price) ?? 0n
  const received = `You receive about ${money(worth > fee ? worth - fee : 0n)} USDC.`
  if (order.isAll) {
    const most = `The order is for up to ${amount}. If they are worth more when it is placed, the rest stays.`
    return `Sells all your ${symbol}, ${shares(order.shares)} shares ${at}. ${received} ${most}`
  }
  const quantity = `${shares(order.shares)} ${symbol} ${at}`
  if (unit === 'shares')
    return `${quantity} come to ${amount}. The order is for this amount: if the price changes before it is placed, so does the number of shares.`
  if (side === 'BUY') return `Buys about ${quantity}.`
  return `Sells about ${quantity}. ${received}`
}

/** A limit in words, such as "at 190.00 or less". */
export function limitWords(side: Side, limit: bigint): string {
  return `at ${money(limit)} or ${side === 'BUY' ? 'less' : 'more'}`
}

/** How long the order may wait for the market; null if it does not. A closed market holds up no deposit or withdrawal. */
export function waitWords(side: Ticket['side'], clock: Pick<MarketClock, 'isOpen'> | null): string | null {
  if (isMove(side) || clock?.isOpen) return null
  return clock === null
    ? 'Market hours are unknown. If the market is closed, the order waits, sealed, until it opens.'
    : 'The order waits, sealed, until the market opens.'
}

/** The order's value in USDC base units at the current price; its own amount without a price. */
export function worthOf({
  units,
  shares: quantity,
  price,
  isAll,
}: Pick<Ready, 'units' | 'shares' | 'price' | 'isAll'>): bigint {
  return isAll && quantity !== null && price !== null ? notionalOf(quantity, price, 'down') : units
}

const VERBS = { BUY: 'Buys', SELL: 'Sells' }

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
