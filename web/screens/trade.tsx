import { useRef } from 'preact/hooks'
import { isMove, type TicketDraft, withDeposit, withEquity } from '../orders/ticketOrder.js'
import { PolledFailure } from '../parts/failureBox.js'
import { useAccount, useStore } from '../state/context.js'
import { AllowanceCard } from '../trade/allowanceCard.js'
import { KeyCard } from '../trade/keyCard.js'
import { MarketTable } from '../trade/marketTable.js'
import { OrdersCard } from '../trade/ordersCard.js'
import { PortfolioCard } from '../trade/portfolioCard.js'
import { Ticket } from '../trade/ticket.js'
import { TrustCard } from '../trade/trustCard.js'
import { WalletSharesCard } from '../trade/walletSharesCard.js'
import './trade.css'

/** The order ticket first, then the portfolio, the market and the state of the orders. */
export function TradeScreen() {
  const { market } = useStore()
  const { compliance, funds, walletShares, draft, placing } = useAccount()
  const ticket = useRef<HTMLDivElement>(null)
  const { side, equity } = draft.value
  const selected = equity ?? market.value?.symbols[0]?.symbol ?? null
  const fill = (to: TicketDraft) => {
    placing.clear()
    draft.value = to
    ticket.current?.scrollIntoView({ block: 'nearest' })
    ticket.current?.querySelector<HTMLInputElement>('#ticket-amount')?.focus()
  }
  return (
    <>
      <h1 class="visually-hidden">Trade</h1>
      <PolledFailure error={market.error ?? compliance.error ?? funds.error ?? walletShares.error} />
      <div class="desk">
        <div class="desk-side">
          <div ref={ticket} class="anchor">
            {market.value === null ? null : <Ticket market={market.value} />}
          </div>
          <TrustCard />
          <PortfolioCard />
          <AllowanceCard />
          <WalletSharesCard onDeposit={(symbol) => fill(withDeposit(draft.peek(), symbol))} />
        </div>
        <div class="desk-main">
          {market.value === null && market.error === null ? <p class="muted">Loading prices…</p> : null}
          {market.value === null ? null : (
            <MarketTable
              market={market.value}
              selected={isMove(side) ? null : selected}
              onSelect={(symbol) => fill(withEquity(draft.peek(), symbol))}
            />
          )}
          <OrdersCard />
          <KeyCard />
        </div>
      </div>
    </>
  )
}
