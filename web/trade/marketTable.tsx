import { useState } from 'preact/hooks'
import type { MarketView } from '../../src/client/index.js'
import { Card } from '../parts/card.js'
import { useAccount, useStore } from '../state/context.js'
import { ageWords } from '../words/clock.js'
import { isAsleep } from '../words/failures.js'
import { dayChange, money } from '../words/format.js'
import { type Point, pathOf, placeOf, pointsOf, type Scale, scaleOf, sessionOf } from './chart.js'
import { PriceChart } from './laterChart.js'
import './marketTable.css'

interface MarketProps {
  readonly market: MarketView
  /** The symbol on the ticket. */
  readonly selected: string | null
  readonly onSelect: (symbol: string) => void
}

const BOX = { width: 96, height: 28 }
const EDGE = 2

export function MarketTable({ market, selected, onSelect }: MarketProps) {
  const { bars, market: query, clock, now } = useStore()
  const { compliance } = useAccount()
  const isAway = isAsleep(query.error) || isAsleep(clock.error)
  const age = ageWords(market, now.value, isAway)
  const frozen = new Set(
    compliance.value?.equities.filter((equity) => equity.frozen).map(({ symbol }) => symbol),
  )
  const [opened, setOpened] = useState<string | null>(null)
  const charts = market.symbols.map((equity) => pointsOf(equity, bars.value, market.asOf))
  const scale = scaleOf(charts.map(sessionOf))
  return (
    <Card title="Market" aside={age === null ? null : <span class="tag tag-warn">{age}</span>}>
      <div class="scroll">
        <table class={age === null ? undefined : 'old'}>
          <thead>
            <tr>
              <th scope="col">Equity</th>
              <th scope="col" class="wide-only">
                Last session
              </th>
              <th scope="col" class="number">
                Price
              </th>
              <th scope="col" class="number">
                Day
              </th>
              <th scope="col">
                <span class="visually-hidden">Choose</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {market.symbols.map((equity, index) => (
              <Row
                key={equity.symbol}
                equity={equity}
                points={charts[index] ?? []}
                scale={scale}
                isOpen={equity.symbol === opened}
                onToggle={() => setOpened(equity.symbol === opened ? null : equity.symbol)}
                isFrozen={frozen.has(equity.symbol)}
                isSelected={equity.symbol === selected}
                onSelect={onSelect}
              />
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  )
}

interface RowProps {
  readonly equity: MarketView['symbols'][number]
  readonly points: readonly Point[]
  readonly scale: Scale
  readonly isOpen: boolean
  readonly onToggle: () => void
  readonly isFrozen: boolean
  readonly isSelected: boolean
  readonly onSelect: (symbol: string) => void
}

function Row({ equity, points, scale, isOpen, onToggle, isFrozen, isSelected, onSelect }: RowProps) {
  const { symbol, name, price, previousClose } = equity
  const change = dayChange(price, previousClose)
  const direction = change?.startsWith('+') ? 'up' : change?.startsWith('−') ? 'down' : ''
  const close = placeOf({ at: scale.from, percent: 0 }, scale, BOX).y
  return (
    <>
      <tr>
        <th scope="row" class="symbol">
          <button type="button" class="disclose" aria-expanded={isOpen} onClick={onToggle}>
            {symbol}
            <span class="visually-hidden"> chart</span>
          </button>{' '}
          {isFrozen ? <span class="tag tag-bad">frozen</span> : null}
          <small>{name}</small>
        </th>
        <td class="wide-only">
          <svg
            class={`spark ${direction}`}
            viewBox={`${-EDGE} ${-EDGE} ${BOX.width + 2 * EDGE} ${BOX.height + 2 * EDGE}`}
            aria-hidden="true"
          >
            <line x1={0} x2={BOX.width} y1={close} y2={close} />
            <path data-chart={symbol} d={pathOf(sessionOf(points), scale, BOX)} />
          </svg>
        </td>
        <td class="number" data-price={symbol}>
          {price === null ? 'no price' : money(price)}
        </td>
        <td class={`number ${direction}`} data-change={symbol}>
          {change ?? '–'}
        </td>
        <td class="number">
          <button type="button" class="quiet" aria-pressed={isSelected} onClick={() => onSelect(symbol)}>
            Trade<span class="visually-hidden"> {symbol}</span>
          </button>
        </td>
      </tr>
      {isOpen ? (
        <tr>
          <td colSpan={5}>
            {points.length < 2 ? (
              <p class="muted">No prices of the last days yet.</p>
            ) : (
              <PriceChart name={symbol} unit="USD" points={points} previousClose={previousClose} />
            )}
          </td>
        </tr>
      ) : null}
    </>
  )
}
