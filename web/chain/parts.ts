import { type Filter, isError, type Log } from 'ethers'
import { inTime } from './inTime.js'

export type ChainLog = Pick<Log, 'address' | 'blockHash' | 'blockNumber' | 'data' | 'index' | 'topics'>

/** What an ethers Provider has. */
export interface LogSource {
  getBlockNumber(): Promise<number>
  getLogs(filter: Filter): Promise<readonly ChainLog[]>
}

/** The logs of a range of blocks, both ends included. */
export interface Part {
  readonly from: number
  readonly to: number
  readonly logs: readonly ChainLog[]
}

export interface PartReader {
  /** The first blocks of a range, as many as the node takes. */
  first(from: number, to: number): Promise<Part>
  /** The last ones. */
  last(from: number, to: number): Promise<Part>
}

/** What nearly every node takes in one query, and what is asked of one that takes all. */
const [FEW_BLOCKS, MOST_BLOCKS] = [2_000, 100_000]
/** Of the next part, until the node has refused one and after. */
const [FAST, SLOW] = [2, 1.1]
/** Of the most that is asked of a node that fell silent: it doubles in 70 good parts. */
const TRUST = 1.01

/**
 * Reads ranges in parts. A good part lets the next one be longer, a refused one is halved. A node that falls silent over
 * a long one is asked for half of it at most, and for more again as it goes well.
 */
export function createPartReader(source: LogSource, filter: Filter): PartReader {
  let blocks = FEW_BLOCKS
  let most = MOST_BLOCKS
  let growth = FAST

  function grow() {
    if (blocks === most) most = Math.min(MOST_BLOCKS, Math.ceil(most * TRUST))
    blocks = Math.min(most, Math.ceil(blocks * growth))
  }

  /** That a node was silent over few blocks tells nothing of how many it takes. */
  function trustLess(length: number) {
    if (length <= FEW_BLOCKS) return
    most = Math.max(FEW_BLOCKS, Math.floor(length / 2))
    growth = SLOW
  }

  async function read(rangeOf: (blocks: number) => readonly [from: number, to: number]): Promise<Part> {
    for (;;) {
      const [from, to] = rangeOf(blocks)
      const length = to - from + 1
      try {
        const logs = await inTime('getLogs', source.getLogs({ ...filter, fromBlock: from, toBlock: to }))
        if (length === blocks) grow()
        return { from, to, logs }
      } catch (error) {
        if (isSilence(error)) trustLess(length)
        else growth = SLOW
        if (length === 1 || isSilence(error)) {
          blocks = FEW_BLOCKS
          throw error
        }
        blocks = Math.floor(length / 2)
      }
    }
  }

  return {
    first: (from, to) => read((length) => [from, Math.min(to, from + length - 1)]),
    last: (from, to) => read((length) => [Math.max(from, to - length + 1), to]),
  }
}

/** Nodes refuse a range in ways of their own, under many codes; but that none answered has nothing to do with it. */
function isSilence(error: unknown): boolean {
  return error instanceof TypeError || isError(error, 'NETWORK_ERROR') || isError(error, 'TIMEOUT')
}
