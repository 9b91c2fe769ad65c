import * as z from 'zod/mini'
import { blockCall, blockSchema, resultOf } from './jsonRpc.js'
import type { Rpc } from './rpc.js'

/** Unix seconds of a block; undefined when the node does not have it. @throws ChainUnavailableError, ChainAnswerError */
export async function blockTime(rpc: Pick<Rpc, 'send'>, block: number): Promise<number | undefined> {
  const [found] = await rpc.send([blockCall(block)])
  return resultOf(found, z.nullable(blockSchema))?.timestamp
}

/**
 * The first block at `timestamp` (Unix seconds) or later, by binary search; `head` when none is. Serves any other number that never falls.
 * A block that the node no longer has counts as earlier.
 */
export async function firstBlockSince(
  timeOf: (block: number) => Promise<number | undefined>,
  timestamp: number,
  head: number,
): Promise<number> {
  let low = 0
  let high = head
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const time = await timeOf(middle)
    if (time !== undefined && time >= timestamp) high = middle
    else low = middle + 1
  }
  return low
}
