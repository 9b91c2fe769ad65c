// How much of the list of corporate actions an order's employee did not know yet: events alone say when each came into force.
import type { Hex } from '../protocol/hex.js'
import { ChainAnswerError } from './errors.js'
import { interfaces } from './interfaces.js'
import { createLogReader } from './logReader.js'
import type { Rpc } from './rpc.js'

/** Nodes take a query over so many blocks; the reader asks for fewer where they do not. */
const MAX_BLOCKS = 10_000
const OPENED = interfaces.orderEscrow.getEvent('OrderOpened')?.topicHash ?? ''
const ENACTED = interfaces.corporateActions.getEvent('ActionEnacted')?.topicHash ?? ''

/**
 * The number of corporate actions that came into force after an order was opened. Most orders are young: it reads backwards.
 * @param contracts addresses of `OrderEscrow` and `CorporateActions`
 * @param head the number of the newest block that counts
 * @throws ChainUnavailableError, ChainAnswerError
 */
export async function countEnactedSince(
  rpc: Pick<Rpc, 'send'>,
  contracts: { readonly escrow: Hex; readonly actions: Hex },
  orderId: Hex,
  head: number,
): Promise<number> {
  const queries = [
    { address: contracts.escrow, topics: [OPENED, orderId] },
    { address: contracts.actions, topics: [ENACTED] },
  ]
  const reader = createLogReader({ rpc, queries, maxBlocks: MAX_BLOCKS })
  let enacted = 0
  for (let to = head; to >= 0; ) {
    const piece = await reader.readPiece({ from: 0, to }, { backwards: true })
    if (piece === undefined) throw new ChainAnswerError('the node lags behind')
    const opening = piece.logs.findLastIndex(({ topics }) => topics[0] === OPENED)
    enacted += piece.logs.length - 1 - opening
    if (opening !== -1) return enacted
    to = piece.from - 1
  }
  throw new ChainAnswerError('the node has no opening of the order')
}
