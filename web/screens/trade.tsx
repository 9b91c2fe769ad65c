import { useCallback, useEffect, useState } from 'preact/hooks'
import type { Hex, MarketClock, OrderRequest, Views } from '../../src/client/index.js'
import type { OrderHistory } from '../chain/orderHistory.js'
import type { Ask } from '../chain/remembered.js'
import { useAction } from '../hooks/useAction.js'
import type { Charts } from '../hooks/useCharts.js'
import type { Memory } from '../hooks/useMemory.js'
import { usePolled } from '../hooks/usePolled.js'
import { PolledFailure } from '../parts/polledFailure.js'
import { KeyCard } from '../trade/keyCard.js'
import { MarketTable } from '../trade/marketTable.js'
import { OrdersCard } from '../trade/ordersCard.js'
import { PortfolioCard } from '../trade/portfolioCard.js'
import { newestMade, openKeys } from '../trade/portfolioKeys.js'
import { Ticket } from '../trade/ticket.js'
import { useOrders } from '../trade/useOrders.js'
import type { Session } from '../wallet/session.js'

interface TradeProps {
  readonly session: Session
  readonly views: Views
  readonly readOrders: Ask<OrderHistory>
  readonly clock: MarketClock | null
  readonly charts: Charts
  readonly memory: Memory
}

const [MARKET_MS, CHAIN_MS, COMPLIANCE_MS] = [3_000, 10_000, 30_000]

/** Market, order, portfolio and what became of the orders. */
export function TradeScreen({ session, views, readOrders, clock, charts, memory }: TradeProps) {
  const { client, address } = session
  const { unlocked, key, addPlaced, learn } = memory
  const keyMissing = (key?.drawnAt ?? 0) < newestMade(address)
  const [chosen, setChosen] = useState<string | null>(null)
  const unlocking = useAction()
  const orders = useOrders(readOrders, memory.orders)
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
    useCallback(async () => (key === null ? null : client.portfolio()), [client, key]),
    CHAIN_MS,
  )
  const { refresh: readFunds } = funds
  const { refresh: readPortfolio } = portfolio
  const onEnd = useCallback(() => {
    readFunds()
    readPortfolio()
  }, [readFunds, readPortfolio])
  const opened = portfolio.value?.portfolio ?? null
  useEffect(() => {
    if (opened !== null) learn(opened.openOrders)
  }, [opened, learn])
  const onOrder = useCallback(
    (orderId: Hex, request: OrderRequest) => {
      addPlaced(orderId, request)
      readFunds()
    },
    [addPlaced, readFunds],
  )
  const unlock = () =>
    unlocking.run(async () => {
      memory.unlock(await openKeys(client))
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
              charts={charts}
              compliance={compliance.value}
              selected={symbol}
              onSelect={setChosen}
            />
          )}
          <OrdersCard
            // A key that was made may open what the wallet's own does not.
            key={key?.drawnAt ?? 0}
            client={client}
            orders={orders}
            unlocked={unlocked}
            onEnd={onEnd}
          />
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
              portfolio={opened}
              unlocked={unlocked}
              keyMissing={keyMissing}
              onUnlock={memory.unlock}
              symbol={symbol}
              onSymbol={setChosen}
              onOrder={onOrder}
            />
          )}
          <KeyCard
            session={session}
            drawnAt={key?.drawnAt ?? null}
            missing={keyMissing}
            waits={opened !== null && key !== null && opened.userPubKey !== key.publicKey}
            onOpened={memory.unlock}
          />
        </div>
      </div>
    </>
  )
}
