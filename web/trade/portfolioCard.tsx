import type { MarketView, OpenedPortfolio } from '../../src/client/index.js'
import { useAction } from '../hooks/useAction.js'
import { Card } from '../parts/card.js'
import { FailureBox } from '../parts/failureBox.js'
import { PolledFailure } from '../parts/polledFailure.js'
import { useAccount, useStore } from '../state/context.js'
import { money, shares } from '../words/format.js'
import { openKeys } from './portfolioKeys.js'
import { valuationOf } from './portfolioValue.js'

export function PortfolioCard() {
  const { market } = useStore()
  const { session, portfolio, key } = useAccount()
  const { value, answered, error } = portfolio
  const unlocked = key.value !== null
  const unlocking = useAction()
  const unlock = () =>
    unlocking.run(async () => {
      key.value = await openKeys(session.client)
    })
  return (
    <Card
      title="Portfolio"
      aside={
        value === null ? null : (
          <span class="muted">version {String(value.version)}, opened in this browser</span>
        )
      }
    >
      {unlocked ? null : (
        <>
          <p class="muted">
            Your portfolio is encrypted on the chain. Your wallet signs a short text twice, which makes the
            key that opens it. The key stays in this page’s memory.
          </p>
          <button type="button" class="primary" disabled={unlocking.busy} onClick={unlock}>
            {unlocking.busy ? 'Check your wallet…' : 'Open my portfolio'}
          </button>
          <FailureBox error={unlocking.error} />
        </>
      )}
      <PolledFailure error={error} />
      {unlocked && !answered && error === null ? (
        <p class="muted">Reading your portfolio from the chain…</p>
      ) : null}
      {unlocked && answered && value === null ? (
        <p class="muted">You have no portfolio yet. Your first order creates it.</p>
      ) : null}
      {value === null ? null : <Opened opened={value} symbols={market.value?.symbols ?? []} />}
    </Card>
  )
}

function Opened({ opened, symbols }: { opened: OpenedPortfolio; symbols: MarketView['symbols'] }) {
  const { portfolio } = opened
  const { holdings, cash, inOrders, total, unpriced } = valuationOf(portfolio, symbols)
  return (
    <>
      <p class="total" data-test="total">
        {money(total)} <small class="muted">USDC</small>
      </p>
      {unpriced.length === 0 ? null : (
        <p class="muted">Not counted, because there is no price now: {unpriced.join(', ')}.</p>
      )}
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Holding</th>
              <th scope="col" class="number">
                Shares
              </th>
              <th scope="col" class="number">
                Value
              </th>
            </tr>
          </thead>
          <tbody>
            <tr>
              <th scope="row">Cash</th>
              <td />
              <td class="number" data-holding="USDC">
                {money(cash)}
              </td>
            </tr>
            {inOrders === 0n ? null : (
              <tr>
                <th scope="row">In open orders</th>
                <td />
                <td class="number" data-test="in-orders">
                  {money(inOrders)}
                </td>
              </tr>
            )}
            {holdings.map(({ symbol, qty, locked, value }) => (
              <tr key={symbol}>
                <th scope="row">
                  {symbol} {locked > 0n ? <span class="tag">{shares(locked)} in an order</span> : null}
                </th>
                <td class="number" data-holding={symbol}>
                  {shares(qty)}
                </td>
                <td class="number">{value === null ? 'no price' : money(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}
