import { formatDecimal } from '../../src/client/index.js'
import { money } from '../words/format.js'
import type { Ordered } from './orderMemory.js'
import { decimalsOf, isMove } from './ticketOrder.js'

/** `Buy AAPL for 1,000.00 USDC`. */
export function requestWords(request: Ordered): string {
  const { side, symbol, maxSpend } = request
  const verb = { BUY: 'Buy', SELL: 'Sell', DEPOSIT: 'Deposit', WITHDRAW: 'Withdraw' }[side]
  if (!isMove(side)) return `${verb} ${symbol} for ${money(maxSpend)} USDC`
  return `${verb} ${formatDecimal(maxSpend, decimalsOf(request))} ${symbol}`
}
