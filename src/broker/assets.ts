import { z } from 'zod'
import { BrokerError } from './errors.js'
import type { BrokerHttp } from './http.js'

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
