// What the contracts' events say of all that happened, through any provider: for pages of admins and of the platform's owner.
import type { ChainLog } from '../../chain/logReader.js'
import { addressSchema } from '../../protocol/address.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import { AUTHORITY_ABI, IMMUTABLES_ABI, PENDING_MATTERS_ABI } from '../abis.js'
import { createContract } from '../contract.js'
import { topicOf, topicOfAddress } from '../contractEvents.js'
import { ClientError } from '../errors.js'
import type { HistoryStore, ReadList } from '../keptLists.js'
import { untilAnswered } from '../later.js'
import { createTail, type LogList, type LogsQuery, listLogs, type Tail } from '../logList.js'
import { type AccountMove, moveSchema } from '../moves.js'
import { readContracts } from '../platform.js'
import type { RequestSource } from '../provider.js'
import { createWallet } from '../wallet.js'
import {
  createEventReader,
  type Listings,
  listingsOf,
  movesIn,
  type PublishedVersion,
  publishedIn,
  type Standing,
  standingAt,
  type Waiting,
  waitingIn,
} from './facts.js'

export interface PastOptions {
  /** From a source other than the server. It names every other contract. */
  readonly escrow: Hex
  /** The block of the contracts' deployment. */
  readonly fromBlock: number
  /** The contracts' chain: a node of another one is refused (`node-wrong-chain`). */
  readonly chainId?: number | undefined
  /** Keeps the lists between visits. */
  readonly store?: HistoryStore | undefined
}

type Progress = Pick<ReadList, 'isComplete' | 'read' | 'span'>

/** The rulebooks found so far, newest first. */
export interface PublishedVersions extends Progress {
  readonly versions: readonly PublishedVersion[]
}

/** A move of a portfolio that was proposed and has not ended. */
export interface PendingMove extends AccountMove {
  /** The lost wallet. */
  readonly from: Hex
}

/** The last move that was proposed for a lost wallet, where it has ended. */
export interface EndedMove {
  /** The institution whose admin proposed it. */
  readonly orgId: Hex
  /** The lost wallet. */
  readonly from: Hex
  readonly to: Hex
  /** Unix seconds. */
  readonly at: number
  /** Who ended it: the lost wallet by an objection, its institution's admin, or the owner. Null where it was carried out. */
  readonly by: Hex | null
}

export interface PastMoves extends Progress {
  /** Those that have not ended. */
  readonly moves: readonly PendingMove[]
  /** Newest first. */
  readonly ended: readonly EndedMove[]
}

/**
 * Each list is read to its end, and from then on what is new: keep it, and ask it again. One that fails keeps what it has read.
 * Every method fails with a ClientError, such as `node-unavailable`.
 */
export interface Past {
  /**
   * The newest hundred events of the five contracts.
   * @example const { logs } = await past.events()()
   */
  events(): Tail<LogList>
  /**
   * The equities that were ever listed, and the holdings that are frozen.
   * @example const { equities, frozen } = await past.listings()()
   */
  listings(): Tail<Listings & Progress>
  /**
   * Matters that wait for the platform's owner.
   * @example const { founded, unverified } = await past.waiting()()
   */
  waiting(): Tail<Waiting & Progress>
  /**
   * When each version of an institution's rulebook came into force, and whose it was. `admin` is the present one.
   * @example const { versions } = await past.rulebooks({ orgId, admin: account })()
   */
  rulebooks(institution: { readonly orgId: Hex; readonly admin: Hex }): Tail<PublishedVersions>
  /**
   * A wallet's standing in its institution; null without a rulebook.
   * @example const standing = await past.standing({ orgId, wallet: account })()
   */
  standing(member: { readonly orgId: Hex; readonly wallet: Hex }): Tail<Standing | null>
  /**
   * The last move of each lost wallet's portfolio: those of an institution, those to a wallet, or all.
   * @example const { moves, ended } = await past.moves({ to: account })()
   */
  moves(of?: { readonly orgId?: Hex; readonly to?: Hex }): Tail<PastMoves>
  /**
   * Whether the wallet is the platform's owner.
   * @example const isOwner = await past.isOwner(account)
   */
  isOwner(wallet: Hex): Promise<boolean>
  /**
   * The time of an event's block, in Unix seconds. Asks for each block once, and only where the node does not tell it with the event.
   * @example for (const log of (await past.events()()).logs) console.log(await past.getBlockTime(log))
   */
  getBlockTime(log: Pick<ChainLog, 'blockHash' | 'blockTimestamp'>): Promise<number>
}

const SHOWN_EVENTS = 100

/**
 * Reads what the contracts' events say, through a wallet's provider or a node's.
 * @example const past = createPast(window.ethereum, { escrow: account, fromBlock: 1 })
 */
