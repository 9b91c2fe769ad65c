import type { Contracts } from '../../chain/contracts.js'
import type { RpcProvider } from '../../chain/provider.js'
import { createRpcBatcher } from '../../chain/rpcBatcher.js'
import type { Config } from '../config.js'
import type { EscrowObserver } from '../escrow/escrowLogs.js'
import { createEscrowEvents } from '../escrow/escrowLogs.js'
import type { ChainHead } from '../reads/chainHead.js'
import type { OrderRecords } from '../store/orderRecords.js'
import type { ReceiptStore } from '../store/receipts.js'
import { createOrderHistories } from './orderHistories.js'
import { createHistoryReader } from './orderHistory.js'
import { createTimeline, type ReadTimeline } from './timeline.js'

export interface BuiltTimeline {
  readonly read: ReadTimeline
  /** Wants to be told of what the escrow's watcher reads. */
  readonly observer: EscrowObserver
}

/** Wires the timeline. Starts nothing. */
export function buildTimeline(deps: {
  readonly config: Config
  readonly provider: RpcProvider
  readonly contracts: Contracts
  readonly head: ChainHead
  readonly records: OrderRecords
  /** The relay's own. */
  readonly receipts: Pick<ReceiptStore, 'get'>
  /** Aborts when the server begins to stop. */
  readonly stopping: AbortSignal
}): BuiltTimeline {
  const { config, provider, contracts, head, records, receipts, stopping } = deps
  const { chainId, logRange } = config.chain
  const { escrow } = contracts
  // When the head moves, many orders are asked for at once.
  const transport = createRpcBatcher(provider.transport)
  const events = createEscrowEvents({ transport, escrow: escrow.address, stopping })
  const histories = createOrderHistories({
    head,
    events,
    escrow,
    readHistory: createHistoryReader({
      transport,
      domain: { chainId, verifyingContract: escrow.address },
      escrow,
    }),
    maxBlocks: logRange,
  })
  return {
    read: createTimeline({ records, receipts, histories }),
    observer: histories.observer,
  }
}
