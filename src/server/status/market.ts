import {
  type Asset,
  type Bar,
  type Broker,
  BrokerError,
  isBuyable,
  type Snapshot,
} from '../../broker/index.js'
import type { MarketBars, MarketClock, MarketView } from '../../protocol/api.js'
import type { FeeSchedule } from '../../protocol/fees.js'
import { createSharedValue } from '../../service/waiting.js'
import type { ListedSymbols } from './listedSymbols.js'

/** How long one answer of the broker is fresh. For as long again it is stale, and the next one is fetched. */
const MAX_AGE_MS = 2_000
/** Callers get older prices, where there are any, rather than wait longer. */
const PATIENCE_MS = 250

/**
 * The symbols that are listed on chain and tradable at the broker, with the broker's prices: one call for all symbols and
 * all callers. A stale answer bears `stale: true` and its own `asOf`; it also serves while the broker fails or is slow.
 * Callers served by one answer get the very same object.
 *
 * The function throws MarketUnavailableError when the broker has not answered yet, ChainUnavailableError when the list
 * could not be read yet.
 */
export function createMarketView(deps: {
  readonly broker: Pick<Broker, 'getAsset' | 'getSnapshots' | 'getBars'>
  readonly symbols: Pick<ListedSymbols, 'current' | 'read'>
  readonly fees: FeeSchedule
  /** How long callers wait for the broker where there are older prices. */
  readonly patienceMs?: number
}): () => Promise<MarketView> {
  const { broker, symbols, patienceMs = PATIENCE_MS } = deps
  const fees = [...deps.fees]
  const tradable = createTradableAssets(broker)
  const readCloses = createDailyCloses(broker)
  return createStaleView({
    ...{ maxAgeMs: MAX_AGE_MS, patienceMs },
    async load(): Promise<MarketView> {
      const assets = await tradable(symbols.current() ?? (await symbols.read()))
      const names = assets.map(({ symbol }) => symbol)
      const [snapshots, closes] = await Promise.all([broker.getSnapshots(names), readCloses(names)])
      return {
        asOf: new Date(Date.now()).toISOString(),
        stale: false,
        symbols: assets.map((asset) => quoteOf(asset, snapshots.get(asset.symbol), closes.get(asset.symbol))),
        fees,
      }
    },
  })
}

/** The fresh value, or the last one marked as stale: the very same object while it is the same answer. */
function createStaleView<T extends { readonly stale: boolean }>(options: {
  readonly load: () => Promise<T>
  readonly maxAgeMs: number
  readonly patienceMs: number
}): () => Promise<T> {
  const { maxAgeMs } = options
  const [freshMs, usableMs] = [() => maxAgeMs, () => 2 * maxAgeMs]
  const shared = createSharedValue({ ...options, freshMs, usableMs, retryMs: brokerRetryMs })
  const staleOnes = new WeakMap<T, T>()
  function asStale(value: T): T {
    const stale = staleOnes.get(value) ?? { ...value, stale: true }
    staleOnes.set(value, stale)
    return stale
  }

  return async () => {
    try {
      const { value, isFresh } = await shared.get()
      return isFresh ? value : asStale(value)
    } catch (error) {
      const last = shared.last()
      if (last !== undefined && error instanceof BrokerError) return asStale(last)
      throw marketUnavailable(error)
    }
  }
}

function quoteOf(
  { symbol, name }: Asset,
  snapshot: Snapshot | undefined,
  closes: readonly Bar[] = [],
): MarketView['symbols'][number] {
  const previousAt = snapshot?.previousAt?.getTime()
  const adjusted = closes.find(({ at }) => at.getTime() === previousAt)
  return {
    symbol,
    name,
    price: snapshot?.last ?? null,
    previousClose: snapshot?.previousClose ? (adjusted?.close ?? snapshot.previousClose) : null,
    bid: snapshot?.bid ?? null,
    ask: snapshot?.ask ?? null,
    asOf: snapshot?.lastAt?.toISOString() ?? null,
  }
}

/** A split's adjustment comes with its ex-date, a while before the market opens. */
const CLOSES_MAX_AGE_MS = 5 * 60_000

/** The last days' closes in the shares of today. Where the broker gives none, the snapshot's own count. */
function createDailyCloses(broker: Pick<Broker, 'getBars'>) {
  let known = { closes: new Map<string, Bar[]>(), of: '', until: -Infinity }
  return async (symbols: readonly string[]): Promise<ReadonlyMap<string, readonly Bar[]>> => {
    const of = symbols.join()
    if (known.of === of && performance.now() < known.until) return known.closes
    let { closes } = known
    let keptMs = CLOSES_MAX_AGE_MS
    try {
      const start = new Date(Date.now() - BARS_SINCE_MS)
      closes = await broker.getBars({ symbols, timeframe: '1Day', start })
    } catch (error) {
      if (!(error instanceof BrokerError)) throw error
      keptMs = MAX_RETRY_MS
    }
    known = { closes, of, until: performance.now() + keptMs }
    return closes
  }
}

const [BAR, BAR_SECONDS] = ['15Min', 900]
const DAY_MS = 86_400_000
/** Reaches back over a long weekend. */
const BARS_SINCE_MS = 5 * DAY_MS
/** How long bars are fresh; the last one changes with every trade, and a chart shows the current price beside it. */
const BARS_MAX_AGE_MS = 60_000
const BARS_PATIENCE_MS = 1_000

