import { blockTime, firstBlockSince } from '../../chain/blockTimes.js'
import type { ChainLog } from '../../chain/logReader.js'
import type { Hex } from '../../protocol/hex.js'
import type { Intent } from '../../protocol/intent.js'
import { topicOf } from '../contractEvents.js'
import { createPieces } from '../logList.js'
import { createNode, type Node } from '../node.js'
import type { Wallet } from '../wallet.js'

/** An event of an order on the chain. */
interface OrderMoment {
  /** Unix seconds, of the block. */
  readonly timestamp: number
  readonly blockNumber: number
  readonly txHash: Hex
}

/** Null where it has not happened, or was not found. */
export interface OrderMoments {
  readonly opened: OrderMoment | null
  readonly ended: OrderMoment | null
}

const OPENED = topicOf('OrderOpened')
const ENDED = [topicOf('OrderSettled'), topicOf('OrderRefunded')]

/** The escrow's longest lifetime of an order, and how far a nonce may be ahead of the block's time: docs/protocol.md, section 7. */
const [MAX_LIFETIME_S, MAX_NONCE_AHEAD_S] = [30 * 86_400, 86_400]

/** Searches the blocks in which the order may have been opened, and those after them. */
export async function readMoments(
  wallet: Wallet,
  escrow: Hex,
  { orderId, expiry, nonce }: Pick<Intent, 'orderId' | 'expiry' | 'nonce'>,
): Promise<OrderMoments> {
  const rpc = createNode(wallet, wallet.signal)
  const head = await wallet.reads.blockNumber()
  const timeOf = (block: number) => blockTime(rpc, block)
  const earliest = Math.max(expiry - MAX_LIFETIME_S, Math.floor(nonce / 1_000) - MAX_NONCE_AHEAD_S)
  const queries = [{ address: escrow, topics: [[OPENED, ...ENDED], orderId] }]
  const pieces = createPieces({ rpc, queries })
  let opened: OrderMoment | null = null
  for (let from = await firstBlockSince(timeOf, earliest, head); from <= head; ) {
    const piece = await pieces.read({ from, to: head }, false)
    for (const log of piece.logs) {
      const moment = await momentOf(rpc, log)
      if (log.topics[0] !== OPENED) return { opened, ended: moment }
      opened = moment
    }
    from = piece.to + 1
  }
  return { opened, ended: null }
}

async function momentOf(rpc: Node, { blockNumber, blockTimestamp, txHash }: ChainLog): Promise<OrderMoment> {
  const timestamp = blockTimestamp ?? (await blockTime(rpc, blockNumber)) ?? 0
  return { timestamp, blockNumber, txHash }
}
