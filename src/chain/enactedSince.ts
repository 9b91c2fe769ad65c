// How much of the list of corporate actions an order's employee did not know yet: events alone say when each came into force.
import type { Hex } from '../protocol/hex.js'
import { ChainAnswerError } from './errors.js'
import { interfaces } from './interfaces.js'
import { readBackwards } from './logReader.js'
import type { Rpc } from './rpc.js'

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
  let enacted = 0
  for await (const { logs } of readBackwards({ rpc, queries }, head)) {
    const opening = logs.findLastIndex(({ topics }) => topics[0] === OPENED)
    enacted += logs.length - 1 - opening
    if (opening !== -1) return enacted
  }
  throw new ChainAnswerError('the node has no opening of the order')
}
