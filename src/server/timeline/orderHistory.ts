import { LRUCache } from 'lru-cache'
import * as z from 'zod'
import { firstBlockSince } from '../../chain/blockTimes.js'
import { FINAL_DEPTH, fitOf } from '../../chain/blockTracker.js'
import {
  calledAuthorization,
  type EndingType,
  forwardedAuthorizations,
  isReclaim,
} from '../../chain/calledAuthorization.js'
import type { EscrowedOrder } from '../../chain/contracts.js'
import { ChainAnswerError } from '../../chain/errors.js'
import { blockCall, blockSchema, resultOf } from '../../chain/jsonRpc.js'
import type { BlockId } from '../../chain/logReader.js'
import type { Rpc } from '../../chain/rpc.js'
import { addressValue } from '../../chain/views.js'
import { type AuthorizationDomain, authorizationDigest } from '../../protocol/authorization.js'
import { type Hex, hexBetween } from '../../protocol/hex.js'
import { isReclaimable } from '../../protocol/reclaimDelay.js'
import {
  type ClosedEvent,
  createRangeReader,
  type EscrowEvent,
  type EscrowEvents,
  type EscrowPiece,
} from '../escrow/escrowLogs.js'
import type { ChainHead } from '../reads/chainHead.js'

interface OrderEvent {
  readonly txHash: Hex
  readonly blockNumber: number
  /** The block's, in Unix seconds. */
  readonly time: number
}

/** How an order ended. A reclaim is the account's own doing; its event is that of a refund. */
export interface OrderEnd extends OrderEvent {
  readonly kind: 'settled' | 'refunded' | 'reclaimed'
  /** Digest of the authorization in the transaction, direct or forwarded; null for a reclaim, and where it is unknown. */
  readonly digest: Hex | null
}

export interface OrderHistory {
  readonly opened: (OrderEvent & { readonly commit: Hex }) | null
  readonly ended: OrderEnd | null
}

export const NO_HISTORY: OrderHistory = { opened: null, ended: null }

/** A block has no longer transaction, whatever pools refuse. */
const MAX_CALL_BYTES = 1_048_576

const transactionSchema = z.looseObject({
  to: z.nullable(addressValue),
  input: hexBetween(0, MAX_CALL_BYTES),
})

/** The cause of an order's end: the authorization of this digest, or the account's own call; null when it is unknown. */
type Cause = { readonly digest: Hex } | 'reclaim' | null

const ENDINGS = { settled: 'OrderSettlement', refunded: 'OrderRefund' } as const satisfies Record<
  ClosedEvent['kind'],
  EndingType
>

/**
 * Makes an order's history of its events, and adds the blocks' times and the authorization that ended the order. Its calls travel as one
 * request. The function throws ChainUnavailableError, ChainAnswerError.
 *
 * @param domain the EIP-712 domain of the escrow's authorizations
 */
