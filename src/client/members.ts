// The wallets of an institution, which no view of the contracts lists.
import * as z from 'zod/mini'
import { addressIn, type ChainLog, numberIn, wordAt } from '../chain/logReader.js'
import { addressSchema } from '../protocol/address.js'
import type { Hex } from '../protocol/hex.js'
import { ADMIN_ABI } from './abis.js'
import { createContract } from './contract.js'
import { topicOf } from './contractEvents.js'
import { type BlockPlace, keepList, keptHex, listShape, type ReadList } from './keptLists.js'
import { type ListOptions, readEvents } from './logList.js'
import { createNode } from './node.js'
import type { PlatformContracts } from './platform.js'
import type { Wallet } from './wallet.js'

/** An invitation, a joining, a departure or a removal. */
export interface MembershipEvent extends BlockPlace {
  readonly account: Hex
  /** Whether the wallet joined; false for every other event. */
  readonly isActive: boolean
}

/**
 * A wallet that the events name. `leaving`: a member until the departure takes effect, who cannot buy. `former`: it left or was
 * removed, or its invitation was withdrawn.
 */
export interface Member {
  readonly account: Hex
  readonly state: 'member' | 'leaving' | 'invited' | 'former'
  /** The block of the newest event that names it. */
  readonly changedAt: number
}

export interface MemberList extends ReadList {
  /** Further accounts that may be members. */
  readonly admin: Hex
  /** Each wallet once, the one that changed last first. */
  readonly members: readonly Member[]
  /** Oldest first: of each wallet the newest settled one, and the unsettled ones. */
  readonly events: readonly MembershipEvent[]
}

export type MemberListOptions = Omit<ListOptions<MemberList>, 'limit'>

interface MembersDeps {
  readonly wallet: Wallet
  readonly contracts: Pick<PlatformContracts, 'registry'>
}

const MEMBER_UPDATED = topicOf('MemberUpdated')

/**
 * Events name every wallet that ever belonged. One whose newest event made it a member is one; the registry tells what the others are, a
 * chunk of them in each call, and is asked again only where that may have changed. What has been read so far is yielded after each chunk.
 */
export async function* membersOf(
  deps: MembersDeps,
  orgId: Hex,
  { resume, store, ...options }: MemberListOptions = {},
): AsyncGenerator<MemberList, void, undefined> {
  const name = async () => `members/${await deps.wallet.chainId()}/${deps.contracts.registry}/${orgId}`
  const kept = {
    ...{ store, name, schema: membersSchema, rows: ['members', 'events'] as const },
    itemsOf: ({ events }: MemberList) => events,
  }
  yield* keepList(kept, resume, (from) => readMembers(deps, orgId, { ...options, resume: from }))
}

