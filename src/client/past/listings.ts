import * as z from 'zod'
import { addressSchema } from '../../protocol/address.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import { bytes32ToName } from '../../protocol/identifiers.js'
import { tokenEvents } from '../contractEvents.js'

/** The equities that were ever listed, and the holdings that are frozen. */
export interface Listings {
  /** By symbol. */
  readonly equities: readonly { readonly symbol: string; readonly isListed: boolean }[]
  /** In the order in which they were frozen. */
  readonly frozen: readonly FrozenHolding[]
}

/** The shares of one equity in one wallet. */
export interface FrozenHolding {
  readonly symbol: string
  readonly wallet: Hex
}

const symbolSchema = bytes32Schema.transform((id) => bytes32ToName(id) ?? id)
const listingSchema = z.object({ symbol: symbolSchema, listed: z.boolean() })
const freezeSchema = z.object({ symbol: symbolSchema, wallet: addressSchema, frozen: z.boolean() })

/** @param logs oldest first */
export function listingsOf(
  logs: readonly { readonly topics: readonly string[]; readonly data: string }[],
): Listings {
  const listed = new Map<string, boolean>()
  const frozen = new Map<string, FrozenHolding>()
  for (const log of logs) {
    const event = tokenEvents.parseLog({ topics: [...log.topics], data: log.data })
    if (event?.name === 'ListingUpdated') {
      const { symbol, listed: isListed } = listingSchema.parse(event.args.toObject())
      listed.set(symbol, isListed)
    } else if (event?.name === 'FreezeUpdated') {
      const { symbol, wallet, frozen: isFrozen } = freezeSchema.parse(event.args.toObject())
      if (isFrozen) frozen.set(`${symbol} ${wallet}`, { symbol, wallet })
      else frozen.delete(`${symbol} ${wallet}`)
    }
  }
  const equities = [...listed]
    .map(([symbol, isListed]) => ({ symbol, isListed }))
    .sort((a, b) => (a.symbol < b.symbol ? -1 : 1))
  return { equities, frozen: [...frozen.values()] }
}
