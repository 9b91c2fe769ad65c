// The facts that the contracts' events establish. Pure: the logs have been read before, and are given oldest first.
import type { Interface } from 'ethers'
import * as z from 'zod'
import type { ChainLog } from '../../chain/logReader.js'
import { addressSchema } from '../../protocol/address.js'
import { bytes32Schema, type Hex, hexOf } from '../../protocol/hex.js'
import { bytes32ToName } from '../../protocol/identifiers.js'
import { ledgerEvents, registryEvents, tokenEvents } from '../contractEvents.js'
import type { ListedAt } from '../listing.js'

interface Log {
  readonly topics: readonly string[]
  readonly data: string
}

/** The logs that are events of the contracts, each with its name and what it says. */
function eventsIn<L extends Log>(logs: readonly L[], contracts: readonly Interface[]) {
  return logs.flatMap((log) => {
    const { topics, data } = log
    const [event] = contracts.flatMap((each) => each.parseLog({ topics: [...topics], data }) ?? [])
    return event === undefined ? [] : [{ log, name: event.name, args: event.args.toObject() }]
  })
}

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

export function listingsOf(logs: readonly Log[]): Listings {
  const listings = new Map<string, boolean>()
  const holdings = new Map<string, FrozenHolding>()
  for (const { name, args } of eventsIn(logs, [tokenEvents])) {
    if (name === 'ListingUpdated') {
      const { symbol, listed } = listingSchema.parse(args)
      listings.set(symbol, listed)
    } else if (name === 'FreezeUpdated') {
      const { symbol, wallet, frozen } = freezeSchema.parse(args)
      if (frozen) holdings.set(`${symbol} ${wallet}`, { symbol, wallet })
      else holdings.delete(`${symbol} ${wallet}`)
    }
  }
  const equities = [...listings]
    .map(([symbol, isListed]) => ({ symbol, isListed }))
    .sort((a, b) => (a.symbol < b.symbol ? -1 : 1))
  return { equities, frozen: [...holdings.values()] }
}

/** A rulebook that came into force. */
export interface PublishedVersion {
  readonly version: number
  /** The block's time in Unix seconds. */
  readonly at: number
  /** Its signer: the ledger takes a rulebook from the institution's admin of that block alone. */
  readonly admin: Hex
}

type Published = Omit<PublishedVersion, 'at'> & { readonly log: ChainLog }

const transferSchema = z.object({ from: addressSchema })
const publicationSchema = z.object({ version: z.bigint().transform(Number) })

/**
 * The rulebooks in the events of ledger and registry, newest first.
 * @param admin the present one: before a transfer it was the one who handed over
 */
export function publishedIn(logs: readonly ChainLog[], admin: Hex): Published[] {
  const found: Published[] = []
  let author = admin
  for (const { name, args, log } of eventsIn(logs.toReversed(), [ledgerEvents, registryEvents])) {
    if (name === 'AdminTransferred') author = transferSchema.parse(args).from
    if (name !== 'PolicyUpdated') continue
    found.push({ ...publicationSchema.parse(args), admin: author, log })
  }
  return found
}

/**
 * A wallet's standing in its institution when the rulebook in force was published. The list of wallets in the rulebook
 * is sealed; its admin can only have listed wallets known then. `outsider`: invited later.
 */
export type Standing = 'member' | 'invited' | 'outsider'

const flagSchema = hexOf(32)

/** @param changes the wallet's membership changes in the institution */
export function standingAt(
  rulebook: ListedAt,
  changes: readonly (ListedAt & { readonly data: string })[],
): Standing {
  const before = changes.filter(
    ({ blockNumber, logIndex }) =>
      blockNumber < rulebook.blockNumber ||
      (blockNumber === rulebook.blockNumber && logIndex < rulebook.logIndex),
  )
  const last = before.at(-1)
  if (last === undefined) return 'outsider'
  return BigInt(flagSchema.parse(last.data)) === 1n ? 'member' : 'invited'
}

/** Matters that wait for the platform's owner, who alone can end them. */
export interface Waiting {
  /** Institutions that were founded and never admitted. */
  readonly founded: readonly { readonly orgId: Hex; readonly founder: Hex }[]
  /** Members that have not passed KYC, the longest waiting first. */
  readonly unverified: readonly Hex[]
}

const foundedSchema = z.object({ orgId: bytes32Schema, admin: addressSchema })
const memberSchema = z.object({ wallet: addressSchema, active: z.boolean() })
const kycSchema = z.object({ wallet: addressSchema, verified: z.boolean() })

/** The last founding of each founder, and the active members whose last KYC event does not clear them. */
export function waitingIn(logs: readonly Log[]) {
  const founders = new Map<Hex, Hex>()
  const members = new Set<Hex>()
  const cleared = new Set<Hex>()
  const change = (set: Set<Hex>, wallet: Hex, isIn: boolean) => (isIn ? set.add(wallet) : set.delete(wallet))
  for (const { name, args } of eventsIn(logs, [registryEvents, tokenEvents])) {
    if (name === 'InstitutionRegistered') {
      const { orgId, admin } = foundedSchema.parse(args)
      founders.set(admin, orgId)
    } else if (name === 'MemberUpdated') {
      const { wallet, active } = memberSchema.parse(args)
      change(members, wallet, active)
    } else if (name === 'KycUpdated') {
      const { wallet, verified } = kycSchema.parse(args)
      change(cleared, wallet, verified)
    }
  }
  return { founders, unverified: [...members].filter((wallet) => !cleared.has(wallet)) }
}