function createHistoryReader({ rpc, domain, escrow }: Parameters<typeof createOrderHistories>[0]) {
  async function orderEvent({ txHash, position }: EscrowEvent): Promise<OrderEvent> {
    const [answer] = await rpc.send([blockCall(position.block)])
    return { txHash, blockNumber: position.block, time: resultOf(answer, blockSchema).timestamp }
  }

  async function causeOf({ txHash, orderId, kind }: ClosedEvent): Promise<Cause> {
    const [answer] = await rpc.send([{ method: 'eth_getTransactionByHash', params: [txHash] }])
    const { to, input } = resultOf(answer, transactionSchema)
    const isForwarded = to !== domain.verifyingContract
    const digest = isForwarded
      ? await forwarded(ENDINGS[kind], orderId, input)
      : called(ENDINGS[kind], orderId, input)
    if (digest !== null) return { digest }
    return kind === 'refunded' && isReclaim(orderId, input, isForwarded) ? 'reclaim' : null
  }

  /** The event proves that the contract executed the call. */
  function called(type: EndingType, orderId: Hex, input: Hex): Hex | null {
    const authorization = calledAuthorization(type, input)
    if (authorization === null) return null
    return authorization.message.orderId === orderId ? authorizationDigest(authorization, domain) : null
  }

  /** Another contract's calldata may hold several authorizations; the escrow used at most one because an order ends once. */
  async function forwarded(type: EndingType, orderId: Hex, input: Hex): Promise<Hex | null> {
    const found = forwardedAuthorizations(type, orderId, input)
    const digests = [...new Set(found.map((authorization) => authorizationDigest(authorization, domain)))]
    const used = await Promise.all(digests.map((digest) => escrow.usedDigest(digest)))
    return digests[used.indexOf(true)] ?? null
  }

  return async (events: readonly EscrowEvent[]): Promise<OrderHistory> => {
    const opening = events.findLast((event) => event.kind === 'opened')
    const ending = events.findLast((event): event is ClosedEvent => event.kind !== 'opened')
    const [opened, ended, cause] = await Promise.all([
      opening && orderEvent(opening),
      ending && orderEvent(ending),
      ending && causeOf(ending),
    ])
    return {
      opened: opening && opened ? { ...opened, commit: opening.commit } : null,
      ended: ending && ended ? endOf(ending.kind, ended, cause ?? null, opening?.deadline) : null,
    }
  }
}

/** Another contract's calldata may hold a reclaim that it never made: one that comes too early is none. */
function endOf(
  kind: 'settled' | 'refunded',
  event: OrderEvent,
  cause: Cause,
  deadline: number | undefined,
): OrderEnd {
  if (cause !== 'reclaim') return { ...event, kind, digest: cause?.digest ?? null }
  const isInTime = deadline === undefined || isReclaimable(deadline, event.time)
  return { ...event, kind: isInTime ? 'reclaimed' : kind, digest: null }
}

interface Known {
  readonly events: readonly EscrowEvent[]
  readonly history: OrderHistory
  /** The block as of which this is true. */
  readonly at: BlockId
}

/** Orders whose history is kept, and those of which only the block of their opening is: some megabytes each. */
const HISTORIES = 10_000
const OPENINGS = 100_000
/** The contract's `MAX_LIFETIME`: seconds from opening to deadline at most. */
const MAX_LIFETIME_SECONDS = 30 * 24 * 3_600

