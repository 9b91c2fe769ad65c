import { z } from 'zod'
import { BrokerError } from './errors.js'
import type { BrokerHttp } from './http.js'
import { priceSchema } from './numbers.js'

export interface BrokerClock {
  /** The broker's own time. */
  readonly timestamp: Date
  readonly isOpen: boolean
  readonly nextOpen: Date
  readonly nextClose: Date
}

/** RFC 3339 with any offset and any number of fractional digits: Alpaca sends New York's offset and nanoseconds. */
export const timestampSchema = z.iso.datetime({ offset: true }).transform((text) => new Date(text))

const clockSchema = z
  .object({
    timestamp: timestampSchema,
    is_open: z.boolean(),
    next_open: timestampSchema,
    next_close: timestampSchema,
  })
  .transform(
    (clock): BrokerClock => ({
      timestamp: clock.timestamp,
      isOpen: clock.is_open,
      nextOpen: clock.next_open,
      nextClose: clock.next_close,
    }),
  )

/** `GET /v2/clock`. */
export function getClock(trading: BrokerHttp): Promise<BrokerClock> {
  return trading.request(
    { method: 'GET', route: '/v2/clock', path: '/v2/clock', purpose: 'awaited' },
    clockSchema,
  )
}

export interface Asset {
  readonly symbol: string
  readonly name: string
  /** `active` or `inactive`. */
  readonly status: string
  readonly tradable: boolean
  /** Whether it can be bought by amount and sold in fractions. */
  readonly fractionable: boolean
}

const assetSchema = z.object({
  symbol: z.string().min(1),
  name: z.string().nullish(),
  status: z.string(),
  tradable: z.boolean(),
  fractionable: z.boolean().nullish(),
})

/** `GET /v2/assets/{symbol}`; null when the broker knows no such asset. */
export async function getAsset(trading: BrokerHttp, symbol: string): Promise<Asset | null> {
  try {
    const asset = await trading.request(
      {
        method: 'GET',
        route: '/v2/assets/{symbol}',
        path: `/v2/assets/${encodeURIComponent(symbol)}`,
        purpose: 'awaited',
      },
      assetSchema,
    )
    return { ...asset, name: asset.name ?? asset.symbol, fractionable: asset.fractionable ?? false }
  } catch (error) {
    if (error instanceof BrokerError && error.kind === 'not-found') return null
    throw error
  }
}

/** Whether a buy by amount of this asset is taken: active, tradable and fractionable. */
export function isBuyable(asset: Asset | null): boolean {
  return asset !== null && asset.status === 'active' && asset.tradable && asset.fractionable
}

/** One symbol's market. Prices are USD with 6 decimals; a value that Alpaca left out is null. */
export interface Snapshot {
  readonly symbol: string
  /** The last trade, rounded down. */
  readonly last: bigint | null
  readonly lastAt: Date | null
  /** The best bid, rounded down. */
  readonly bid: bigint | null
  /** The best ask, rounded up. */
  readonly ask: bigint | null
  /** The previous trading day's close, rounded down. */
  readonly previousClose: bigint | null
}

const atSchema = timestampSchema.nullish().transform((at) => at ?? null)

const snapshotSchema = z.object({
  latestTrade: z.object({ t: atSchema, p: priceSchema('down') }).nullish(),
  latestQuote: z.object({ bp: priceSchema('down'), ap: priceSchema('up') }).nullish(),
  prevDailyBar: z.object({ c: priceSchema('down') }).nullish(),
})

const snapshotsSchema = z.record(z.string(), snapshotSchema.nullable())

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
  const answer = await data.request(
    {
      method: 'GET',
      route: '/v2/stocks/snapshots',
      path: '/v2/stocks/snapshots',
      query: { symbols: symbols.join(','), feed },
      purpose: 'awaited',
    },
    snapshotsSchema,
  )
  const entries = new Map(Object.entries(answer))
  for (const symbol of symbols) {
    const entry = entries.get(symbol)
    if (entry) found.set(symbol, toSnapshot(symbol, entry))
  }
  return found
}

function toSnapshot(symbol: string, entry: z.infer<typeof snapshotSchema>): Snapshot {
  return {
    symbol,
    last: entry.latestTrade?.p ?? null,
    lastAt: entry.latestTrade?.t ?? null,
    bid: entry.latestQuote?.bp ?? null,
    ask: entry.latestQuote?.ap ?? null,
    previousClose: entry.prevDailyBar?.c ?? null,
  }
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
