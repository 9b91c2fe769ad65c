// The facts that the contracts' events establish. Pure: the logs have been read before, and are given oldest first.
import { Interface } from 'ethers'
import * as z from 'zod/mini'
import type { ChainLog } from '../../chain/logReader.js'
import { addressSchema } from '../../protocol/address.js'
import { bytes32Schema, type Hex, hexOf } from '../../protocol/hex.js'
import { bytes32ToName } from '../../protocol/identifiers.js'
import { PAST_EVENTS } from '../abis.js'
import type { BlockPlace } from '../keptLists.js'

interface Log {
  readonly topics: readonly string[]
  readonly data: string
}

const symbolSchema = z.pipe(
  bytes32Schema,
  z.transform((id) => bytes32ToName(id) ?? id),
)
const eventSchema = z.discriminatedUnion('name', [
  z.object({
    name: z.literal('ListingUpdated'),
    args: z.object({ symbol: symbolSchema, listed: z.boolean() }),
  }),
  z.object({
    name: z.literal('FreezeUpdated'),
    args: z.object({ symbol: symbolSchema, wallet: addressSchema, frozen: z.boolean() }),
  }),
  z.object({
    name: z.literal('InstitutionRegistered'),
    args: z.object({ orgId: bytes32Schema, admin: addressSchema }),
  }),
  z.object({
    name: z.literal('MemberUpdated'),
    args: z.object({ wallet: addressSchema, active: z.boolean() }),
  }),
  z.object({
    name: z.literal('KycUpdated'),
    args: z.object({ wallet: addressSchema, verified: z.boolean() }),
  }),
  z.object({ name: z.literal('AdminTransferred'), args: z.object({ from: addressSchema }) }),
  z.object({
    name: z.literal('PolicyUpdated'),
    args: z.object({ version: z.pipe(z.bigint(), z.transform(Number)) }),
  }),
  z.object({
    name: z.literal('MoveProposed'),
    args: z.object({ orgId: bytes32Schema, from: addressSchema, to: addressSchema }),
  }),
  z.object({
    name: z.literal('MoveWithdrawn'),
    args: z.object({ from: addressSchema, to: addressSchema, by: addressSchema }),
  }),
  z.object({
    name: z.literal('PortfolioMoved'),
    args: z.object({ from: addressSchema, to: addressSchema, partsLeft: z.bigint() }),
  }),
])

/** What a log says, where it is one of these events. */
type EventReader = (log: Log) => z.output<typeof eventSchema> | undefined

/** Parses each log once: a list is judged again with every new piece of it. */
export function createEventReader(): EventReader {
  const known = new WeakMap<Log, ReturnType<EventReader>>()
  let events: Interface | undefined
  return (log) => {
    if (!known.has(log)) {
      const { topics, data } = log
      events ??= new Interface(PAST_EVENTS)
      const event = events.parseLog({ topics: [...topics], data })
      known.set(log, eventSchema.safeParse({ name: event?.name, args: event?.args.toObject() }).data)
    }
    return known.get(log)
  }
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

export function listingsOf(logs: readonly Log[], eventIn: EventReader): Listings {
  const listings = new Map<string, boolean>()
  const holdings = new Map<string, FrozenHolding>()
  for (const log of logs) {
    const event = eventIn(log)
    if (event?.name === 'ListingUpdated') listings.set(event.args.symbol, event.args.listed)
    else if (event?.name === 'FreezeUpdated') {
      const { symbol, wallet, frozen } = event.args
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

/**
 * The rulebooks in the events of ledger and registry, newest first.
 * @param admin the present one: before a transfer it was the one who handed over
 */
export function publishedIn(logs: readonly ChainLog[], admin: Hex, eventIn: EventReader): Published[] {
  const found: Published[] = []
  let author = admin
  for (const log of logs.toReversed()) {
    const event = eventIn(log)
    if (event?.name === 'AdminTransferred') author = event.args.from
    else if (event?.name === 'PolicyUpdated') found.push({ ...event.args, admin: author, log })
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
  rulebook: BlockPlace,
  changes: readonly (BlockPlace & { readonly data: string })[],
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

/** The last founding of each founder, and the active members whose last KYC event does not clear them. */
export function waitingIn(logs: readonly Log[], eventIn: EventReader) {
  const founders = new Map<Hex, Hex>()
  const members = new Set<Hex>()
  const cleared = new Set<Hex>()
  const change = (set: Set<Hex>, wallet: Hex, isIn: boolean) => (isIn ? set.add(wallet) : set.delete(wallet))
  for (const log of logs) {
    const event = eventIn(log)
    if (event?.name === 'InstitutionRegistered') founders.set(event.args.admin, event.args.orgId)
    else if (event?.name === 'MemberUpdated') change(members, event.args.wallet, event.args.active)
    else if (event?.name === 'KycUpdated') change(cleared, event.args.wallet, event.args.verified)
  }
  return { founders, unverified: [...members].filter((wallet) => !cleared.has(wallet)) }
}

/** The last proposal for a lost wallet, and how it ended. */
interface ProposedMove {
  readonly orgId: Hex
  readonly from: Hex
  readonly to: Hex
  /** Undefined while it has not ended. `by`: who ended it; null where it was carried out. */
  readonly end?: { readonly by: Hex | null; readonly log: ChainLog }
}

/** The last proposal for each lost wallet, in the order of its beginning or end. */
export function movesIn(logs: readonly ChainLog[], eventIn: EventReader): ProposedMove[] {
  const found = new Map<Hex, ProposedMove>()
  for (const log of logs) {
    const event = eventIn(log)
    if (event?.name === 'MoveProposed') put(event.args)
    else if (event?.name === 'MoveWithdrawn') end(event.args.from, { by: event.args.by, log })
    else if (event?.name === 'PortfolioMoved' && event.args.partsLeft === 0n)
      end(event.args.from, { by: null, log })
  }
  return [...found.values()]

  function end(from: Hex, how: NonNullable<ProposedMove['end']>) {
    const move = found.get(from)
    if (move !== undefined) put({ ...move, end: how })
  }
  function put(move: ProposedMove) {
    found.delete(move.from)
    found.set(move.from, move)
  }
}
