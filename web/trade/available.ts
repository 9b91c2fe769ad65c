import { freeCash, freeShares } from '../../src/protocol/portfolio.js'
import { balanceOf, type TicketFacts } from '../orders/ticketCheck.js'
import { isDepositOfShares, isPaidByWallet, type Ticket } from '../orders/ticketOrder.js'
import { money, shares } from '../words/format.js'

/** The amount available for an order, as the enclave counts it: without the amounts reserved by open orders. */
export function available(
  { side, symbol, payFrom }: Pick<Ticket, 'side' | 'symbol' | 'payFrom'>,
  { funds, portfolio, walletShares }: Pick<TicketFacts, 'funds' | 'portfolio' | 'walletShares'>,
): string {
  if (isPaidByWallet({ side, symbol, payFrom })) {
    return funds === null ? '' : `${money(funds.balance)} USDC in the wallet.`
  }
  if (isDepositOfShares({ side, symbol })) {
    return walletShares === null ? '' : `${shares(balanceOf(walletShares, symbol))} ${symbol} in the wallet.`
  }
  if (portfolio === null) return 'Open your portfolio to see how much is available.'
  if (symbol === 'USDC' || side === 'BUY')
    return `${money(freeCash(portfolio))} USDC available in the portfolio.`
  return `${shares(freeShares(portfolio, symbol))} ${symbol} available in the portfolio.`
}
