import { type Filter, isError, type Log } from 'ethers'
import { inTime } from './inTime.js'

export type ChainLog = Pick<Log, 'address' | 'blockHash' | 'blockNumber' | 'data' | 'index' | 'topics'>

/** The part of an ethers Provider that reads logs. */
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
  /** Reads the first blocks of a range, as many as the node accepts. */
  first(from: number, to: number): Promise<Part>
  /** Reads the last blocks of a range. */
  last(from: number, to: number): Promise<Part>
}

/** The range that nearly every node accepts, and the largest range to request. */
const [FEW_BLOCKS, MOST_BLOCKS] = [2_000, 100_000]
/** Growth factors of the next part: before the node first refused one, and after. */
const [FAST, SLOW] = [2, 1.1]
/** Growth factor of the limit after a timeout: it doubles in 70 good parts. */
const TRUST = 1.01

/**
 * Reads ranges in parts. A successful part lets the next one grow; a refused part is halved. A timeout on a long range
 * limits later parts to half of it; the limit grows again with success.
 */
export function createPartReader(source: LogSource, filter: Filter): PartReader {
  let blocks = FEW_BLOCKS
  let most = MOST_BLOCKS
  let growth = FAST

  function grow() {
    if (blocks === most) most = Math.min(MOST_BLOCKS, Math.ceil(most * TRUST))
    blocks = Math.min(most, Math.ceil(blocks * growth))
  }

  /** A timeout over few blocks says nothing about the accepted range. */
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

/** Nodes refuse ranges with many different codes; a missing answer is no refusal. */
function isSilence(error: unknown): boolean {
  return error instanceof TypeError || isError(error, 'NETWORK_ERROR') || isError(error, 'TIMEOUT')
}