/**
 * The last days' bars of all listed symbols, in one answer for all callers: a page's choice of symbols stays its own affair. Stale as the
 * market, and throws the same.
 */
export function createMarketBarsView(deps: {
  readonly broker: Pick<Broker, 'getBars'>
  readonly symbols: Pick<ListedSymbols, 'current' | 'read'>
}): () => Promise<MarketBars> {
  const { broker, symbols } = deps
  return createStaleView({
    ...{ maxAgeMs: BARS_MAX_AGE_MS, patienceMs: BARS_PATIENCE_MS },
    async load(): Promise<MarketBars> {
      const listed = symbols.current() ?? (await symbols.read())
      const now = Date.now()
      const start = new Date(now - BARS_SINCE_MS)
      const found = await broker.getBars({ symbols: listed, timeframe: BAR, start })
      return {
        asOf: new Date(now).toISOString(),
        stale: false,
        barSeconds: BAR_SECONDS,
        symbols: listed.map((symbol) => ({
          symbol,
          bars: (found.get(symbol) ?? []).map(({ at, close }) => ({ at: at.toISOString(), close })),
        })),
      }
    },
  })
}

/**
 * The market's hours, kept until the next opening or closing. The body cannot say that it is stale, so after that the view
 * throws MarketUnavailableError until the broker answers.
 */
export function createMarketClockView(deps: {
  readonly broker: Pick<Broker, 'getClock'>
  /** Time after which the view asks the broker again, although neither opening nor closing has come. */
  readonly maxAgeMs: number
}): () => Promise<MarketClock> {
  const { broker, maxAgeMs } = deps
  const shared = createSharedValue({
    async load() {
      const { isOpen, timestamp, nextOpen, nextClose } = await broker.getClock()
      // The broker's own clock counts: ours may differ.
      const untilChangeMs = Math.min(nextOpen.getTime(), nextClose.getTime()) - timestamp.getTime()
      const view = { isOpen, nextOpen: nextOpen.toISOString(), nextClose: nextClose.toISOString() }
      return { untilChangeMs, changesAt: Date.now() + untilChangeMs, view }
    },
    freshMs: ({ untilChangeMs }) => Math.min(maxAgeMs, untilChangeMs),
    usableMs: ({ untilChangeMs }) => untilChangeMs,
    isOver: ({ changesAt }) => Date.now() >= changesAt,
    retryMs: brokerRetryMs,
  })
  return async () => {
    try {
      return (await shared.get()).value.view
    } catch (error) {
      throw marketUnavailable(error)
    }
  }
}

/** An asset's record changes rarely: with a corporate action, or when the broker halts it. */
const ASSET_MAX_AGE_MS = 15 * 60_000

/**
 * Selects the symbols that can be traded here, in the order given: active, tradable, and fractionable because orders are
 * by amount. A record that can't be renewed is used as it is.
 *
 * The function throws BrokerError when the broker does not answer for a symbol that it has never answered for.
 */
function createTradableAssets(broker: Pick<Broker, 'getAsset'>) {
  const records = new Map<string, { readonly asset: Asset | null; readonly until: number }>()

  async function loadAsset(symbol: string): Promise<Asset | null> {
    const known = records.get(symbol)
    if (known !== undefined && performance.now() < known.until) return known.asset
    try {
      const asset = await broker.getAsset(symbol)
      records.set(symbol, { asset, until: performance.now() + ASSET_MAX_AGE_MS })
      return asset
    } catch (error) {
      if (known === undefined) throw error
      records.set(symbol, { ...known, until: performance.now() + MAX_RETRY_MS })
      return known.asset
    }
  }

  return async (symbols: readonly string[]): Promise<Asset[]> => {
    // All settle first, so that successful answers are kept even when another failed.
    const settled = await Promise.allSettled(symbols.map(loadAsset))
    return settled.flatMap((result) => {
      if (result.status === 'rejected') throw result.reason
      return result.value !== null && isBuyable(result.value) ? [result.value] : []
    })
  }
}

/** Pause after a failed call that named no better moment. */
const RETRY_MS = 2_000
/** The longest pause, whatever the broker asks for. */
const MAX_RETRY_MS = 60_000

/** Pause before the broker is asked again: until the end of its rate limit, or a moment after another failure. */
function brokerRetryMs(error: unknown): number {
  const now = Date.now()
  const resetAt = error instanceof BrokerError ? error.resetAt?.getTime() : undefined
  return Math.min(Math.max((resetAt ?? now) - now, RETRY_MS), MAX_RETRY_MS)
}

/** The broker failed, and no earlier answer of it serves. */
export class MarketUnavailableError extends Error {
  override readonly name = 'MarketUnavailableError'

  constructor(
    readonly retryAfterSeconds: number,
    cause: BrokerError,
  ) {
    super('the broker gives no market data', { cause })
  }
}

/** A failed call to the broker says when to come back; any other failure stays as it is. */
function marketUnavailable(error: unknown): unknown {
  if (!(error instanceof BrokerError)) return error
  return new MarketUnavailableError(Math.ceil(brokerRetryMs(error) / 1_000), error)
}
