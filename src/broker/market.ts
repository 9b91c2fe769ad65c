import * as z from 'zod'
import { type BrokerHttp, orNull } from './http.js'
import { priceSchema } from './numbers.js'

/** RFC 3339 with any offset and any number of fractional digits: Alpaca sends New York's offset and nanoseconds. */
export const timestampSchema = z.iso.datetime({ offset: true }).transform((text) => new Date(text))

const clockSchema = z
  .object({
    timestamp: timestampSchema,
    is_open: z.boolean(),
    next_open: timestampSchema,
    next_close: timestampSchema,
  })
  .transform((clock) => ({
    /** The broker's own time. */
    timestamp: clock.timestamp,
    isOpen: clock.is_open,
    nextOpen: clock.next_open,
    nextClose: clock.next_close,
  }))
export type BrokerClock = Readonly<z.output<typeof clockSchema>>

/** `GET /v2/clock`. */
export function getClock(trading: BrokerHttp): Promise<BrokerClock> {
  return trading.request({ method: 'GET', path: '/v2/clock', purpose: 'awaited' }, clockSchema)
}

const assetSchema = z
  .object({
    symbol: z.string().min(1),
    name: z.string().nullish(),
    /** `active` or `inactive`. */
    status: z.string(),
    tradable: z.boolean(),
    /** Whether it can be bought by amount and sold in fractions. */
    fractionable: z
      .boolean()
      .nullish()
      .transform((flag) => flag ?? false),
  })
  .transform((asset) => ({ ...asset, name: asset.name ?? asset.symbol }))
export type Asset = Readonly<z.output<typeof assetSchema>>

/** `GET /v2/assets/{symbol}`; null when the broker knows no such asset. */
export function getAsset(trading: BrokerHttp, symbol: string): Promise<Asset | null> {
  const path = `/v2/assets/${encodeURIComponent(symbol)}`
  const request = { method: 'GET', route: '/v2/assets/{symbol}', path, purpose: 'awaited' } as const
  return orNull(trading.request(request, assetSchema))
}

/** Whether a buy by amount of this asset is taken: active, tradable and fractionable. */
export function isBuyable(asset: Asset | null): boolean {
  return asset !== null && asset.status === 'active' && asset.tradable && asset.fractionable
}

const atSchema = timestampSchema.nullish().transform((at) => at ?? null)

const snapshotSchema = z
  .object({
    latestTrade: z.object({ t: atSchema, p: priceSchema('down') }).nullish(),
    latestQuote: z.object({ bp: priceSchema('down'), ap: priceSchema('up') }).nullish(),
    prevDailyBar: z.object({ t: timestampSchema.nullish(), c: priceSchema('down') }).nullish(),
  })
  .transform(({ latestTrade, latestQuote, prevDailyBar }) => ({
    /** The last trade, rounded down. */
    last: latestTrade?.p ?? null,
    lastAt: latestTrade?.t ?? null,
    /** The best bid, rounded down. */
    bid: latestQuote?.bp ?? null,
    /** The best ask, rounded up. */
    ask: latestQuote?.ap ?? null,
    /** The previous trading day's close, rounded down. */
    /** In the shares of its own day, before a split of today. */
    previousClose: prevDailyBar?.c ?? null,
    /** When that day's bar begins. */
    previousAt: prevDailyBar?.t ?? null,
  }))
/** One symbol's market. Prices are USD with 6 decimals; a value that Alpaca left out is null. */
export type Snapshot = Readonly<z.output<typeof snapshotSchema>> & { readonly symbol: string }

/**
 * `GET /v2/stocks/snapshots`: an object keyed by symbol. A symbol that Alpaca knows nothing of is absent from
 * the result; of one that it does know, any part may be null.
 */
export async function getSnapshots(
  data: BrokerHttp,
  symbols: readonly string[],
  feed: string,
): Promise<Map<string, Snapshot>> {
  const found = new Map<string, Snapshot>()
  if (symbols.length === 0) return found
  const query = { symbols: symbols.join(','), feed }
  const answer = await data.request(
    { method: 'GET', path: '/v2/stocks/snapshots', query, purpose: 'awaited' },
    z.record(z.string(), snapshotSchema.nullable()),
  )
  const entries = new Map(Object.entries(answer))
  for (const symbol of symbols) {
    const entry = entries.get(symbol)
    if (entry) found.set(symbol, { symbol, ...entry })
  }
  return found
}

/** The close of one span of trading. */
export interface Bar {
  /** When the span begins. */
  readonly at: Date
  /** USD with 6 decimals, rounded down. */
  readonly close: bigint
}

export interface BarFilter {
  readonly symbols: readonly string[]
  /** Alpaca's word: `15Min`, `1Day`. */
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
 * absent from the result. A bar without a price, as of a span without trades, is left out. Prices before a split are in the shares of after it.
 */
export async function getBars(
  data: BrokerHttp,
  { symbols, timeframe, start }: BarFilter,
  feed: string,
): Promise<Map<string, Bar[]>> {
  const found = new Map<string, Bar[]>()
  const path = '/v2/stocks/bars'
  for (let token: string | undefined, more = symbols.length > 0; more; more = token !== undefined) {
    const query = {
      ...{ symbols: symbols.join(','), timeframe, start: start.toISOString(), adjustment: 'split' },
      ...{ limit: PAGE, feed, sort: 'asc', ...(token !== undefined && { page_token: token }) },
    }
    const page = await data.request({ method: 'GET', path, query, purpose: 'other' }, pageSchema)
    for (const symbol of symbols) {
      const bars = new Map(Object.entries(page.bars ?? {})).get(symbol) ?? []
      const closes = bars.flatMap(({ t, c }) => (c === null ? [] : [{ at: t, close: c }]))
      if (closes.length > 0) found.set(symbol, [...(found.get(symbol) ?? []), ...closes])
    }
    token = page.next_page_token ?? undefined
  }
  return found
}
