import type { MarketView, OpenedPortfolio } from '../../src/client/index.js'
import type { Action } from '../hooks/useAction.js'
import type { Polled } from '../hooks/usePolled.js'
import { Card } from '../parts/card.js'
import { FailureBox } from '../parts/failureBox.js'
import { PolledFailure } from '../parts/polledFailure.js'
import { money, shares } from '../words/format.js'
import { valuationOf } from './portfolioValue.js'

interface PortfolioProps {
  readonly portfolio: Polled<OpenedPortfolio | null>
  readonly symbols: MarketView['symbols']
  readonly unlocked: boolean
  readonly unlocking: Action
  readonly onUnlock: () => void
}

export function PortfolioCard({ portfolio, symbols, unlocked, unlocking, onUnlock }: PortfolioProps) {
  const { value, answered, error } = portfolio
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
            It is on the chain as a cipher. Your wallet signs one text, twice, and the key that opens it is
            made of that. The key stays in this page’s memory.
          </p>
          <button type="button" class="primary" disabled={unlocking.busy} onClick={onUnlock}>
            {unlocking.busy ? 'Look at your wallet…' : 'Open my portfolio'}
          </button>
          <FailureBox error={unlocking.error} />
        </>
      )}
      <PolledFailure error={error} />
      {unlocked && !answered && error === null ? <p class="muted">Reading it from the chain…</p> : null}
      {unlocked && answered && value === null ? (
        <p class="muted">There is none yet. Your first order makes it.</p>
      ) : null}
      {value === null ? null : <Opened opened={value} symbols={symbols} />}
    </Card>
  )
}

function Opened({ opened, symbols }: { opened: OpenedPortfolio; symbols: MarketView['symbols'] }) {
  const { portfolio } = opened
  const { holdings, total, unpriced } = valuationOf(portfolio, symbols)
  return (
    <>
      <p class="total" data-test="total">
        {money(total)} <small class="muted">USDC</small>
      </p>
      {unpriced.length === 0 ? null : (
        <p class="muted">Without {unpriced.join(', ')}, which has no price now.</p>
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
                {money(portfolio.cash)}
              </td>
            </tr>
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
