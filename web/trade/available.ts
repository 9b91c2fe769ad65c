import type { Funds, Portfolio } from '../../src/client/index.js'
import { freeCash, freeShares } from '../../src/protocol/portfolio.js'
import { money, shares } from '../words/format.js'
import { isPaidByWallet } from './ticketCheck.js'
import type { Ticket } from './ticketOrder.js'

/** The amount available for an order, as the enclave counts it: without the amounts reserved by open orders. */
export function available(
  { side, symbol, payFrom }: Pick<Ticket, 'side' | 'symbol' | 'payFrom'>,
  funds: Pick<Funds, 'balance'> | null,
  portfolio: Pick<Portfolio, 'cash' | 'openOrders' | 'positions'> | null,
): string {
  if (isPaidByWallet({ side, payFrom })) {
    return funds === null ? '' : `${money(funds.balance)} USDC in the wallet.`
  }
  if (portfolio === null) return 'Open your portfolio to see how much is available.'
  if (symbol === 'USDC' || side === 'BUY') return `${money(freeCash(portfolio))} USDC free in the portfolio.`
  return `${shares(freeShares(portfolio, symbol))} ${symbol} free in the portfolio.`
}
