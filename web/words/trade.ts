import type { OrderSummary } from '../../src/client/index.js'
import { money, shares } from './format.js'

const VERBS = { BUY: 'Bought', SELL: 'Sold' }

/** `Bought 4.7217 AAPL at 211.79, 1,000.00 USDC`; null for an order without a fill. A sale's USDC are net of fees. */
export function fillWords({ side, symbol, shares: filled, price, value }: Filled): string | null {
  if ((side !== 'BUY' && side !== 'SELL') || symbol === null) return null
  if (filled === null || price === null || value === null) return null
  return `${VERBS[side]} ${shares(filled)} ${symbol} at ${money(price)}, ${money(value)} USDC`
}

type Filled = Pick<OrderSummary, 'side' | 'symbol' | 'shares' | 'price' | 'value'>
