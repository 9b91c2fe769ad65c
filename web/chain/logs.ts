import { Interface, type InterfaceAbi, type Log, type Provider } from 'ethers'
import type { Hex } from '../../src/client/index.js'

/** What many nodes allow for one query. */
const BLOCKS_PER_QUERY = 5_000

export interface LogQuery {
  readonly address: Hex | readonly Hex[]
  /** As `eth_getLogs` has them; null is any. */
  readonly topics?: readonly (string | null)[]
  readonly fromBlock: number
  readonly toBlock: number
}

/** All logs in a range, oldest first, asked for in parts that a node takes. */
export async function readLogs(provider: Provider, query: LogQuery): Promise<Log[]> {
  const logs: Log[] = []
  for (let from = query.fromBlock; from <= query.toBlock; from += BLOCKS_PER_QUERY) {
    const part = await provider.getLogs({
      address: typeof query.address === 'string' ? query.address : [...query.address],
      topics: [...(query.topics ?? [])],
      fromBlock: from,
      toBlock: Math.min(query.toBlock, from + BLOCKS_PER_QUERY - 1),
    })
    logs.push(...part)
  }
  return logs.sort((a, b) => a.blockNumber - b.blockNumber || a.index - b.index)
}

/** The topic of an event. */
export function topicOf(abi: InterfaceAbi, event: string): string {
  const fragment = new Interface(abi).getEvent(event)
  if (fragment === null) throw new Error(`there is no event ${event}`)
  return fragment.topicHash
}
