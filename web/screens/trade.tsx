import { useCallback, useState } from 'preact/hooks'
import type { MarketClock, Views } from '../../src/client/index.js'
import { useAction } from '../hooks/useAction.js'
import { usePolled } from '../hooks/usePolled.js'
import { PolledFailure } from '../parts/polledFailure.js'
import type { Settings } from '../settings.js'
import { MarketTable } from '../trade/marketTable.js'
import { OrdersCard } from '../trade/ordersCard.js'
import { PortfolioCard } from '../trade/portfolioCard.js'
import { Ticket } from '../trade/ticket.js'
import { type DeskOrder, useOrders } from '../trade/useOrders.js'
import type { Session } from '../wallet/session.js'

interface TradeProps {
  readonly session: Session
  readonly views: Views
  readonly settings: Settings
  readonly clock: MarketClock | null
}

const [MARKET_MS, CHAIN_MS, COMPLIANCE_MS] = [3_000, 10_000, 30_000]

/** Market, order, portfolio and what became of the orders. */
export function TradeScreen({ session, views, settings, clock }: TradeProps) {
  const { client, address } = session
  const [unlocked, setUnlocked] = useState(false)
  const [chosen, setChosen] = useState<string | null>(null)
  const unlocking = useAction()
  const orders = useOrders(session, settings)
  const market = usePolled(
    useCallback((signal: AbortSignal) => views.market(signal), [views]),
    MARKET_MS,
  )
  const compliance = usePolled(
    useCallback((signal: AbortSignal) => views.compliance(address, signal), [views, address]),
    COMPLIANCE_MS,
  )
  const funds = usePolled(
    useCallback(() => client.funds(), [client]),
    CHAIN_MS,
  )
  const portfolio = usePolled(
    useCallback(async () => (unlocked ? client.portfolio() : null), [client, unlocked]),
    CHAIN_MS,
  )
  const { refresh: readFunds } = funds
  const { refresh: readPortfolio } = portfolio
  const onEnd = useCallback(() => {
    readFunds()
    readPortfolio()
  }, [readFunds, readPortfolio])
  const { add } = orders
  const onOrder = useCallback(
    (order: DeskOrder) => {
      // Sealing it has derived the key.
      setUnlocked(true)
      add(order)
      readFunds()
    },
    [add, readFunds],
  )
  const unlock = () =>
    unlocking.run(async () => {
      await client.unlock()
      setUnlocked(true)
    })
  const symbol = chosen ?? market.value?.symbols[0]?.symbol ?? ''
  return (
    <>
      <h1 class="visually-hidden">Trade</h1>
      <PolledFailure error={market.error ?? compliance.error ?? funds.error} />
      <div class="columns">
        <div>
          {market.value === null && market.error === null ? <p class="muted">Asking for prices…</p> : null}
          {market.value === null ? null : (
            <MarketTable
              market={market.value}
              compliance={compliance.value}
              selected={symbol}
              onSelect={setChosen}
            />
          )}
          <OrdersCard client={client} orders={orders} unlocked={unlocked} onEnd={onEnd} />
        </div>
        <div>
          <PortfolioCard
            portfolio={portfolio}
            symbols={market.value?.symbols ?? []}
            unlocked={unlocked}
            unlocking={unlocking}
            onUnlock={unlock}
          />
          {market.value === null ? null : (
            <Ticket
              client={client}
              market={market.value}
              clock={clock}
              funds={funds.value}
              portfolio={portfolio.value?.portfolio ?? null}
              symbol={symbol}
              onSymbol={setChosen}
              onOrder={onOrder}
            />
          )}
        </div>
      </div>
    </>
  )
}
