import { z } from 'zod'
import {
  calledAuthorization,
  type EndingType,
  forwardedAuthorizations,
  isReclaim,
} from '../../chain/calledAuthorization.js'
import { blockCall, blockSchema, resultOf } from '../../chain/jsonRpc.js'
import type { Rpc } from '../../chain/rpc.js'
import { addressValue } from '../../chain/views.js'
import { type AuthorizationDomain, authorizationDigest } from '../../protocol/authorization.js'
import { type Hex, hexBetween } from '../../protocol/hex.js'
import { isReclaimable } from '../../protocol/reclaimDelay.js'
import type { ClosedEvent, EscrowEvent } from '../escrow/escrowLogs.js'

/** An event of an order on the chain. */
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

/** One order's events on the chain. */
export interface OrderHistory {
  readonly opened: (OrderEvent & { readonly commit: Hex }) | null
  readonly ended: OrderEnd | null
}

export const NO_HISTORY: OrderHistory = { opened: null, ended: null }

/**
 * Makes an order's history of its events, and adds the blocks' times and the authorization that ended the order. Its calls
 * travel as one request.
 *
 * @throws ChainUnavailableError, ChainAnswerError
 */
export type HistoryReader = (events: readonly EscrowEvent[]) => Promise<OrderHistory>

/** Nodes take no longer transaction. */
const MAX_CALL_BYTES = 1_048_576

const transactionSchema = z.looseObject({
  to: addressValue.nullable(),
  input: hexBetween(0, MAX_CALL_BYTES),
})

/** The cause of an order's end: the authorization of this digest, or the account's own call; null when it is unknown. */
type Cause = { readonly digest: Hex } | 'reclaim' | null

const ENDINGS = { settled: 'OrderSettlement', refunded: 'OrderRefund' } as const satisfies Record<
  ClosedEvent['kind'],
  EndingType
>

/** @param domain the EIP-712 domain of the escrow's authorizations */
export function createHistoryReader({
  rpc,
  domain,
  escrow,
}: {
  readonly rpc: Pick<Rpc, 'send'>
  readonly domain: AuthorizationDomain
  readonly escrow: { usedDigest(digest: Hex): Promise<boolean> }
}): HistoryReader {
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

  return async (events) => {
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
