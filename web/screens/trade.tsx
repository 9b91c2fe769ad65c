import { useState } from 'preact/hooks'
import { PolledFailure } from '../parts/polledFailure.js'
import { useAccount, useStore } from '../state/context.js'
import { KeyCard } from '../trade/keyCard.js'
import { MarketTable } from '../trade/marketTable.js'
import { OrdersCard } from '../trade/ordersCard.js'
import { PortfolioCard } from '../trade/portfolioCard.js'
import { Ticket } from '../trade/ticket.js'

/** The market, the order ticket, the portfolio and the state of the orders. */
export function TradeScreen() {
  const { market } = useStore()
  const { compliance, funds } = useAccount()
  const [chosen, setChosen] = useState<string | null>(null)
  const symbol = chosen ?? market.value?.symbols[0]?.symbol ?? ''
  return (
    <>
      <h1 class="visually-hidden">Trade</h1>
      <PolledFailure error={market.error ?? compliance.error ?? funds.error} />
      <div class="columns">
        <div>
          {market.value === null && market.error === null ? <p class="muted">Asking for prices…</p> : null}
          {market.value === null ? null : (
            <MarketTable market={market.value} selected={symbol} onSelect={setChosen} />
          )}
          <OrdersCard />
        </div>
        <div>
          <PortfolioCard />
          {market.value === null ? null : (
            <Ticket market={market.value} symbol={symbol} onSymbol={setChosen} />
          )}
          <KeyCard />
        </div>
      </div>
    </>
  )
}