export function createPast(
  provider: RequestSource,
  { escrow, fromBlock, chainId, store }: PastOptions,
): Past {
  const wallet = createWallet(provider, { miningTimeoutMs: 0 })
  const contractAt = (address: Hex, abi: readonly string[]) => createContract({ wallet, address, abi })
  const ofEscrow = (method: string) => contractAt(escrow, IMMUTABLES_ABI).read<Hex>(method, [], addressSchema)
  const contracts = untilAnswered(async () => {
    const found = chainId === undefined ? chainId : await wallet.reads.chainId()
    if (found === chainId) return readContracts(wallet, escrow)
    throw new ClientError('node-wrong-chain', `The node is of chain ${found}, not of chain ${chainId}.`)
  })
  const times = new Map<Hex, number>()
  const eventIn = createEventReader()

  function tail(queryOf: () => Promise<LogsQuery>, limit?: number): Tail<LogList> {
    const begun = untilAnswered(async () => {
      const query = await queryOf()
      return createTail<LogList>((options) =>
        listLogs(provider, query, { fromBlock, limit, store, ...options }),
      )
    })
    return async (signal, report) => (await begun())(signal, report)
  }
  /** The events of some of the contracts. */
  const eventsOf = (
    names: readonly ('registry' | 'ledger' | 'token')[],
    query: Pick<LogsQuery, 'topics' | 'isState'>,
    limit?: number,
  ) =>
    tail(async () => {
      const found = await contracts()
      return { addresses: names.map((name) => found[name]), ...query }
    }, limit)

  async function getBlockTime({ blockHash, blockTimestamp }: Pick<ChainLog, 'blockHash' | 'blockTimestamp'>) {
    const at = blockTimestamp ?? times.get(blockHash) ?? (await wallet.reads.block(blockHash)).timestamp
    times.set(blockHash, at)
    return at
  }

  return {
    getBlockTime,
    async isOwner(address) {
      const authority = contractAt(await ofEscrow('authority'), AUTHORITY_ABI)
      return (await authority.read<Hex>('owner', [], addressSchema)) === address
    },
    events: () =>
      tail(async () => {
        const [{ registry, ledger, token, actions }, pool, authority] = await Promise.all([
          contracts(),
          ofEscrow('pool'),
          ofEscrow('authority'),
        ])
        return { addresses: [escrow, registry, ledger, token, pool, authority, actions] }
      }, SHOWN_EVENTS),
    listings: () =>
      judged(eventsOf(['token'], { topics: [[LISTING_UPDATED, FREEZE_UPDATED]], isState: true }), (logs) =>
        listingsOf(logs, eventIn),
      ),
    waiting: () =>
      judged(
        eventsOf(['registry', 'token'], {
          topics: [[INSTITUTION_REGISTERED, MEMBER_UPDATED, KYC_UPDATED]],
          isState: true,
        }),
        async (logs) => {
          const { founders, unverified } = waitingIn(logs, eventIn)
          const registry = contractAt((await contracts()).registry, PENDING_MATTERS_ABI)
          // A founder who joins another institution ends the founding, without an event of its own.
          const founded = [...founders].map(async ([founder, orgId]) => {
            const founding = await registry.read<Hex>('foundingOf', [founder], bytes32Schema)
            return founding === orgId ? [{ orgId, founder }] : []
          })
          return { founded: (await Promise.all(founded)).flat(), unverified }
        },
      ),
    rulebooks: ({ orgId, admin }) =>
      judged(
        eventsOf(['registry', 'ledger'], { topics: [[POLICY_UPDATED, ADMIN_TRANSFERRED], orgId] }),
        async (logs) => ({
          versions: await Promise.all(
            publishedIn(logs, admin, eventIn).map(async ({ log, ...one }) => ({
              ...one,
              at: await getBlockTime(log),
            })),
          ),
        }),
      ),
    moves: ({ orgId, to } = {}) =>
      judged(eventsOf(['registry', 'ledger'], { topics: [MOVE_EVENTS], isState: true }), async (logs) => {
        const registry = contractAt((await contracts()).registry, PENDING_MATTERS_ABI)
        const isAsked = (move: { readonly orgId: Hex; readonly to: Hex }) =>
          move.orgId === (orgId ?? move.orgId) && move.to === (to ?? move.to)
        const asked = movesIn(logs, eventIn).filter(isAsked)
        const moves = asked.map(async ({ from, end }) => {
          const move = end === undefined ? await registry.read('moveOf', [from], moveSchema) : null
          return move !== null && isAsked(move) ? [{ from, ...move }] : []
        })
        const ended = asked.map(async ({ end, ...move }) =>
          end === undefined ? [] : [{ ...move, by: end.by, at: await getBlockTime(end.log) }],
        )
        return {
          moves: (await Promise.all(moves)).flat(),
          ended: (await Promise.all(ended)).flat().toReversed(),
        }
      }),
    standing({ orgId, wallet: member }) {
      const published = eventsOf(['ledger'], { topics: [POLICY_UPDATED, orgId] }, 1)
      const changes = eventsOf(['registry'], { topics: [MEMBER_UPDATED, orgId, topicOfAddress(member)] })
      return async (signal) => {
        const [{ logs: rulebooks }, { logs }] = await Promise.all([published(signal), changes(signal)])
        const rulebook = rulebooks.at(-1)
        return rulebook === undefined ? null : standingAt(rulebook, logs)
      }
    },
  }
}

/** A list of the facts that events establish. */
function judged<T>(
  tail: Tail<LogList>,
  factsIn: (logs: LogList['logs']) => T | Promise<T>,
): Tail<T & Progress> {
  const shown = async ({ logs, isComplete, read, span }: LogList) => ({
    ...(await factsIn(logs)),
    ...{ isComplete, read, span },
  })
  return async (signal, report) =>
    shown(await tail(signal, report && (async (soFar) => report(await shown(soFar)))))
}

const LISTING_UPDATED = topicOf('ListingUpdated')
const FREEZE_UPDATED = topicOf('FreezeUpdated')
const MOVE_EVENTS = (['MoveProposed', 'MoveWithdrawn', 'PortfolioMoved'] as const).map(topicOf)
const KYC_UPDATED = topicOf('KycUpdated')
const INSTITUTION_REGISTERED = topicOf('InstitutionRegistered')
const MEMBER_UPDATED = topicOf('MemberUpdated')
const ADMIN_TRANSFERRED = topicOf('AdminTransferred')
const POLICY_UPDATED = topicOf('PolicyUpdated')
