import type { MarketView } from '../../src/client/index.js'
import { Card } from '../parts/card.js'
import { useAccount, useStore } from '../state/context.js'
import { dayChange, money } from '../words/format.js'
import { ageWords } from '../words/prices.js'
import { chartedPrices, pathOf } from './sparkline.js'

interface MarketProps {
  readonly market: MarketView
  readonly selected: string
  readonly onSelect: (symbol: string) => void
}

const [WIDTH, HEIGHT, EDGE] = [96, 28, 2]

export function MarketTable({ market, selected, onSelect }: MarketProps) {
  const { seen } = useStore()
  const { compliance } = useAccount()
  const age = ageWords(market, Date.now())
  const frozen = new Set(
    compliance.value?.equities.filter((equity) => equity.frozen).map(({ symbol }) => symbol),
  )
  return (
    <Card title="Market" aside={age === null ? null : <span class="tag tag-bad">{age}</span>}>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Equity</th>
              <th scope="col" class="wide-only">
                Since the last close
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
            {market.symbols.map((equity) => (
              <Row
                key={equity.symbol}
                equity={equity}
                prices={chartedPrices(seen.value.get(equity.symbol))}
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
  readonly prices: readonly bigint[]
  readonly isFrozen: boolean
  readonly isSelected: boolean
  readonly onSelect: (symbol: string) => void
}

function Row({ equity, prices, isFrozen, isSelected, onSelect }: RowProps) {
  const { symbol, name, price, previousClose } = equity
  const change = dayChange(price, previousClose)
  const direction = change?.startsWith('+') ? 'up' : change?.startsWith('−') ? 'down' : ''
  return (
    <tr>
      <th scope="row" class="symbol">
        <b>{symbol}</b> {isFrozen ? <span class="tag tag-bad">frozen</span> : null}
        <small>{name}</small>
      </th>
      <td class="wide-only">
        <svg
          class={`spark ${direction}`}
          viewBox={`${-EDGE} ${-EDGE} ${WIDTH + 2 * EDGE} ${HEIGHT + 2 * EDGE}`}
          aria-hidden="true"
        >
          <path data-chart={symbol} d={pathOf(prices, WIDTH, HEIGHT)} />
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
  )
}
