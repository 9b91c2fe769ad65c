import { type Asset, type Broker, BrokerError, type Snapshot } from '../../broker/index.js'
import type { MarketView } from '../../protocol/api.js'
import type { FeeSchedule } from '../../protocol/fees.js'
import { brokerRetryMs, marketUnavailable } from './brokerOutage.js'
import type { ListedSymbols } from './listedSymbols.js'
import { createSharedValue } from './sharedValue.js'
import { createTradableAssets } from './tradableAssets.js'

/** How long the broker is waited for where there are older prices to give: a caller hardly notices it. */
const PATIENCE_MS = 250

interface MarketDeps {
  readonly broker: Pick<Broker, 'getAsset' | 'getSnapshots'>
  readonly symbols: Pick<ListedSymbols, 'current' | 'read'>
  /** What sales pay. */
  readonly fees: FeeSchedule
  /** How long one answer of the broker serves everyone; for as long again it is given as stale while another is fetched. */
  readonly maxAgeMs: number
  /** Unix ms: the time that an answer bears. */
  readonly now: () => number
  /** Milliseconds of a clock that nobody sets, for ages and pauses. */
  readonly steadyNow: () => number
}

/**
 * What is listed on chain and tradable at the broker, with the broker's prices: one snapshots call for all symbols
 * and all callers. An answer that is a little too old is given with `stale: true` and its own `asOf` while the next one is
 * fetched, and so is the last one while the broker fails or takes its time; a price that the broker does not have is null.
 * Callers served by one answer get the very same object.
 *
 * The function throws Problem `market-unavailable` when the broker has not answered yet, ChainUnavailableError when
 * the list could not be read yet.
 */
export function createMarketView(deps: MarketDeps): () => Promise<MarketView> {
  const { broker, symbols, maxAgeMs, now, steadyNow } = deps
  const fees = [...deps.fees]
  const assets = createTradableAssets({ broker, steadyNow })
  const shared = createSharedValue({
    async load(): Promise<MarketView> {
      const tradable = await assets.among(symbols.current() ?? (await symbols.read()))
      const snapshots = await broker.getSnapshots(tradable.map(({ symbol }) => symbol))
      return {
        asOf: new Date(now()).toISOString(),
        stale: false,
        symbols: tradable.map((asset) => quoteOf(asset, snapshots.get(asset.symbol))),
        fees,
      }
    },
    freshMs: () => maxAgeMs,
    usableMs: () => 2 * maxAgeMs,
    patienceMs: PATIENCE_MS,
    retryMs: (error) => brokerRetryMs(error, now()),
    steadyNow,
  })

  const staleOnes = new WeakMap<MarketView, MarketView>()
  function asStale(market: MarketView): MarketView {
    const stale = staleOnes.get(market) ?? { ...market, stale: true }
    staleOnes.set(market, stale)
    return stale
  }

  return async () => {
    try {
      const { value, isFresh } = await shared.get()
      return isFresh ? value : asStale(value)
    } catch (error) {
      const last = shared.last()
      if (last !== undefined && error instanceof BrokerError) return asStale(last)
      throw marketUnavailable(error, now())
    }
  }
}

function quoteOf({ symbol, name }: Asset, snapshot: Snapshot | undefined): MarketView['symbols'][number] {
  return {
    symbol,
    name,
    price: snapshot?.last ?? null,
    previousClose: snapshot?.previousClose ?? null,
    bid: snapshot?.bid ?? null,
    ask: snapshot?.ask ?? null,
    asOf: snapshot?.lastAt?.toISOString() ?? null,
  }
}
