import { toQuantity } from 'ethers'
import { z } from 'zod'
import { calledAuthorization } from '../../chain/calledAuthorization.js'
import { smallQuantitySchema } from '../../chain/quantity.js'
import { resultOf } from '../../chain/rpcResult.js'
import type { RpcTransport } from '../../chain/rpcTransport.js'
import { addressValue } from '../../chain/values.js'
import { type AuthorizationDomain, authorizationDigest } from '../../protocol/authorization.js'
import { type Hex, hexBetween } from '../../protocol/hex.js'
import type { EscrowEvent } from '../trigger/chain/escrowEvents.js'
import { isReclaimable } from '../trigger/chain/reclaims.js'

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
  /** Of the authorization that the transaction brought; null when it can't be told, and for a reclaim. */
  readonly digest: Hex | null
}

/** What the chain tells of one order. */
export interface OrderHistory {
  readonly opened: (OrderEvent & { readonly commit: Hex }) | null
  readonly ended: OrderEnd | null
}

export const NO_HISTORY: OrderHistory = { opened: null, ended: null }

/**
 * Makes an order's history of its events, with what they don't say themselves: the blocks' times, and the
 * authorization that ended the order. What is asked travels as one request.
 *
 * @throws ChainUnavailableError, ChainAnswerError
 */
export type HistoryReader = (events: readonly EscrowEvent[]) => Promise<OrderHistory>

/** Nodes take no longer transaction. */
const MAX_CALL_BYTES = 1_048_576

const blockSchema = z.looseObject({ timestamp: smallQuantitySchema })
const transactionSchema = z.looseObject({
  to: addressValue.nullable(),
  input: hexBetween(0, MAX_CALL_BYTES),
})

/** @param domain of the escrow's authorizations */
export function createHistoryReader({
  transport,
  domain,
}: {
  readonly transport: Pick<RpcTransport, 'send'>
  readonly domain: AuthorizationDomain
}): HistoryReader {
  async function place({ txHash, position }: EscrowEvent): Promise<OrderEvent> {
    const params = [toQuantity(position.block), false]
    const [answer] = await transport.send([{ method: 'eth_getBlockByNumber', params }])
    return { txHash, blockNumber: position.block, time: resultOf(answer, blockSchema).timestamp }
  }

  async function broughtBy({ txHash, orderId }: EscrowEvent): Promise<Hex | null> {
    const [answer] = await transport.send([{ method: 'eth_getTransactionByHash', params: [txHash] }])
    const { to, input } = resultOf(answer, transactionSchema)
    const authorization = to === domain.verifyingContract ? calledAuthorization(input) : null
    if (authorization === null || !('orderId' in authorization.message)) return null
    return authorization.message.orderId === orderId ? authorizationDigest(authorization, domain) : null
  }

  return async (events) => {
    const opening = events.findLast((event) => event.kind === 'opened')
    const ending = events.findLast((event) => event.kind !== 'opened')
    const [opened, ended, digest] = await Promise.all([
      opening && place(opening),
      ending && place(ending),
      ending && broughtBy(ending),
    ])
    return {
      opened: opening && opened ? { ...opened, commit: opening.commit } : null,
      ended: ending && ended ? endOf(ending.kind, ended, digest ?? null, opening?.deadline) : null,
    }
  }
}

/** Whoever brings the enclave's refund calls the escrow with it; the account can reclaim once its time has come. */
function endOf(
  kind: 'settled' | 'refunded',
  event: OrderEvent,
  digest: Hex | null,
  deadline: number | undefined,
): OrderEnd {
  const mayBeReclaim = kind === 'refunded' && digest === null && deadline !== undefined
  const isReclaim = mayBeReclaim && isReclaimable(deadline, event.time)
  return { ...event, kind: isReclaim ? 'reclaimed' : kind, digest }
}