/** The orders' events on the chain, kept with the head at which they were read. */
export function createOrderHistories(options: {
  readonly rpc: Pick<Rpc, 'send'>
  readonly domain: AuthorizationDomain
  readonly escrow: {
    orders(orderId: Hex): Promise<EscrowedOrder>
    usedDigest(digest: Hex): Promise<boolean>
  }
  readonly head: Pick<ChainHead, 'note' | 'ask' | 'current'>
  readonly events: EscrowEvents
  /** Blocks that one query of events may span. */
  readonly maxBlocks: number
}) {
  const { head: chainHead, events, escrow, maxBlocks } = options
  const readHistory = createHistoryReader(options)
  const histories = new LRUCache<Hex, Known>({ max: HISTORIES })
  const openings = new LRUCache<Hex, number>({ max: OPENINGS })

  /** The known history, brought up to the head; undefined when it is of another chain, or the order was not on it. */
  async function followed(orderId: Hex, known: Known): Promise<Known | undefined> {
    const head = await chainHead.current()
    if (isCurrent(known, head)) return known
    // The node that found no order may have been behind.
    if (known.history.opened === null) return undefined
    const later = await scan(events, maxBlocks, orderId, { from: known.at.number + 1, head, isOpen: false })
    if (later === undefined) return known
    if (fitOf(known.at, later.parent) !== 'kept') return undefined
    if (later.events.length === 0) return { ...known, at: later.at }
    return withHistory([...known.events, ...later.events], later.at)
  }

  async function begin(orderId: Hex): Promise<Known> {
    // The head is asked for first, so that the escrow's state is not older than the blocks that are read.
    const head = await chainHead.ask(events.head)
    const { state, deadline } = await escrow.orders(orderId)
    if (state === 'NONE') return { events: [], history: NO_HISTORY, at: head }
    const range = { head, isOpen: state === 'OPEN' }
    const near = Math.max(0, (openings.get(orderId) ?? head.number - maxBlocks) - FINAL_DEPTH)
    const recent = await scan(events, maxBlocks, orderId, { ...range, from: near })
    const isFound = near === 0 || recent?.events[0]?.kind === 'opened'
    const found = isFound ? recent : await search(orderId, range, deadline)
    if (found === undefined) throw new ChainAnswerError('the node is behind')
    return withHistory(found.events, found.at)
  }

  /** Covers an order that was opened too long ago for its opening to be known. */
  async function search(orderId: Hex, range: { head: BlockId; isOpen: boolean }, deadline: number) {
    const since = deadline - MAX_LIFETIME_SECONDS
    const from = await firstBlockSince(events.blockTime, since, range.head.number)
    return scan(events, maxBlocks, orderId, { ...range, from })
  }

  async function withHistory(found: readonly EscrowEvent[], at: BlockId): Promise<Known> {
    return { events: found, history: await readHistory(found), at }
  }

  return {
    /**
     * The order's history at the latest block, empty when the chain does not know it. Reads only when the head has moved, and never again
     * once the order's end is final. No caller joins another one's read, which may wait for the turn of a client that asks for much.
     * @throws ChainUnavailableError, ChainAnswerError
     */
    async of(orderId: Hex): Promise<OrderHistory> {
      const known = histories.get(orderId)
      const next = (known && (await followed(orderId, known))) ?? (await begin(orderId))
      histories.set(orderId, next)
      return next.history
    },
    observer: {
      onHead: chainHead.note,
      onEvents(seen: readonly EscrowEvent[]) {
        for (const event of seen) {
          if (event.kind === 'opened') openings.set(event.orderId, event.position.block)
        }
      },
    },
  }
}

/** Whether no event can have been added or removed since. */
function isCurrent({ events, at }: Known, head: BlockId): boolean {
  return at.hash === head.hash || (isFinal(events, at) && head.number >= at.number)
}

/**
 * Reads the events of one order, in pieces that the nodes accept. Undefined when the node that answered is behind, or the
 * chain was reorganized in between.
 * @returns in their order; with the block before the range, null when there is none, and the one as of which this is true
 * @throws ChainUnavailableError, ChainAnswerError
 */
async function scan(
  events: EscrowEvents,
  maxBlocks: number,
  orderId: Hex,
  options: {
    readonly from: number
    readonly head: BlockId
    /** The escrow says that the order has not ended, so no block between its opening and the head need be read. */
    readonly isOpen: boolean
  },
): Promise<{ events: EscrowEvent[]; parent: BlockId | null; at: BlockId } | undefined> {
  const { from, head, isOpen } = options
  const ranges = createRangeReader(events, maxBlocks, orderId)
  const found: EscrowEvent[] = []
  let first: EscrowPiece | undefined
  let last: EscrowPiece | undefined
  let next = from
  while (next <= head.number && !isFinal(found, head)) {
    const piece = await ranges.readPiece({ from: next, to: head.number })
    if (piece === undefined) return undefined
    if (last !== undefined && fitOf(last.last, piece.parent) !== 'kept') return undefined
    first ??= piece
    last = piece
    found.push(...piece.events)
    next = piece.to + 1
    // The node that gave the escrow's state may have been some blocks behind.
    if (isOpen && found.length > 0) next = Math.max(next, head.number - FINAL_DEPTH)
  }
  const at = last?.last.number === head.number ? last.last : head
  return { events: found, parent: first?.parent ?? null, at }
}

/** Whether the order's end is so deep in the chain that no reorganization removes it. */
function isFinal(events: readonly EscrowEvent[], at: BlockId): boolean {
  const end = events.at(-1)
  return end !== undefined && end.kind !== 'opened' && at.number - end.position.block >= FINAL_DEPTH
}
