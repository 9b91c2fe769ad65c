import { type Filter, Interface, type InterfaceAbi, isError, type Log } from 'ethers'
import type { Hex } from '../../src/client/index.js'

/** What many nodes allow for one query. */
const MOST_BLOCKS = 2_000
const GROWTH = 1.1
/** Blocks below the head that are read again each time: they may be exchanged, and a node may know less than another. */
const UNSETTLED_BLOCKS = 12

export type ChainLog = Pick<Log, 'address' | 'blockHash' | 'blockNumber' | 'data' | 'index' | 'topics'>

/** What an ethers Provider has. */
export interface LogSource {
  getBlockNumber(): Promise<number>
  getLogs(filter: Filter): Promise<readonly ChainLog[]>
}

export interface LogQuery {
  readonly address: Hex | readonly Hex[]
  /** As `eth_getLogs` has them; null is any. */
  readonly topics?: readonly (string | null)[]
  readonly fromBlock: number
  /** Of the newest ones; unset: all. */
  readonly most?: number
}

export interface LogsSoFar {
  /** Oldest first. */
  readonly logs: readonly ChainLog[]
  /** The newest block that was read, of all looks. */
  readonly head: number
}

/**
 * Logs as they come. Each look reads only what is new since the one before, in parts that the node takes, and answers
 * all that there are. A look that fails keeps the parts it has read.
 */
export function createLogTail(
  source: LogSource,
  { fromBlock, most = Number.POSITIVE_INFINITY, ...filter }: LogQuery,
): () => Promise<LogsSoFar> {
  const read = createPartReader(source, {
    address: typeof filter.address === 'string' ? filter.address : [...filter.address],
    topics: [...(filter.topics ?? [])],
  })
  let logs: readonly ChainLog[] = []
  let next = fromBlock
  return async () => {
    const head = await source.getBlockNumber()
    for (let from = Math.max(fromBlock, next - UNSETTLED_BLOCKS); from <= head; ) {
      const part = await read(from, head)
      const others = logs.filter(({ blockNumber }) => blockNumber < part.from || blockNumber > part.to)
      logs = [...others, ...part.logs].sort(inOrder).slice(-most)
      from = part.to + 1
      // A node that is behind another one takes nothing back.
      next = Math.max(next, from)
    }
    return { logs, head: next - 1 }
  }
}

/** Reads the first part of a range. A refused part is halved, a good one lets the next one be a little longer. */
function createPartReader(source: LogSource, filter: Filter) {
  let blocks = MOST_BLOCKS
  return async (from: number, last: number) => {
    for (;;) {
      const to = Math.min(last, from + blocks - 1)
      try {
        const logs = await source.getLogs({ ...filter, fromBlock: from, toBlock: to })
        blocks = Math.min(MOST_BLOCKS, Math.ceil(blocks * GROWTH))
        return { from, to, logs }
      } catch (error) {
        if (blocks === 1 || isSilence(error)) {
          blocks = MOST_BLOCKS
          throw error
        }
        blocks = Math.floor(Math.min(blocks, to - from + 1) / 2) || 1
      }
    }
  }
}

/** Nodes refuse a range in ways of their own, under many codes; but that none answered has nothing to do with it. */
function isSilence(error: unknown): boolean {
  return error instanceof TypeError || isError(error, 'NETWORK_ERROR') || isError(error, 'TIMEOUT')
}

function inOrder(a: ChainLog, b: ChainLog): number {
  return a.blockNumber - b.blockNumber || a.index - b.index
}

/** The topic of an event. */
export function topicOf(abi: InterfaceAbi, event: string): string {
  const fragment = new Interface(abi).getEvent(event)
  if (fragment === null) throw new Error(`there is no event ${event}`)
  return fragment.topicHash
}