async function* readMembers(
  { wallet, contracts }: MembersDeps,
  orgId: Hex,
  { resume, ...options }: Omit<MemberListOptions, 'store'>,
): AsyncGenerator<MemberList, void, undefined> {
  const { registry: address } = contracts
  const registry = createContract({ wallet, address, abi: ADMIN_ABI })
  const known = new Map(resume?.members.map((member) => [member.account, member]))
  const asked = new Set<Hex>()
  let settledTo = resume?.checkpoint?.number ?? 0
  let last = resume && { members: resume.members, newest: newestFirst(resume.events) }

  /** Only a departure changes a state without an event. A node that lags may have answered from before a new event. */
  function isKnown({ account, blockNumber }: MembershipEvent): boolean {
    const before = known.get(account)
    if (before?.changedAt !== blockNumber) return false
    return asked.has(account) || (blockNumber <= settledTo && before.state !== 'leaving')
  }

  function note({ account, blockNumber: changedAt }: MembershipEvent, state: Member['state']): void {
    const before = known.get(account)
    if (before?.state === state && before.changedAt === changedAt) return
    known.set(account, { account, state, changedAt })
    last = undefined
  }

  /** The last ones where nothing has changed: so a page that polls has nothing to compute anew. */
  function membersIn(newest: readonly MembershipEvent[]): readonly Member[] {
    if (last?.newest !== newest) {
      last = { newest, members: newest.flatMap(({ account }) => known.get(account) ?? []) }
    }
    return last.members
  }

  async function read(events: readonly MembershipEvent[]): Promise<void> {
    if (events.length === 0) return
    const accounts = events.map(({ account }) => account)
    const states = await registry.read('membershipsOf', [orgId, accounts], membershipsSchema)
    for (const [index, event] of events.entries()) {
      note(event, states[index] ?? 'former')
      asked.add(event.account)
    }
  }

  const queries = [{ address, topics: [MEMBER_UPDATED, orgId] }]
  const rpc = createNode(wallet, options.signal)
  const found = resume && { ...resume, items: resume.events }
  const keyOf = ({ account }: MembershipEvent) => account
  const admin = await registry.read<Hex>('adminOf', [orgId], addressSchema)
  for await (const { items: events, ...listing } of readEvents(
    { rpc, queries, itemOf: createEventReader(), keyOf },
    { ...options, resume: found },
  )) {
    // The list is read anew: its checkpoint was not on the chain any more.
    if ((listing.read?.from ?? 0) > (resume?.read?.from ?? 0)) settledTo = -1
    const newest = newestFirst(events)
    for (const event of newest) if (event.isActive) note(event, 'member')
    const unknown = newest.filter((event) => !event.isActive && !isKnown(event))
    while (unknown.length > CHUNK) {
      options.signal?.throwIfAborted()
      await read(unknown.splice(0, CHUNK))
      yield { admin, members: membersIn(newest), events, ...listing, isComplete: false }
    }
    await read(unknown)
    yield { admin, members: membersIn(newest), events, ...listing }
  }
}

/** A call that reads so many costs some 4,000,000 gas; nodes allow ten times as much. */
const CHUNK = 500
/** `Membership` of the registry. */
const MEMBERSHIPS = ['former', 'invited', 'member', 'leaving'] as const
const membershipsSchema = z.array(
  z.pipe(
    z.pipe(
      z.pipe(z.bigint(), z.transform(Number)),
      z.int().check(z.minimum(0), z.maximum(MEMBERSHIPS.length - 1)),
    ),
    z.transform((index) => MEMBERSHIPS[index] ?? 'former'),
  ),
)

/** Works out the checksum of each address once: most wallets have two events, and nothing of them takes longer. */
function createEventReader() {
  const accounts = new Map<string, Hex>()
  return ({ topics: [, , word = '0x'], data, blockNumber, logIndex }: ChainLog): MembershipEvent => {
    const account = accounts.get(word) ?? addressIn(word)
    accounts.set(word, account)
    return { account, isActive: numberIn(wordAt(data, 0)) === 1, blockNumber, logIndex }
  }
}

const newestKnown = new WeakMap<readonly MembershipEvent[], readonly MembershipEvent[]>()

/** The newest event of each wallet; worked out once for each list of events. */
function newestFirst(events: readonly MembershipEvent[]): readonly MembershipEvent[] {
  const known = newestKnown.get(events)
  if (known !== undefined) return known
  const newest = new Map<Hex, MembershipEvent>()
  for (const event of events.toReversed()) if (!newest.has(event.account)) newest.set(event.account, event)
  const found = [...newest.values()]
  newestKnown.set(events, found)
  return found
}

const place = { blockNumber: z.int(), logIndex: z.int() }
const membersSchema = z.strictObject({
  ...listShape,
  admin: keptHex,
  members: z.array(z.strictObject({ account: keptHex, state: z.enum([...MEMBERSHIPS]), changedAt: z.int() })),
  events: z.array(z.strictObject({ account: keptHex, isActive: z.boolean(), ...place })),
})
