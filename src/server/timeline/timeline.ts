import { orderOfCall } from '../../chain/authorizationCall.js'
import type { Contracts } from '../../chain/contracts.js'
import type { Rpc } from '../../chain/rpc.js'
import { type Timeline, timelineSchema } from '../../protocol/api.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import type { PrimaryType } from '../../protocol/primaryTypes.js'
import { describeError, type Logger } from '../../service/logger.js'
import type { Config } from '../config/config.js'
import { createEscrowEvents } from '../escrow/escrowLogs.js'
import { parseParam } from '../http/body.js'
import { Problem } from '../http/errors.js'
import { read } from '../http/routes.js'
import type { ChainHead } from '../reads/chainHead.js'
import type { RelayDispatcher } from '../relay/dispatcher.js'
import { matchingCandidate, type OrderRecords, withDigest } from '../store/orderRecords.js'
import type { OpeningRecords, ReceiptStore } from '../store/receipts.js'
import { timelineEntries } from './entries.js'
import { createOrderHistories } from './orderHistory.js'

export function buildTimeline(deps: {
  readonly config: Config
  readonly rpc: Pick<Rpc, 'send'>
  readonly contracts: Contracts
  readonly head: ChainHead
  readonly records: OrderRecords
  readonly receipts: Pick<ReceiptStore, 'get'>
  readonly findOpening: OpeningRecords['receiptOf']
  readonly stopping: AbortSignal
}) {
  const { config, rpc, contracts, head, records, receipts, findOpening, stopping } = deps
  const { chainId, logRange } = config.chain
  const { escrow } = contracts
  const events = createEscrowEvents({ rpc, escrow: escrow.address, stopping })
  const domain = { chainId, verifyingContract: escrow.address }
  const histories = createOrderHistories({ rpc, domain, escrow, head, events, maxBlocks: logRange })

  async function timelineOf(orderId: Hex): Promise<Timeline> {
    const [history, record, cancel, opening] = await Promise.all([
      histories.of(orderId),
      records.get(orderId),
      records.cancels.get(orderId),
      findOpening(orderId),
    ])
    if (history.opened === null && history.ended === null && record === undefined)
      throw new Problem('order-not-found')
    const found = await Promise.all((record?.digests ?? []).map((digest) => receipts.get(digest)))
    const { opened } = history
    // Once the escrow shows which envelope is the order's, the time of another one is meaningless.
    const received = opened === null ? record?.candidates[0] : matchingCandidate(record, opened.commit)
    const entries = timelineEntries({
      received: received ?? null,
      cancelReceivedAt: cancel?.receivedAt,
      triggers: record?.triggers ?? [],
      opening,
      receipts: found.flatMap((relayRecord) => (relayRecord === undefined ? [] : [relayRecord.receipt])),
      history,
    })
    return { orderId, entries }
  }

  return {
    /** An order's history on the chain, and the server's own acts as far as its store has them. */
    route: read('/orders/:orderId/timeline', timelineSchema, (orderId) =>
      timelineOf(parseParam(bytes32Schema, 'orderId', orderId)),
    ),
    historyOf: histories.of,
    observer: histories.observer,
  }
}

/** A write-ahead names its order too, but does not end it. */
const ENDS = ['OrderSettlement', 'OrderRefund'] as const satisfies readonly PrimaryType[]

/**
 * Decorates the relay: the order's record gets the digest of each authorization that settles or refunds the order. Callers do
 * not wait for that write: without it a timeline lacks one entry, and effects are on the chain anyway.
 */
export function keepDigests<R extends Pick<RelayDispatcher, 'post'>>(
  relay: R,
  { records, logger }: { readonly records: Pick<OrderRecords, 'update'>; readonly logger: Logger },
): R {
  return {
    ...relay,
    async post(authorization) {
      const job = await relay.post(authorization)
      const { digest, primaryType, data } = authorization
      const ending = ENDS.find((type) => type === primaryType)
      const orderId = ending === undefined ? null : orderOfCall(ending, data)
      if (orderId === null) return job
      // Only a run settles or refunds an order, and each run has a record.
      const kept = records.update(orderId, (current) => current && withDigest(current, digest))
      kept.catch((error: unknown) => {
        logger.warn('relayed digest not kept', { orderId, digest, ...describeError(error) })
      })
      return job
    },
  }
}
