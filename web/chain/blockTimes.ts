import type { Eip1193Provider, Hex, LogListing } from '../../src/client/index.js'
import { timeOf } from './read.js'

type Log = LogListing['logs'][number]

/** The time of an event's block, in Unix seconds. */
export type BlockTime = (log: Pick<Log, 'blockHash' | 'blockTimestamp'>) => Promise<number>

/** Asks for each block once, and only where the node does not tell the time with the event. */
export function createBlockTimes(provider: Eip1193Provider): BlockTime {
  const times = new Map<Hex, number>()
  return async ({ blockHash, blockTimestamp }) => {
    const at = blockTimestamp ?? times.get(blockHash) ?? (await timeOf(provider, blockHash))
    times.set(blockHash, at)
    return at
  }
}
