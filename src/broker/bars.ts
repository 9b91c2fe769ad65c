import { z } from 'zod'
import { timestampSchema } from './clock.js'
import type { BrokerHttp } from './http.js'
import { priceSchema } from './numbers.js'

/** The close of one span of trading. */
export interface Bar {
  /** When the span begins. */
  readonly at: Date
  /** USD with 6 decimals, rounded down. */
  readonly close: bigint
}

export interface BarFilter {
  readonly symbols: readonly string[]
  /** As Alpaca writes it: `15Min`. */
  readonly timeframe: string
  readonly start: Date
}

const barSchema = z.object({ t: timestampSchema, c: priceSchema('down') })
const pageSchema = z.object({
  bars: z.record(z.string(), z.array(barSchema).nullable()).nullish(),
  next_page_token: z.string().nullish(),
})

/** Bars of one page, of all symbols together: Alpaca's own limit. */
const PAGE = '10000'

/**
 * `GET /v2/stocks/bars`: by symbol, the oldest first; a call for each 10,000 bars. A symbol that Alpaca has no bar of is
 * absent from the result. A bar without a price, as of a span without trades, is left out.
 */
export async function getBars(
  data: BrokerHttp,
  { symbols, timeframe, start }: BarFilter,
  feed: string,
): Promise<Map<string, Bar[]>> {
  const found = new Map<string, Bar[]>()
  const route = '/v2/stocks/bars'
  for (let token: string | undefined, more = symbols.length > 0; more; more = token !== undefined) {
    const query = {
      ...{ symbols: symbols.join(','), timeframe, start: start.toISOString() },
      ...{ limit: PAGE, feed, sort: 'asc', ...(token !== undefined && { page_token: token }) },
    }
    const page = await data.request(
      { method: 'GET', route, path: route, query, purpose: 'other' },
      pageSchema,
    )
    for (const symbol of symbols) {
      const bars = new Map(Object.entries(page.bars ?? {})).get(symbol) ?? []
      const closes = bars.flatMap(({ t, c }) => (c === null ? [] : [{ at: t, close: c }]))
      if (closes.length > 0) found.set(symbol, [...(found.get(symbol) ?? []), ...closes])
    }
    token = page.next_page_token ?? undefined
  }
  return found
}
