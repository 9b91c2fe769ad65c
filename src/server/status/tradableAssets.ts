import { type Asset, type Broker, isBuyable } from '../../broker/index.js'

/** An asset's record changes rarely: with a corporate action, or when the broker halts it. */
const ASSET_MAX_AGE_MS = 15 * 60_000

/** The broker's records of assets, remembered. */
export interface TradableAssets {
  /**
   * Those of the symbols that can be traded here, in the order given: active, tradable, and fractionable, as orders
   * are by amount. A record that can't be renewed is used as it is.
   * @throws BrokerError when the broker does not answer for a symbol that was never looked up
   */
  among(symbols: readonly string[]): Promise<Asset[]>
}

export function createTradableAssets(deps: {
  readonly broker: Pick<Broker, 'getAsset'>
  /** Milliseconds of a clock that nobody sets. */
  readonly steadyNow: () => number
}): TradableAssets {
  const records = new Map<string, { readonly asset: Asset | null; readonly readAt: number }>()

  async function lookUp(symbol: string): Promise<Asset | null> {
    const known = records.get(symbol)
    if (known !== undefined && deps.steadyNow() - known.readAt < ASSET_MAX_AGE_MS) return known.asset
    try {
      const asset = await deps.broker.getAsset(symbol)
      records.set(symbol, { asset, readAt: deps.steadyNow() })
      return asset
    } catch (error) {
      if (known === undefined) throw error
      return known.asset
    }
  }

  return {
    async among(symbols) {
      // All settle first, so that what was answered is kept even when one was not.
      const looked = await Promise.allSettled(symbols.map(lookUp))
      const assets: Asset[] = []
      for (const result of looked) {
        if (result.status === 'rejected') throw result.reason
        if (result.value !== null && isBuyable(result.value)) assets.push(result.value)
      }
      return assets
    },
  }
}
