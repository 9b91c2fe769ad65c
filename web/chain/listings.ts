import { Interface } from 'ethers'
import * as z from 'zod'
import { equityTokenAbi } from '../../src/chain/generated/equityTokenAbi.js'
import { type Eip1193Provider, type Hex, type LogListing, readLogs } from '../../src/client/index.js'
import { addressSchema } from '../../src/protocol/address.js'
import { bytes32Schema } from '../../src/protocol/hex.js'
import { bytes32ToName } from '../../src/protocol/identifiers.js'
import type { Ask } from '../query.js'
import type { Settings } from '../settings.js'
import { contractsOf } from './contracts.js'
import { once } from './once.js'
import { topicOf } from './read.js'
import { createTail } from './tail.js'

/** The equities that were ever listed, and the holdings that are frozen. */
export interface Listings {
  /** By symbol. */
  readonly equities: readonly { readonly symbol: string; readonly isListed: boolean }[]
  /** In the order in which they were frozen. */
  readonly frozen: readonly FrozenHolding[]
  /** Whether every event has been read. */
  readonly isComplete: boolean
}

/** The shares of one equity in one wallet. */
export interface FrozenHolding {
  readonly symbol: string
  readonly wallet: Hex
}

const token = new Interface(equityTokenAbi)
const symbolSchema = bytes32Schema.transform((id) => bytes32ToName(id) ?? id)
const listingSchema = z.object({ symbol: symbolSchema, listed: z.boolean() })
const freezeSchema = z.object({ symbol: symbolSchema, wallet: addressSchema, frozen: z.boolean() })

/** Reads the events of listings and freezes from the deployment on. */
export function createListingsReader(provider: Eip1193Provider, { pins, chain }: Settings): Ask<Listings> {
  const begun = once(async () => {
    const { token: address } = await contractsOf(provider, pins.escrow)
    const topics = [['ListingUpdated', 'FreezeUpdated'].map((event) => topicOf(equityTokenAbi, event))]
    const query = { addresses: [address], topics }
    return createTail<LogListing>((options) =>
      readLogs(provider, query, { fromBlock: chain.firstBlock, ...options }),
    )
  })
  return async (signal, report) => {
    const look = await begun()
    const shown = ({ logs, isComplete }: LogListing) => ({ ...listingsOf(logs), isComplete })
    return shown(await look(signal, (soFar) => report(shown(soFar))))
  }
}

/** @param logs oldest first */
export function listingsOf(
  logs: readonly { readonly topics: readonly string[]; readonly data: string }[],
): Omit<Listings, 'isComplete'> {
  const listed = new Map<string, boolean>()
  const frozen = new Map<string, FrozenHolding>()
  for (const log of logs) {
    const event = token.parseLog({ topics: [...log.topics], data: log.data })
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
