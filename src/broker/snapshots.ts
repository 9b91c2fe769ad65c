import { z } from 'zod'
import { timestampSchema } from './clock.js'
import type { BrokerHttp } from './http.js'
import { priceSchema } from './numbers.js'

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
