import { type Holdings, holdingsOf } from '../../src/client/history.js'
import type { MarketView, OpenedPortfolio } from '../../src/client/index.js'
import { useAction } from '../hooks/useAction.js'
import { Card } from '../parts/card.js'
import { FailureBox, PolledFailure } from '../parts/failureBox.js'
import { useAccount, useStore } from '../state/context.js'
import { carriedWords, claimWords } from '../words/actions.js'
import { dayChange, dayOf, gain, money, shares } from '../words/format.js'
import { PriceChart } from './laterChart.js'
import { curveOf } from './portfolioCurve.js'
import { type Gains, type Holding, valuationOf } from './portfolioValue.js'
import { StatementBox } from './statementBox.js'

export function PortfolioCard() {
  const { market } = useStore()
  const { unlock, portfolio, trades, key } = useAccount()
  const { value, answered, error } = portfolio
  const unlocked = key.value !== null
  const unlocking = useAction()
  return (
    <Card
      title="Portfolio"
      aside={value === null ? null : <span class="muted">decrypted in this browser</span>}
    >
      {unlocked ? null : (
        <>
          <p class="muted">
            Your portfolio is encrypted on the chain. Your wallet signs a short text, before your first order
            twice, which makes the key that opens it. The key stays in this page’s memory.
          </p>
          <button
            type="button"
            class="primary"
            disabled={unlocking.busy}
            onClick={() => unlocking.run(unlock)}
          >
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
      {value === null ? null : (
        <Opened
          opened={value}
          symbols={market.value?.symbols ?? []}
          held={trades.value === null ? null : holdingsOf(trades.value.entries)}
        />
      )}
      {value === null ? null : <Curve />}
      {value === null ? null : <Actions />}
      {value === null ? null : <StatementBox />}
      {value === null ? null : <PolledFailure error={trades.error} />}
    </Card>
  )
}

/** The portfolio's value over the last days. */
function Curve() {
  const { market, bars } = useStore()
  const { trades } = useAccount()
  if (trades.value === null || bars.value === null || market.value === null) return null
  const points = curveOf(trades.value.entries, bars.value, market.value)
  if (points.length < 2) return null
  return (
    <details>
      <summary>Value over the last days</summary>
      <PriceChart name="Portfolio" unit="USDC" points={points} previousClose={null} />
    </details>
  )
}

/** The corporate actions that changed the portfolio, the newest first. */
function Actions() {
  const { trades } = useAccount()
  const carried = (trades.value?.entries ?? []).filter((entry) => entry.kind === 'carried').toReversed()
  if (carried.length === 0) return null
  return (
    <details>
      <summary>Splits, dividends and mergers</summary>
      <ul>
        {carried.map((entry) => (
          <li key={entry.action.index}>{carriedWords(entry)}</li>
        ))}
      </ul>
    </details>
  )
}

interface OpenedProps {
  readonly opened: OpenedPortfolio
  readonly symbols: MarketView['symbols']
  /** Null until the history is read. */
  readonly held: Holdings | null
}

function Opened({ opened, symbols, held }: OpenedProps) {
  const { portfolio } = opened
  const { holdings, cash, inOrders, total, unpriced, gains } = valuationOf(portfolio, symbols, held)
  return (
    <>
      <p class="total" data-test="total">
        {money(total)} <small class="muted">USDC</small>
      </p>
      {gains === null ? null : <Totals gains={gains} />}
      {opened.uncounted.map(({ index, symbol, recordAt }) => (
        <p key={index} class="muted">
          A dividend of {symbol} is not counted: no key here opens the portfolio of {dayOf(recordAt)}.
        </p>
      ))}
      <Claims portfolio={portfolio} />
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
            {holdings.map((holding) => (
              <Row key={holding.symbol} holding={holding} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}

/** Cash that corporate actions owe. Its amount is not known before it is paid. */
function Claims({ portfolio }: Pick<OpenedPortfolio, 'portfolio'>) {
  const { trades } = useAccount()
  const claims = claimWords(trades.value?.entries ?? [], portfolio)
  if (claims === '') return null
  return (
    <p class="muted" data-test="claims">
      Not counted before it is paid: {claims}.
    </p>
  )
}

function Row({ holding }: { holding: Holding }) {
  const { symbol, qty, locked, value, average, cost, gain: gained } = holding
  return (
    <tr>
      <th scope="row">
        {symbol} {locked > 0n ? <span class="tag">{shares(locked)} in an order</span> : null}
        {average === null ? null : (
          <small class="below" data-average={symbol}>
            at {money(average)} on average
          </small>
        )}
      </th>
      <td class="number" data-holding={symbol}>
        {shares(qty)}
      </td>
      <td class="number">
        {value === null ? 'no price' : money(value)}
        {value === null || gained === null ? null : (
          <small class={`below ${directionOf(gained)}`} data-gain={symbol}>
            {gain(gained)}{' '}
            {cost === null || cost === 0n ? null : <span>({dayChange(cost + gained, cost)})</span>}
          </small>
        )}
      </td>
    </tr>
  )
}

/** Gains before fees of what is held, those of what was sold, and dividends. */
function Totals({ gains: { unrealised, realised, dividends } }: { gains: Gains }) {
  const total = unrealised + realised + dividends
  const parts = [
    `${gain(unrealised)} unrealised`,
    ...(realised === 0n ? [] : [`${gain(realised)} realised`]),
    ...(dividends === 0n ? [] : [`${gain(dividends)} dividends`]),
  ]
  const name = total < 0n ? 'loss' : 'gain'
  return (
    <p class="gains" data-test="gains">
      <span class={directionOf(total)}>{gain(total)} USDC</span>{' '}
      <span class="muted">
        {name}
        {parts.length === 1 ? null : `: ${parts.join(', ')}`}
      </span>
    </p>
  )
}

function directionOf(gained: bigint): 'up' | 'down' | '' {
  return gained > 0n ? 'up' : gained < 0n ? 'down' : ''
}
