import { useCallback, useState } from 'preact/hooks'
import type { MarketView } from '../../src/client/index.js'
import { type Seen, withPrices } from '../trade/sparkline.js'

/** The prices that this page has seen, wherever in it one has been meanwhile. */
export interface Charts {
  readonly seen: Seen
  readonly see: (symbols: MarketView['symbols']) => void
}

export function useCharts(): Charts {
  const [seen, setSeen] = useState<Seen>(new Map())
  const see = useCallback(
    (symbols: MarketView['symbols']) => setSeen((before) => withPrices(before, symbols)),
    [],
  )
  return { seen, see }
}
